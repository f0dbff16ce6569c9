-- block: operators_of_side
-- since: 0.1
-- summary: Operators of one side of a comparison, per trace, as operator_stats counts.
-- grain: one row per trace and group of calls
-- uses: operators_in_parts, operator_stats_v1
--
-- A NULL for the run names no run, where a view would report all of them.
--
-- params
--   name      type     unit  default  meaning
--   rel       VARCHAR  -     -        Name of the relation that block_parts gives.
--   on_side   VARCHAR  -     -        The side, 'baseline' or 'experiment'.
--   run       VARCHAR  -     -        The run of that side.
--   worker    VARCHAR  -     -        Worker of that side; NULL takes all.
--   span      VARCHAR  -     -        Recording of that side; NULL takes all.
--   group_by  VARCHAR  -     -        As in operator_stats.
--   block     VARCHAR  -     -        Path of a block of diff_modules: only what lies in the parts; NULL takes all.
-- columns
--   name             type     unit  meaning
--   side             VARCHAR  key   As given.
--   worker           VARCHAR  key   Worker of the trace.
--   span             VARCHAR  key   Its span.
--   name             VARCHAR  key   Name of the operator.
--   input_dims       JSON     key   Shape of each input; NULL unless grouped by it.
--   call_stack       VARCHAR  key   Python frames, innermost first; NULL unless grouped by it.
--   calls            BIGINT   -     Number of calls.
--   host_self_us     DOUBLE   us    Host time of the operator itself.
--   host_total_us    DOUBLE   us    Host time from start to end.
--   device_self_us   DOUBLE   us    Device work that it launched itself.
--   device_total_us  DOUBLE   us    The same, with the operators below it.
--   replayed_us      DOUBLE   us    Part of device_self_us that graphs replayed.
CREATE MACRO operators_of_side(
    rel VARCHAR,
    on_side VARCHAR,
    run VARCHAR,
    worker VARCHAR,
    span VARCHAR,
    group_by VARCHAR,
    block VARCHAR
) AS TABLE
    SELECT
        on_side AS side,
        s.worker,
        s.span,
        s.name,
        s.input_dims,
        s.call_stack,
        s.calls,
        s.host_self_us,
        s.host_total_us,
        s.device_self_us,
        s.device_total_us,
        s.replayed_us
    FROM
        operator_stats_v1(
            run := run, worker := worker, span := span, group_by := group_by, per_span := TRUE
        ) AS s
    WHERE s.run = run AND block IS NULL
    UNION ALL
    SELECT
        p.side,
        p.worker,
        p.span,
        p.name,
        p.input_dims,
        p.call_stack,
        p.calls,
        p.host_self_us,
        p.host_total_us,
        p.device_self_us,
        p.device_total_us,
        p.replayed_us
    FROM operators_in_parts(rel, on_side, run, group_by) AS p
    WHERE block IS NOT NULL;
