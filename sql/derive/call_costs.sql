-- derive: call_costs
-- since: 0.1
-- summary: Costs of calls that are not 0, and the operators that are inner rows of a call.
CREATE TABLE call_costs AS
SELECT
    s.event_id,
    FALSE AS is_inner,
    s.inner_self_ns,
    s.plain_self_ns,
    s.plain_ns - coalesce(s.plain_self_ns, 0) AS plain_below_ns,
    s.tensor_core_self_ns,
    s.tensor_core_ns - coalesce(s.tensor_core_self_ns, 0) AS tensor_core_below_ns,
    s.unknown_self_ns,
    s.unknown_ns - coalesce(s.unknown_self_ns, 0) AS unknown_below_ns,
    s.is_eligible
FROM (
    SELECT
        c.event_id,
        sum(c.inner_ns) FILTER (WHERE c.is_own)::BIGINT AS inner_self_ns,
        sum(c.plain_ns) FILTER (WHERE c.is_own)::BIGINT AS plain_self_ns,
        sum(c.plain_ns)::BIGINT AS plain_ns,
        sum(c.tensor_core_ns) FILTER (WHERE c.is_own)::BIGINT AS tensor_core_self_ns,
        sum(c.tensor_core_ns)::BIGINT AS tensor_core_ns,
        sum(c.unknown_ns) FILTER (WHERE c.is_own)::BIGINT AS unknown_self_ns,
        sum(c.unknown_ns)::BIGINT AS unknown_ns,
        bool_or(c.is_eligible) AS is_eligible
    FROM costs AS c
    ANTI JOIN inner_calls AS i ON c.event_id = i.event_id
    GROUP BY c.event_id
) AS s
UNION ALL
SELECT i.event_id, TRUE, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM inner_calls AS i;

-- Host events with their costs, where they represent a call.
CREATE MACRO with_costs(rel VARCHAR) AS TABLE
    SELECT
        h.*,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.inner_self_ns, 0)
        END AS inner_self_ns,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.plain_self_ns, w.no_work_ns)
        END AS plain_self_ns,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.plain_below_ns, w.no_work_ns)
        END AS plain_below_ns,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.tensor_core_self_ns, w.no_work_ns)
        END AS tensor_core_self_ns,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.tensor_core_below_ns, w.no_work_ns)
        END AS tensor_core_below_ns,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.unknown_self_ns, w.no_work_ns)
        END AS unknown_self_ns,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.unknown_below_ns, w.no_work_ns)
        END AS unknown_below_ns,
        CASE
            WHEN h.category = 'cpu_op' AND c.is_inner IS NOT TRUE
                THEN coalesce(c.is_eligible, FALSE)
        END AS tensor_core_eligible
    FROM query_table(rel) AS h
    LEFT JOIN linked_work AS w ON trace_of(h.event_id) = w.trace
    LEFT JOIN call_costs AS c ON h.event_id = c.event_id;

DROP TABLE costs;
DROP TABLE climbs;
DROP TABLE inner_calls;
