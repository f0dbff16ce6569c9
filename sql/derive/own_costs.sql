-- derive: own_costs
-- since: 0.1
-- summary: Own costs of operators and annotations, and the parent of each of them.
--
-- An operator whose only child is an operator of the same name forms one call with it. Costs climb to
-- all ancestors. They count as own costs of each ancestor until they leave an operator for good: an
-- annotation does not take work away from the operator around it, as in the profiler's own links.
--
-- Only operators have costs. A trace of annotations alone, as Nsight Systems writes it, needs none of this.
--
-- In several statements, so that only one large hash table is needed at a time.
CREATE TABLE nodes AS
SELECT
    l.event_id,
    l.parent_op_id AS parent_id,
    l.self_duration_ns,
    h.category = 'cpu_op' AS is_operator,
    -- 64 bits distinguish the names of a trace, and are compared faster than texts.
    hash(h.name) AS name_hash
FROM raw_host AS h
POSITIONAL JOIN host_links AS l
WHERE is_op_category(h.category) AND EXISTS (FROM raw_host AS o WHERE o.category = 'cpu_op');

CREATE TABLE namesakes AS
SELECT c.event_id, c.parent_id, c.self_duration_ns
FROM nodes AS c
INNER JOIN nodes AS p ON c.parent_id = p.event_id AND c.name_hash = p.name_hash
WHERE c.is_operator AND p.is_operator;

CREATE TABLE inner_calls AS
WITH
only_children AS (
    SELECT c.parent_id
    FROM nodes AS c
    SEMI JOIN namesakes AS n ON c.parent_id = n.parent_id
    GROUP BY c.parent_id
    HAVING count(*) = 1
)

SELECT n.event_id, n.parent_id, n.self_duration_ns
FROM namesakes AS n
SEMI JOIN only_children AS o ON n.parent_id = o.parent_id;

CREATE TABLE costs AS
SELECT
    d.event_id,
    TRUE AS is_own,
    NULL::BIGINT AS inner_ns,
    coalesce(sum(d.dur_ns) FILTER (WHERE NOT d.uses_tensor_cores), 0)::BIGINT AS plain_ns,
    coalesce(sum(d.dur_ns) FILTER (WHERE d.uses_tensor_cores), 0)::BIGINT AS tensor_core_ns,
    coalesce(sum(d.dur_ns) FILTER (WHERE d.uses_tensor_cores IS NULL), 0)::BIGINT AS unknown_ns,
    bool_or(d.uses_tensor_cores AND d.dur_ns > 0) AS is_eligible
FROM (
    SELECT
        l.op_id AS event_id,
        r.dur_ns,
        -- Copies, memsets and other work that is not a kernel use no tensor cores.
        coalesce(
            l.uses_tensor_cores, CASE WHEN r.category IS DISTINCT FROM 'kernel' THEN FALSE END
        ) AS uses_tensor_cores
    FROM raw_device AS r
    POSITIONAL JOIN device_links AS l
    WHERE
        l.op_id IS NOT NULL AND l.kind IN ('compute', 'communication', 'memcpy', 'memset')
        AND EXISTS (FROM nodes)
) AS d
GROUP BY d.event_id;

-- A trace that does not link device work to operators has no device costs of operators.
CREATE TABLE linked_work AS
SELECT DISTINCT trace_of(c.event_id) AS trace, 0::BIGINT AS no_work_ns
FROM costs AS c;

INSERT INTO costs
SELECT i.parent_id, TRUE, i.self_duration_ns, NULL, NULL, NULL, FALSE
FROM inner_calls AS i
UNION ALL
SELECT n.event_id, TRUE, NULL, NULL, NULL, NULL, TRUE
FROM nodes AS n
WHERE n.is_operator AND n.name_hash IN (SELECT hash(o.name) FROM tensor_core_operators() AS o);

CREATE TABLE climbs AS
SELECT
    n.event_id,
    n.parent_id AS ancestor_id,
    NOT n.is_operator OR i.event_id IS NOT NULL AS stays_own
FROM nodes AS n
LEFT JOIN inner_calls AS i ON n.event_id = i.event_id
WHERE n.parent_id IS NOT NULL AND EXISTS (FROM costs);

DROP TABLE nodes;
DROP TABLE namesakes;
