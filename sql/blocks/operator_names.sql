-- block: operator_names
-- since: 0.1
-- summary: Operator that an operator or annotation belongs to, and the one around it.
-- grain: one row per operator or annotation
-- uses: first_id, is_wanted, trace_names
--
-- An operator belongs to itself. An annotation inside an operator belongs to that operator, as in the
-- profiler's own links. An annotation without an operator around it belongs to itself, because its name is
-- all that is known.
--
-- params
--   run, worker, span
-- columns
--   id            BIGINT   key  The operator or annotation, numbered as in trace_names.
--   operator      VARCHAR  -    Name of the operator or annotation that it belongs to.
--   parent_id     BIGINT   key  The operator or annotation directly around that one, numbered in the same way; NULL at the top.
CREATE MACRO operator_names(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _nodes AS MATERIALIZED (
        SELECT
            r.first_id + r.event_id AS id,
            r.first_id + r.parent_op_id AS parent_id,
            r.is_annotation,
            r.name
        FROM (
            SELECT
                first_id(t.names, h.run, h.worker, h.span) AS first_id,
                h.event_id,
                h.parent_op_id,
                h.category = 'user_annotation' AS is_annotation,
                h.name
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                h.category IN ('cpu_op', 'user_annotation')
                AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS r
    ),

    -- Few, so climbing from them costs nothing.
    _annotations AS MATERIALIZED (
        SELECT n.id, n.name, n.parent_id
        FROM _nodes AS n
        WHERE n.is_annotation AND n.parent_id IS NOT NULL
    ),

    -- Annotations with an operator somewhere around them.
    _inside AS (
        SELECT a.id, o.name AS operator, o.parent_id
        FROM _annotations AS a
        INNER JOIN _nodes AS o ON a.parent_id = o.id
        WHERE NOT o.is_annotation
        UNION ALL
        SELECT a.id, i.operator, i.parent_id
        FROM _inside AS i
        INNER JOIN _annotations AS a ON i.id = a.parent_id
    )

    SELECT n.id, n.name AS operator, n.parent_id
    FROM _nodes AS n
    WHERE NOT n.is_annotation OR n.parent_id IS NULL
    UNION ALL
    SELECT
        a.id,
        coalesce(i.operator, a.name),
        CASE WHEN i.id IS NULL THEN a.parent_id ELSE i.parent_id END
    FROM _annotations AS a
    LEFT JOIN _inside AS i ON a.id = i.id;
