-- view: module_tree
-- version: 1
-- since: 0.1
-- summary: Each call of an nn.Module, in order of time, nested under the modules that call it.
-- distributes: trace
-- order: run, worker, span, start_ns, launch_id, depth, event_id
-- needs: no_modules
-- empty: No call of an nn.Module was recorded: {record modules}.
-- notes: replay_notes
-- uses: module_costs, replayed_modules
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The first forward pass, from the whole network inwards.
--
-- The single calls that module_stats sums up. A path with its self time is a line of a flame graph:
--
--     SELECT path || ' ' || round(device_self_us) FROM module_tree() WHERE device_self_us > 0
--
-- Kernels that a CUDA or HIP graph replayed belong to the module that was open when they were captured, if the capture
-- is known (see graph_replays). The calls of the capture then have a row for each launch of the graph, below
-- the modules around the launch. They come last in their trace, with device time, but no start and no host time.
--
-- params
--   name  type  unit  default  meaning
--   run, worker, span
-- columns
--   name             type     unit  meaning
--   run, worker, span
--   path             VARCHAR  -     Names of the modules around the call and its own name, outermost first, separated by ';'.
--   module           VARCHAR  -     Class of the module and its number within the class, e.g. 'Linear_0'.
--   depth            INTEGER  -     Number of modules around it.
--   start_ns         BIGINT   ns    When it started, nanoseconds since the epoch; NULL for a call that a graph replayed.
--   module_id        BIGINT   -     Number of the module within its class.
--   operators        BIGINT   -     Number of operators that it calls directly, not through another module or operator.
--   host_self_us     DOUBLE   us    Host time of the call itself.
--   host_total_us    DOUBLE   us    Host time from start to end.
--   device_self_us   DOUBLE   us    Device work launched in it; NULL where the trace does not link device work to the host.
--   device_total_us  DOUBLE   us    The same, with the modules inside it.
--   event_id         BIGINT   key   The call in host_events; for a replayed call, that of the capture.
--   launch_id        BIGINT   key   The call that launched the graph; NULL for a call that ran in the trace itself.
CREATE MACRO module_tree_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    WITH
    calls AS MATERIALIZED (FROM module_costs(run, worker, span, 'module')),

    replayed AS MATERIALIZED (FROM replayed_modules(run, worker, span)),

    -- The innermost module around a launch has what was attributed as its own in calls.
    launching AS (
        SELECT r.run, r.worker, r.span, r.launch_id, r.call_id, r.device_self_ns
        FROM replayed AS r
        WHERE r.replays = 0
    ),

    taken AS (
        SELECT l.run, l.worker, l.span, l.call_id, sum(l.device_self_ns)::BIGINT AS ns
        FROM launching AS l
        GROUP BY l.run, l.worker, l.span, l.call_id
    ),

    around AS (
        SELECT l.run, l.worker, l.span, l.launch_id, c.path, c.depth
        FROM launching AS l
        INNER JOIN calls AS c
            ON
                l.run = c.run AND l.worker = c.worker AND l.span = c.span
                AND l.call_id = c.event_id
    ),

    listed AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.path,
            c.module,
            c.depth,
            c.start_ns,
            c.module_id,
            c.operators,
            c.host_self_ns,
            c.host_total_ns,
            c.device_self_ns + coalesce(t.ns, 0) AS device_self_ns,
            c.device_total_ns,
            c.event_id,
            NULL::BIGINT AS launch_id
        FROM calls AS c
        LEFT JOIN taken AS t
            ON
                c.run = t.run AND c.worker = t.worker AND c.span = t.span
                AND c.event_id = t.call_id
        UNION ALL
        SELECT
            r.run,
            r.worker,
            r.span,
            coalesce(a.path || ';', '') || r.path,
            r.module,
            (coalesce(a.depth + 1, 0) + r.depth)::INTEGER,
            NULL,
            r.module_id,
            0,
            0,
            0,
            r.device_self_ns,
            r.replayed_ns,
            r.call_id,
            r.launch_id
        FROM replayed AS r
        LEFT JOIN around AS a
            ON
                r.run = a.run AND r.worker = a.worker AND r.span = a.span
                AND r.launch_id = a.launch_id
        WHERE r.replays = 1
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.path,
        c.module,
        c.depth,
        c.start_ns,
        c.module_id,
        c.operators,
        c.host_self_ns / 1000.0 AS host_self_us,
        c.host_total_ns / 1000.0 AS host_total_us,
        c.device_self_ns / 1000.0 AS device_self_us,
        c.device_total_ns / 1000.0 AS device_total_us,
        c.event_id,
        c.launch_id
    FROM listed AS c
    ORDER BY
        c.run ASC, c.worker ASC, c.span ASC, c.start_ns ASC, c.launch_id ASC, c.depth ASC,
        c.event_id ASC;
