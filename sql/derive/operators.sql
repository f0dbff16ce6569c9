-- derive: operators
-- since: 0.1
-- summary: Parent, operator and self time of every host event, from `family`.
--
-- In the self time of an operator Python frames are transparent: its children are the operators,
-- annotations, runtime and driver calls whose nearest operator it is, less calls made inside other
-- calls. Only the part of a child that lies inside its parent counts.
--
-- In steps, so that no more than one large hash table is needed at a time.
CREATE TABLE inner_time AS
SELECT c.parent_id AS row_id, sum(c.inside_ns)::BIGINT AS children_ns
FROM (
    SELECT f.parent_id, f.in_parent_ns AS inside_ns
    FROM family AS f
    WHERE f.parent_id IS NOT NULL AND NOT f.is_in_op AND NOT f.is_memory
    UNION ALL
    SELECT f.parent_op_id, f.in_op_ns
    FROM family AS f
    WHERE f.parent_op_id IS NOT NULL AND NOT f.is_frame AND NOT f.is_in_call AND NOT f.is_memory
) AS c
GROUP BY c.parent_id;

-- In the order of raw_host, so that the two can be read side by side: a hash join of its wide rows
-- would take more memory than there is.
CREATE TABLE host_links AS
SELECT
    f.row_id AS event_id,
    f.parent_id,
    CASE WHEN f.is_op THEN f.row_id ELSE f.parent_op_id END AS op_id,
    f.parent_op_id,
    f.depth,
    -- Children that overlap each other in part could add up to more than their parent.
    greatest(f.length_ns - coalesce(i.children_ns, 0), 0) AS self_duration_ns
FROM family AS f
LEFT JOIN inner_time AS i ON f.row_id = i.row_id
WHERE NOT f.is_memory
ORDER BY f.place;

CREATE TABLE memory_links AS
SELECT f.row_id AS event_id, f.parent_op_id AS op_id
FROM family AS f
WHERE f.is_memory;

DROP TABLE family;
DROP TABLE inner_time;
DROP TABLE threads CASCADE;
