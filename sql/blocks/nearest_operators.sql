-- block: nearest_operators
-- since: 0.1
-- summary: The operator that stands for an operator or annotation, and the one around it.
-- grain: one row per operator or annotation
--
-- An operator stands for itself. An annotation inside an operator belongs to that operator, as it
-- does in the profiler's own links; only an annotation with no operator around it stands for
-- itself, because its name is then all that is known.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id         BIGINT   key  The operator or annotation, in host_events.
--   operator_id      BIGINT   key  What stands for it, in host_events.
--   operator         VARCHAR  -    Name of that.
--   parent_op_id     BIGINT   key  The operator or annotation directly around what stands for it; NULL at the top.
CREATE MACRO nearest_operators(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _nodes AS (
        SELECT h.run, h.worker, h.span, h.event_id, h.category, h.name, h.parent_op_id
        FROM host_events AS h
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND (run IS NULL OR h.run = run)
            AND (worker IS NULL OR h.worker = worker)
            AND (span IS NULL OR h.span = span)
    ),

    -- Annotations with an operator somewhere around them: few, so the walk costs nothing.
    _inside AS (
        SELECT
            a.run, a.worker, a.span, a.event_id,
            o.event_id AS operator_id,
            o.name AS operator,
            o.parent_op_id
        FROM _nodes AS a
        INNER JOIN _nodes AS o
            ON
                a.run = o.run
                AND a.worker = o.worker
                AND a.span = o.span
                AND a.parent_op_id = o.event_id
        WHERE a.category = 'user_annotation' AND o.category = 'cpu_op'
        UNION ALL
        SELECT a.run, a.worker, a.span, a.event_id, i.operator_id, i.operator, i.parent_op_id
        FROM _inside AS i
        INNER JOIN _nodes AS a
            ON
                i.run = a.run
                AND i.worker = a.worker
                AND i.span = a.span
                AND i.event_id = a.parent_op_id
        WHERE a.category = 'user_annotation'
    )

    SELECT
        n.run,
        n.worker,
        n.span,
        n.event_id,
        coalesce(i.operator_id, n.event_id) AS operator_id,
        coalesce(i.operator, n.name) AS operator,
        CASE WHEN i.operator_id IS NULL THEN n.parent_op_id ELSE i.parent_op_id END AS parent_op_id
    FROM _nodes AS n
    LEFT JOIN _inside AS i
        ON
            n.run = i.run
            AND n.worker = i.worker
            AND n.span = i.span
            AND n.event_id = i.event_id;
