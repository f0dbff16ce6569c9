-- block: operators_in_parts
-- since: 0.1
-- summary: Operators whose calls start within parts of a trace, with the figures of operator_stats.
-- grain: one row per side, path, trace and group of calls
-- uses: operator_costs, replayed_costs
--
-- params
--   name      type     unit  default  meaning
--   rel       VARCHAR  -     -        Name of a relation with side, path, worker, span, start_ns and end_ns.
--   on_side   VARCHAR  -     -        Side to report.
--   run       VARCHAR  -     -        Run of that side.
--   group_by  VARCHAR  -     -        As in operator_stats.
-- columns
--   name             type     unit  meaning
--   side             VARCHAR  key   As given.
--   path             VARCHAR  key   As given; what lies in parts of several paths counts for each.
--   worker           VARCHAR  key   Worker of the trace.
--   span             VARCHAR  key   Span of the trace.
--   name             VARCHAR  key   Name of the operator.
--   input_dims       JSON     key   Shape of each input; NULL unless grouped by it.
--   call_stack       VARCHAR  key   Python frames, innermost first; NULL unless grouped by it.
--   calls            BIGINT   -     Number of calls.
--   host_self_us     DOUBLE   us    Host time of the operator itself.
--   host_total_us    DOUBLE   us    Host time from start to end.
--   device_self_us   DOUBLE   us    Device work that it launched itself.
--   device_total_us  DOUBLE   us    The same, with the operators below it.
--   replayed_us      DOUBLE   us    Part of device_self_us that graphs replayed.
CREATE MACRO operators_in_parts(
    rel VARCHAR, on_side VARCHAR, run VARCHAR, group_by VARCHAR
) AS TABLE
    WITH
    _costs AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.name,
            c.input_dims,
            c.call_stack,
            c.start_ns,
            1 AS calls,
            c.host_self_ns,
            c.host_total_ns,
            c.device_self_ns,
            c.device_total_ns,
            0 AS replayed_ns
        FROM operator_costs(run := run) AS c
        UNION ALL
        SELECT
            r.run,
            r.worker,
            r.span,
            r.name,
            r.input_dims,
            r.call_stack,
            r.start_ns,
            0,
            0,
            0,
            r.device_self_ns,
            r.device_total_ns,
            CASE WHEN r.replays > 0 THEN r.device_self_ns ELSE 0 END
        FROM replayed_costs(run := run) AS r
    ),

    _calls AS (
        SELECT
            p.side,
            p.path,
            c.worker,
            c.span,
            c.name,
            CASE WHEN group_by IN ('input_shape', 'input_shape_call_stack') THEN c.input_dims END
                AS input_dims,
            CASE WHEN group_by IN ('call_stack', 'input_shape_call_stack') THEN c.call_stack END
                AS call_stack,
            c.calls,
            c.host_self_ns,
            c.host_total_ns,
            c.device_self_ns,
            c.device_total_ns,
            c.replayed_ns
        FROM _costs AS c
        INNER JOIN query_table(rel) AS p
            ON
                c.worker = p.worker
                AND c.span = p.span
                AND c.start_ns >= p.start_ns
                AND c.start_ns < p.end_ns
        WHERE
            c.run = run
            AND p.side = on_side
            AND (group_by IN ('name', 'input_shape') OR c.call_stack <> '')
    )

    SELECT
        c.side,
        c.path,
        c.worker,
        c.span,
        c.name,
        c.input_dims,
        c.call_stack,
        sum(c.calls)::BIGINT AS calls,
        sum(c.host_self_ns) / 1000.0 AS host_self_us,
        sum(c.host_total_ns) / 1000.0 AS host_total_us,
        sum(c.device_self_ns) / 1000.0 AS device_self_us,
        sum(c.device_total_ns) / 1000.0 AS device_total_us,
        sum(c.replayed_ns) / 1000.0 AS replayed_us
    FROM _calls AS c
    GROUP BY c.side, c.path, c.worker, c.span, c.name, c.input_dims, c.call_stack;
