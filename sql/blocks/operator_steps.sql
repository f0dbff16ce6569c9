-- block: operator_steps
-- since: 0.1
-- summary: Calls, host time and device time of each operator in each step.
-- grain: one row per step of a trace that is not a tail step, and operator called in it
-- uses: event_steps, first_id, operator_costs, replayed_costs, trace_names
--
-- A call belongs to the step in which it starts, on any thread, as in operator_stats with a step. What a graph
-- replayed belongs to the step in which the graph was launched.
--
-- params
--   name      type     unit  default  meaning
--   run, worker, span
--   group_by  VARCHAR  -     'name'   As in operator_stats: 'name', 'input_shape', 'call_stack' or 'input_shape_call_stack'.
--   name      VARCHAR  -     NULL     One operator; NULL reports all.
-- columns
--   run, worker, span
--   step            BIGINT   key  Number of the step; NULL if the trace has none.
--   name            VARCHAR  key  Name of the operator.
--   input_dims      JSON     key  Shape of each input; NULL unless grouped by it.
--   call_stack      VARCHAR  key  Python frames, innermost first; NULL unless grouped by it.
--   calls           BIGINT   -    Number of calls in the step.
--   host_self_ns    BIGINT   ns   Host time of the operator itself.
--   device_self_ns  BIGINT   ns   Device work that it launched itself; NULL if the trace does not link device work to operators.
CREATE MACRO operator_steps(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'name',
    name VARCHAR := NULL
) AS TABLE
    WITH
    _calls AS MATERIALIZED (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.name,
            CASE WHEN group_by IN ('input_shape', 'input_shape_call_stack') THEN c.input_dims END
                AS input_dims,
            CASE WHEN group_by IN ('call_stack', 'input_shape_call_stack') THEN c.call_stack END
                AS call_stack,
            first_id(t.names, c.run, c.worker, c.span) + c.event_id AS id,
            c.start_ns,
            1 AS calls,
            c.host_self_ns,
            c.device_self_ns
        FROM operator_costs(run, worker, span) AS c
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (group_by IN ('name', 'input_shape') OR c.call_stack <> '')
            AND (name IS NULL OR c.name = name)
    ),

    _replays AS MATERIALIZED (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.name,
            CASE WHEN group_by IN ('input_shape', 'input_shape_call_stack') THEN r.input_dims END
                AS input_dims,
            CASE WHEN group_by IN ('call_stack', 'input_shape_call_stack') THEN r.call_stack END
                AS call_stack,
            first_id(t.names, r.run, r.worker, r.span)
            + CASE WHEN r.replays > 0 THEN r.launch_id ELSE r.operator_id END AS id,
            r.start_ns,
            r.device_self_ns
        FROM replayed_costs(run, worker, span) AS r
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (group_by IN ('name', 'input_shape') OR r.call_stack <> '')
            AND (name IS NULL OR r.name = name)
    ),

    _starts AS (
        SELECT c.id, c.start_ns
        FROM _calls AS c
        UNION ALL
        SELECT DISTINCT r.id, r.start_ns
        FROM _replays AS r
        ANTI JOIN _calls AS c ON r.id = c.id
    ),

    _all AS (
        SELECT c.*
        FROM _calls AS c
        UNION ALL
        SELECT
            r.run,
            r.worker,
            r.span,
            r.name,
            r.input_dims,
            r.call_stack,
            r.id,
            r.start_ns,
            0,
            0,
            r.device_self_ns
        FROM _replays AS r
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        s.step,
        c.name,
        c.input_dims,
        c.call_stack,
        sum(c.calls)::BIGINT AS calls,
        sum(c.host_self_ns)::BIGINT AS host_self_ns,
        sum(c.device_self_ns)::BIGINT AS device_self_ns
    FROM _all AS c
    INNER JOIN event_steps('_starts', run, worker, span) AS s ON c.id = s.id
    WHERE NOT s.is_tail
    GROUP BY ALL;
