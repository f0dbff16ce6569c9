-- view: critical_path
-- version: 1
-- since: 0.1
-- summary: Critical path of each step: the chain of work and waiting that determines its length.
-- grain: one row per piece of the chain of a step; the pieces of a step follow each other without gaps
-- distributes: trace
-- order: run, worker, span, step, start_ns
-- empty: No event with a duration was recorded: {record events}.
-- uses: critical_pieces, is_wanted
-- example: samples --run ddp_gloo --step 3 --limit 12
--
-- The chain is built backwards from the end of the step. It starts on the device if the device's last work
-- ended with the step or after it, and otherwise on the thread of the step. Then these rules apply:
--
-- - Work on a device waited for the latest of three: the work before it on its stream, the work before
--   an event that its stream waited for, and the call that launched it. The time in between is
--   'kernel_kernel_delay' or, after the call, 'launch_delay'.
-- - A thread goes back through its operators, runtime calls, driver calls and data loading; the innermost
--   of these counts. Time between them was not recorded and is 'other'.
-- - A call that waited for a device (a synchronisation or a copy) goes back to the work that it waited
--   for. The time from the end of that work to the end of the call is 'sync'.
-- - An idle thread goes back to the thread of its process whose operator ended last in that time. For
--   example, a training loop waits for the autograd thread, and the autograd thread for the loop.
--
-- If nothing tells what came before, the rest of the step is 'other'. Steps are extended to the device
-- work that they launched, as in step_breakdown, so the pieces add up to that length.
--
-- Waits between streams, and the stream that a call waits for, are known if the trace records the
-- synchronisations of the device (enable_cuda_sync_events). Otherwise a call is assumed to wait for the
-- work that ended last.
--
-- `tracewh export RUN --critical-path STEP -o FILE` marks the path in the trace, to be viewed in Perfetto.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step to report; NULL reports all.
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   step         BIGINT   key   Number of the step; NULL where the trace has no steps.
--   event_id     BIGINT   key   The event; for a delay, the work that was late; NULL where none was recorded.
--   name         VARCHAR  -     Name of the event.
--   start_ns     BIGINT   ns    Start of the piece, nanoseconds since the epoch.
--   duration_us  DOUBLE   us    Length of the piece.
--   bound        VARCHAR  -     'cpu', 'data_loading', 'sync', 'launch_delay', 'kernel_kernel_delay', 'device_compute', 'device_communication', 'device_memory' or 'other'.
CREATE MACRO critical_path_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    windows AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.event_id,
            s.end_ns,
            s.extended_start_ns AS from_ns,
            s.extended_end_ns AS to_ns,
            dense_rank() OVER (ORDER BY s.run, s.worker, s.span) AS trace,
            row_number() OVER (
                ORDER BY s.run, s.worker, s.span, s.extended_start_ns, s.event_id
            ) AS chain
        FROM steps AS s
        WHERE
            s.extended_end_ns > s.extended_start_ns
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND (step IS NULL OR s.step = step)
    ),

    pieces AS MATERIALIZED (FROM critical_pieces('windows')),

    -- Sorted before the windows, not by them: then the windows need no memory.
    bounds AS (
        SELECT b.chain, b.start_ns, b.end_ns
        FROM (
            SELECT p.chain, p.start_ns, p.end_ns
            FROM pieces AS p
            UNION ALL
            SELECT w.chain, w.from_ns AS start_ns, w.from_ns AS end_ns
            FROM windows AS w
            UNION ALL
            SELECT w.chain, w.to_ns AS start_ns, w.to_ns AS end_ns
            FROM windows AS w
        ) AS b
        ORDER BY b.chain, b.start_ns, b.end_ns
    ),

    -- Time that the chain leaves out is 'other', too.
    gaps AS (
        SELECT
            b.chain,
            lag(b.chain) OVER () AS chain_before,
            lag(b.end_ns) OVER () AS start_ns,
            b.start_ns AS end_ns
        FROM bounds AS b
    ),

    parts AS (
        SELECT a.chain, a.event_id, a.start_ns, a.bound
        FROM (
            SELECT p.chain, p.event_id, p.start_ns, p.bound
            FROM pieces AS p
            UNION ALL
            SELECT g.chain, NULL, g.start_ns, 'other'
            FROM gaps AS g
            WHERE g.end_ns > g.start_ns AND g.chain = g.chain_before
        ) AS a
        ORDER BY a.chain, a.start_ns
    ),

    marked AS (
        SELECT
            p.chain,
            p.event_id,
            p.start_ns,
            p.bound,
            lag(p.chain) OVER () AS chain_before,
            lag(p.event_id) OVER () AS event_before,
            lag(p.bound) OVER () AS bound_before
        FROM parts AS p
    ),

    -- Adjacent pieces of one event are merged. A chain has no gaps now, so a segment lasts until the next one.
    begun AS (
        SELECT m.chain, m.event_id, m.bound, m.start_ns
        FROM marked AS m
        WHERE
            m.chain_before IS DISTINCT FROM m.chain
            OR m.event_before IS DISTINCT FROM m.event_id
            OR m.bound_before IS DISTINCT FROM m.bound
    ),

    followed AS (
        SELECT
            b.chain,
            b.event_id,
            b.bound,
            b.start_ns,
            lead(b.chain) OVER () AS next_chain,
            lead(b.start_ns) OVER () AS next_ns
        FROM begun AS b
    ),

    segments AS MATERIALIZED (
        SELECT
            f.chain,
            f.event_id,
            f.bound,
            f.start_ns,
            CASE WHEN f.next_chain = f.chain THEN f.next_ns ELSE w.to_ns END - f.start_ns
                AS duration_ns
        FROM followed AS f
        INNER JOIN windows AS w ON f.chain = w.chain
    ),

    -- Through a list: the planner then expects few rows and hashes them, not all events.
    events AS (
        SELECT
            s.chain,
            s.event_id,
            h.name,
            CASE h.category WHEN 'user_annotation' THEN 'data_loading' ELSE 'cpu' END AS bound
        FROM
            (SELECT DISTINCT s.chain, s.event_id FROM segments AS s WHERE s.event_id IS NOT NULL)
                AS s
        INNER JOIN windows AS w ON s.chain = w.chain
        INNER JOIN
            host_events AS h
            ON w.run = h.run AND w.worker = h.worker AND w.span = h.span AND s.event_id = h.event_id
        UNION ALL
        SELECT
            s.chain,
            s.event_id,
            d.name,
            CASE d.kind
                WHEN 'compute' THEN 'device_compute' WHEN
                    'communication'
                    THEN 'device_communication'
                ELSE 'device_memory'
            END
        FROM
            (SELECT DISTINCT s.chain, s.event_id FROM segments AS s WHERE s.event_id IS NOT NULL)
                AS s
        INNER JOIN windows AS w ON s.chain = w.chain
        INNER JOIN
            device_events AS d
            ON w.run = d.run AND w.worker = d.worker AND w.span = d.span AND s.event_id = d.event_id
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        w.step,
        s.event_id,
        e.name,
        s.start_ns,
        s.duration_ns / 1000.0 AS duration_us,
        coalesce(s.bound, e.bound) AS bound
    FROM segments AS s
    INNER JOIN windows AS w ON s.chain = w.chain
    LEFT JOIN events AS e ON s.chain = e.chain AND s.event_id = e.event_id
    ORDER BY w.run, w.worker, w.span, w.step, s.start_ns;
