-- derive: operators
-- since: 0.1
-- summary: Parent, operator and self time of every host event, from `enclosed` and `op_enclosed`.
--
-- In the self time of an operator Python frames are transparent: its children are the operators,
-- annotations, runtime and driver calls whose nearest operator it is, less calls made inside other
-- calls. Only the part of a child that lies inside its parent counts.
CREATE TABLE host_links AS
WITH
family AS (
    SELECT
        h.row_id,
        h.start_ns,
        h.end_ns,
        h.is_op,
        h.is_frame,
        e.parent_row_id AS parent_id,
        e.depth,
        o.parent_row_id AS parent_op_id,
        p.is_op OR p.is_frame OR p.row_id IS NULL AS is_outermost_call
    FROM host AS h
    INNER JOIN enclosed AS e ON h.row_id = e.row_id
    INNER JOIN op_enclosed AS o ON h.row_id = o.row_id
    LEFT JOIN host AS p ON e.parent_row_id = p.row_id
),

children AS (
    SELECT
        c.row_id,
        c.start_ns,
        c.end_ns,
        CASE WHEN p.is_op THEN NULL ELSE c.parent_id END AS parent_id
    FROM family AS c
    INNER JOIN host AS p ON c.parent_id = p.row_id
    UNION ALL
    SELECT c.row_id, c.start_ns, c.end_ns, c.parent_op_id
    FROM family AS c
    WHERE NOT c.is_frame AND c.is_outermost_call
),

inner_time AS (
    SELECT
        p.row_id,
        sum(greatest(least(c.end_ns, p.end_ns) - c.start_ns, 0))::BIGINT AS children_ns
    FROM children AS c
    INNER JOIN host AS p ON c.parent_id = p.row_id
    GROUP BY p.row_id
)

SELECT
    f.row_id AS event_id,
    f.parent_id,
    CASE WHEN f.is_op THEN f.row_id ELSE f.parent_op_id END AS op_id,
    f.parent_op_id,
    f.depth,
    -- Children that overlap each other in part could add up to more than their parent.
    greatest(f.end_ns - f.start_ns - coalesce(i.children_ns, 0), 0) AS self_duration_ns
FROM family AS f
LEFT JOIN inner_time AS i ON f.row_id = i.row_id;
