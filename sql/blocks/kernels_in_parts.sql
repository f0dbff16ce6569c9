-- block: kernels_in_parts
-- since: 0.1
-- summary: Kernels launched within parts of a trace, with the figures of kernel_stats.
-- grain: one row per side, path, trace and group of kernels
-- uses: first_id, matched_replays, operator_names, trace_names
--
-- A launch is located by its call, or by the operator if the call is not in the trace. A kernel of unknown
-- origin counts where it starts.
--
-- params
--   name      type     unit  default  meaning
--   rel       VARCHAR  -     -        Name of a relation with side, path, worker, span, start_ns and end_ns.
--   on_side   VARCHAR  -     -        Side to report.
--   run       VARCHAR  -     -        Run of that side.
--   group_by  VARCHAR  -     -        As in kernel_stats.
-- columns
--   name                  type       unit   meaning
--   side                  VARCHAR    key    As given.
--   path                  VARCHAR    key    As given; what lies in parts of several paths counts for each.
--   worker                VARCHAR    key    Worker of the trace.
--   span                  VARCHAR    key    Span of the trace.
--   name                  VARCHAR    key    Name of the kernel.
--   operator              VARCHAR    key    Operator that launched it; this and the next four columns are NULL unless grouped by 'launch'.
--   grid                  INTEGER[]  key    Blocks in x, y and z.
--   block                 INTEGER[]  key    Threads per block in x, y and z.
--   registers_per_thread  INTEGER    key    Registers per thread.
--   shared_memory_bytes   BIGINT     bytes  Shared memory per block.
--   calls                 BIGINT     -      Number of times it ran.
--   total_us              DOUBLE     us     Sum of the durations.
CREATE MACRO kernels_in_parts(
    rel VARCHAR, on_side VARCHAR, run VARCHAR, group_by VARCHAR
) AS TABLE
    WITH
    _parts AS MATERIALIZED (
        SELECT
            p.side,
            p.path,
            p.worker,
            p.span,
            p.start_ns,
            p.end_ns
        FROM query_table(rel) AS p
        WHERE p.side = on_side
    ),

    _kernels AS MATERIALIZED (
        SELECT
            p.side,
            p.path,
            d.worker,
            d.span,
            d.event_id,
            d.name,
            d.grid,
            d.block,
            d.registers_per_thread,
            d.shared_memory_bytes,
            first_id(t.names, d.run, d.worker, d.span) + d.op_id AS operator_id,
            d.duration_ns
        FROM device_events AS d
        CROSS JOIN trace_names(run) AS t
        LEFT JOIN host_events AS h
            ON
                d.run = h.run
                AND d.worker = h.worker
                AND d.span = h.span
                AND coalesce(d.launch_id, d.op_id) = h.event_id
        INNER JOIN _parts AS p
            ON
                d.worker = p.worker
                AND d.span = p.span
                AND coalesce(h.start_ns, d.start_ns) >= p.start_ns
                AND coalesce(h.start_ns, d.start_ns) < p.end_ns
        WHERE d.run = run AND d.kind IN ('compute', 'communication')
    ),

    _grouped AS (
        SELECT
            k.side,
            k.path,
            k.worker,
            k.span,
            k.name,
            CASE WHEN group_by = 'launch' THEN coalesce(r.operator, o.operator) END AS operator,
            CASE WHEN group_by = 'launch' THEN k.grid END AS grid,
            CASE WHEN group_by = 'launch' THEN k.block END AS block,
            CASE WHEN group_by = 'launch' THEN k.registers_per_thread END AS registers_per_thread,
            CASE WHEN group_by = 'launch' THEN k.shared_memory_bytes END AS shared_memory_bytes,
            k.duration_ns
        FROM _kernels AS k
        LEFT JOIN operator_names(run := run) AS o
            ON group_by = 'launch' AND k.operator_id = o.id
        LEFT JOIN matched_replays(run := run) AS r
            ON
                group_by = 'launch' AND k.worker = r.worker AND k.span = r.span
                AND k.event_id = r.event_id
    )

    SELECT
        g.side,
        g.path,
        g.worker,
        g.span,
        g.name,
        g.operator,
        g.grid,
        g.block,
        g.registers_per_thread,
        g.shared_memory_bytes,
        count(*) AS calls,
        sum(g.duration_ns) / 1000.0 AS total_us
    FROM _grouped AS g
    GROUP BY
        g.side, g.path, g.worker, g.span, g.name, g.operator, g.grid, g.block,
        g.registers_per_thread, g.shared_memory_bytes;
