-- view: gpu_gaps
-- version: 1
-- since: 0.1
-- summary: Gaps in which a device was idle, the longest first, and what the host did in them.
-- grain: one row per gap
-- distributes: trace
-- order: duration_us DESC, run, worker, span, device_id, start_ns
-- needs: no_device_events
-- empty: No device was idle for {min_us} us or longer between its first work and its last. A lower min_us lists shorter gaps, if there are any.
-- uses: first_id, interval_totals, is_wanted, long_gaps, trace_names, unrecorded_waits
-- example: samples --run resnet_gpu_workers_0 --limit 3
-- reading: In the longest gaps the host sleeps: the data set of this sample reads slowly on purpose.
--
-- A gap is time between the first and the last work of a device in which nothing ran on any of its
-- streams: no kernel, copy or memset. idle_us of gpu_time is the sum of all gaps.
--
-- profiler_us is the part of a gap in which the profiler itself worked in the process: it flushed its buffers,
-- created or released its resources, or instrumented kernels. Without the profiler there would be no such
-- time, so a gap is reported only if the rest of it is min_us or longer. Users of Nsight Systems know these
-- gaps as the rule gpu_gaps.
--
-- host_op is the name of what the host did for most of the gap. It looks at the thread that launched the
-- work after the gap, and at the self time of its operators, annotations, runtime calls and Python frames.
-- It is NULL if the thread spent more time in none of these than in any of them, and if the launch was
-- not recorded.
--
-- params
--   run, worker, span
--   name    type    unit  default  meaning
--   min_us  DOUBLE  us    500      Length of the shortest gap to report, without profiler_us.
-- columns
--   run, worker, span
--   device_id      INTEGER  key  Number of the device on its host.
--   start_ns       BIGINT   ns   Start of the gap, nanoseconds since the epoch.
--   duration_us    DOUBLE   us   Length of the gap.
--   before_kernel  VARCHAR  -    The kernel, copy or memset that ended last before the gap.
--   after_kernel   VARCHAR  -    The kernel, copy or memset that ended the gap.
--   host_op        VARCHAR  -    What the host did in the gap; NULL if that is unknown or nothing.
--   profiler_us    DOUBLE   us   Part of the gap in which the profiler itself worked.
--   unrecorded_us  DOUBLE   us   Part of the gap in which launched work waited: the device worked on something that is not in the trace.
CREATE MACRO gpu_gaps_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    min_us DOUBLE := 500
) AS TABLE
    WITH
    gaps AS MATERIALIZED (
        SELECT row_number() OVER () AS gap, l.*
        FROM long_gaps(run, worker, span, min_us) AS l
    ),

    host AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.parent_id,
            h.pid,
            h.tid,
            h.start_ns,
            coalesce(h.overlap_start_ns, h.start_ns + h.duration_ns) AS end_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    launched_gaps AS MATERIALIZED (
        SELECT
            g.gap,
            g.start_ns,
            g.end_ns,
            h.first_id,
            h.pid,
            h.tid,
            dense_rank() OVER (ORDER BY g.device, h.pid, h.tid) AS key
        FROM gaps AS g
        INNER JOIN host AS h ON g.launch_id = h.first_id + h.event_id
    ),

    slots AS MATERIALIZED (
        SELECT
            g.gap,
            g.key,
            row_number() OVER (PARTITION BY g.key ORDER BY g.start_ns) AS slot,
            g.start_ns,
            g.end_ns - g.start_ns AS duration_ns
        FROM launched_gaps AS g
    ),

    -- A thread that launched work on two devices is there twice.
    threads AS MATERIALIZED (
        SELECT DISTINCT g.key, g.first_id, g.pid, g.tid
        FROM launched_gaps AS g
    ),

    -- Up to where something that lasts longer starts in it: so each is inside its parent, and apart from
    -- what else that contains.
    parts AS (
        SELECT
            t.key,
            h.first_id + h.event_id AS id,
            h.first_id + h.parent_id AS parent_id,
            h.start_ns,
            h.end_ns
        FROM host AS h
        INNER JOIN threads AS t
            ON
                h.first_id = t.first_id
                AND h.pid IS NOT DISTINCT FROM t.pid
                AND h.tid IS NOT DISTINCT FROM t.tid
    ),

    -- The weight of an event is by how much its number is above that of the event around it. So the
    -- sum over those that are open is the number of the innermost.
    intervals AS (
        SELECT
            p.key,
            0 AS slot,
            (p.id - coalesce(p.parent_id, 0))::HUGEINT AS weight,
            p.start_ns,
            p.end_ns - p.start_ns AS duration_ns
        FROM parts AS p
        UNION ALL
        SELECT s.key, s.slot, 0, s.start_ns, s.duration_ns
        FROM slots AS s
    ),

    spent AS (
        SELECT t.key, t.slot, t.weight::BIGINT AS id, t.duration_ns
        FROM interval_totals('intervals', least_slot := 1) AS t
    ),

    host_names AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.name
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    spent_by_name AS (
        SELECT s.key, s.slot, n.name, sum(s.duration_ns) AS spent_ns
        FROM spent AS s
        LEFT JOIN host_names AS n ON s.id = n.id
        GROUP BY s.key, s.slot, n.name
    ),

    most AS (
        SELECT
            n.key,
            n.slot,
            arg_max(
                {
                    'name': n.name
                },
                (n.spent_ns, n.name IS NOT NULL, n.name)
            ) AS host
        FROM spent_by_name AS n
        GROUP BY n.key, n.slot
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.device_id,
        g.start_ns,
        (g.end_ns - g.start_ns) / 1000.0 AS duration_us,
        b.name AS before_kernel,
        a.name AS after_kernel,
        m.host.name AS host_op,
        g.profiler_ns / 1000.0 AS profiler_us,
        coalesce(w.end_ns - w.start_ns, 0) / 1000.0 AS unrecorded_us
    FROM gaps AS g
    -- Both are there. An inner join could be reordered: where DuckDB expects no device events, it would
    -- join all of a trace with each other first.
    LEFT JOIN device_events AS b
        ON
            g.run = b.run AND g.worker = b.worker AND g.span = b.span AND g.before_id = b.event_id
            AND is_wanted(b.run, b.worker, b.span, run, worker, span)
    LEFT JOIN device_events AS a
        ON
            g.run = a.run AND g.worker = a.worker AND g.span = a.span AND g.after_id = a.event_id
            AND is_wanted(a.run, a.worker, a.span, run, worker, span)
    LEFT JOIN unrecorded_waits(run, worker, span) AS w
        ON g.run = w.run AND g.worker = w.worker AND g.span = w.span AND g.after_id = w.event_id
    LEFT JOIN slots AS s ON g.gap = s.gap
    LEFT JOIN most AS m ON s.key = m.key AND s.slot = m.slot
    ORDER BY
        g.end_ns - g.start_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.device_id ASC, g.start_ns ASC;
