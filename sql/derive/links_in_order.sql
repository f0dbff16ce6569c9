-- derive: links_in_order
-- since: 0.1
-- summary: The rows of `family` in the order of raw_host and raw_memory.
--
-- The two can then be read side by side. A hash join of the wide rows would need more memory than is
-- available.
CREATE TABLE host_links AS
SELECT
    f.event_id, f.parent_id, f.op_id, f.parent_op_id, f.depth, f.self_duration_ns,
    f.overlap_start_ns, s.stack_id
FROM family AS f
INNER JOIN linked_stacks AS s ON f.stack_hash = s.stack_hash
WHERE NOT f.is_memory
ORDER BY f.place;

CREATE TABLE memory_links AS
SELECT f.event_id, f.op_id
FROM family AS f
WHERE f.is_memory
ORDER BY f.place;

DROP TABLE family;
DROP TABLE threads CASCADE;
