-- block: work_operators
-- since: 0.1
-- summary: Operator of each piece of device work in serving steps, with its shapes and types.
-- grain: one row per piece of work whose operator is known
-- uses: first_id, is_wanted, matched_replays, trace_names
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
--   size         BIGINT     -     Number of tokens or requests that the graph was captured for, if an annotation tells.
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
    ),

    -- Frameworks capture in an annotation such as capture_32_FULL. Captures are in other runs than their replays.
    _sizes AS (
        SELECT
            g.run AS capture_run,
            g.worker AS capture_worker,
            g.span AS capture_span,
            g.event_id AS capture_id,
            max(try_cast(regexp_extract(h.name, '^capture_(\d+)_', 1) AS BIGINT)) AS size
        FROM (
            SELECT c.run, c.worker, c.span, c.event_id, unnest(c.annotation_ids) AS annotation_id
            FROM graphs AS c
            WHERE c.role = 'capture'
        ) AS g
        INNER JOIN host_events AS h
            ON
                g.run = h.run AND g.worker = h.worker AND g.span = h.span
                AND g.annotation_id = h.event_id
        GROUP BY g.run, g.worker, g.span, g.event_id
    )

    SELECT
        w.id,
        o.name AS operator,
        'launched ' || o.event_id AS call,
        o.input_dims,
        o.input_types,
        NULL::BIGINT AS size,
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
        AND is_wanted(o.run, o.worker, o.span, run, worker, span)
    UNION ALL
    SELECT
        first_id(t.names, e.run, e.worker, e.span) + e.event_id,
        o.name,
        concat_ws(' ', 'replayed', e.launch_id, coalesce(o.event_id, e.event_id)),
        o.input_dims,
        o.input_types,
        z.size,
        TRUE
    FROM matched_replays(run, worker, span) AS e
    CROSS JOIN trace_names(run, worker, span) AS t
    INNER JOIN graph_nodes AS n
        ON
            e.capture_run = n.run AND e.capture_worker = n.worker AND e.capture_span = n.span
            AND e.call_id = n.event_id
    INNER JOIN host_events AS o
        ON n.run = o.run AND n.worker = o.worker AND n.span = o.span AND n.op_id = o.event_id
    LEFT JOIN _sizes AS z
        ON
            e.capture_run = z.capture_run AND e.capture_worker = z.capture_worker
            AND e.capture_span = z.capture_span
            AND e.capture_id = z.capture_id;
