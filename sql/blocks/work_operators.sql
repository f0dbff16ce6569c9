-- block: work_operators
-- since: 0.1
-- summary: Operator of each piece of device work in serving steps, with its shapes and types.
-- grain: one row per piece of work whose operator is known
-- uses: first_id, is_wanted, trace_names
--
-- The operator of work that a call launched is the innermost one around the call. Work that a graph replays has
-- the operator that was captured, where that is known.
--
-- params
--   run, worker, span
-- columns
--   name         type       unit  meaning
--   id           BIGINT     key   The work, numbered as in trace_names.
--   operator     VARCHAR    -     Name of the operator.
--   call         VARCHAR    -     The call of the operator: a text that no other call in the trace has.
--   input_dims   JSON       -     Shape of each input.
--   input_types  VARCHAR[]  -     Type of each input.
--   is_replayed  BOOLEAN    -     Whether a graph replayed the work.
CREATE MACRO work_operators(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _work AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            first_id(t.names, d.run, d.worker, d.span) + d.event_id AS id,
            d.op_id
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND d.op_id IS NOT NULL
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    )

    SELECT
        w.id,
        o.name AS operator,
        'launched ' || o.event_id AS call,
        o.input_dims,
        o.input_types,
        FALSE AS is_replayed
    FROM _work AS w
    INNER JOIN host_events AS o
        ON
            w.run = o.run AND w.worker = o.worker AND w.span = o.span
            AND w.op_id = o.event_id
    WHERE
        o.category = 'cpu_op'
        -- Whatever surrounds the launch of a graph is not the operator of what it runs.
        AND NOT starts_with(o.name, '## Call CompiledFxGraph')
        AND is_wanted(o.run, o.worker, o.span, run, worker, span);
