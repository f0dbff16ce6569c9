-- derive: operators
-- since: 0.1
-- summary: Parent, operator and self time of every host event, from `enclosed` and `op_enclosed`.
--
-- In the self time of an operator Python frames are transparent: its children are the operators,
-- annotations, runtime and driver calls whose nearest operator it is, less calls made inside other
-- calls. Only the part of a child that lies inside its parent counts.
--
-- In steps, so that no more than one large hash table is needed at a time.
CREATE TABLE family AS
SELECT
    e.row_id,
    e.kind IN ('step', 'op') AS is_op,
    e.kind = 'frame' AS is_frame,
    e.end_ns - e.start_ns AS length_ns,
    e.depth,
    e.parent_row_id AS parent_id,
    coalesce(e.parent_kind IN ('step', 'op'), FALSE) AS is_in_op,
    coalesce(e.parent_kind = 'call', FALSE) AS is_in_call,
    greatest(least(e.end_ns, e.parent_end_ns) - e.start_ns, 0) AS in_parent_ns,
    o.parent_row_id AS parent_op_id,
    greatest(least(o.end_ns, o.parent_end_ns) - o.start_ns, 0) AS in_op_ns
FROM enclosed AS e
INNER JOIN op_enclosed AS o ON e.row_id = o.row_id;

CREATE TABLE inner_time AS
SELECT c.parent_id AS row_id, sum(c.inside_ns)::BIGINT AS children_ns
FROM (
    SELECT f.parent_id, f.in_parent_ns AS inside_ns
    FROM family AS f
    WHERE f.parent_id IS NOT NULL AND NOT f.is_in_op
    UNION ALL
    SELECT f.parent_op_id, f.in_op_ns
    FROM family AS f
    WHERE f.parent_op_id IS NOT NULL AND NOT f.is_frame AND NOT f.is_in_call
) AS c
GROUP BY c.parent_id;

CREATE TABLE links AS
SELECT
    f.row_id AS event_id,
    f.parent_id,
    CASE WHEN f.is_op THEN f.row_id ELSE f.parent_op_id END AS op_id,
    f.parent_op_id,
    f.depth,
    -- Children that overlap each other in part could add up to more than their parent.
    greatest(f.length_ns - coalesce(i.children_ns, 0), 0) AS self_duration_ns
FROM family AS f
LEFT JOIN inner_time AS i ON f.row_id = i.row_id;

-- In the order of raw_host, so that the two can be read side by side: a hash join of its wide rows
-- would take more memory than there is.
CREATE TABLE host_links AS
SELECT l.*
FROM links AS l
INNER JOIN (SELECT r.rowid AS place, r.event_id FROM raw_host AS r) AS h ON l.event_id = h.event_id
ORDER BY h.place;

CREATE TABLE memory_links AS
SELECT o.row_id AS event_id, o.parent_row_id AS op_id
FROM op_enclosed AS o
WHERE o.kind = 'memory';

DROP TABLE links;
DROP TABLE family;
DROP TABLE inner_time;
DROP TABLE enclosed;
DROP TABLE op_enclosed;
DROP TABLE threads CASCADE;
DROP TABLE host CASCADE;
