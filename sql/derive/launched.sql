-- derive: launched
-- since: 0.1
-- summary: The call that launched each device event, matched by correlation.
--
-- If several calls have the correlation of a device event, the latest one that starts before the event is
-- used. If all start after it, the earliest one is used (the clocks of host and device may differ).
--
-- The work is done in several statements, so that only one large hash table is needed at a time.
CREATE TABLE calls AS
SELECT trace_of(h.event_id) AS trace, h.event_id, h.correlation_id, h.ts_ns
FROM raw_host AS h
WHERE is_launch_category(h.category) AND h.correlation_id IS NOT NULL;

-- The earliest of several calls.
CREATE TABLE shared_correlations AS
SELECT
    c.trace,
    c.correlation_id,
    min({ 'ts_ns': c.ts_ns, 'event_id': c.event_id }).event_id AS first_id
FROM calls AS c
GROUP BY c.trace, c.correlation_id
HAVING count(*) > 1;

CREATE TABLE launched AS
SELECT d.event_id, c.event_id AS launch_id
FROM raw_device AS d
INNER JOIN (
    SELECT n.*
    FROM calls AS n
    ANTI JOIN shared_correlations AS s
        ON n.trace = s.trace AND n.correlation_id = s.correlation_id
) AS c
    ON trace_of(d.event_id) = c.trace AND d.correlation_id = c.correlation_id
UNION ALL
SELECT w.event_id, coalesce(w.latest_id, w.first_id) AS launch_id
FROM (
    SELECT
        e.event_id,
        e.call_id,
        e.first_id,
        last_value(e.call_id IGNORE NULLS) OVER (
            PARTITION BY e.trace, e.correlation_id
            ORDER BY e.ts_ns, e.call_id IS NULL, e.event_id
            ROWS UNBOUNDED PRECEDING
        ) AS latest_id
    FROM (
        SELECT
            s.trace, s.correlation_id, s.first_id, c.ts_ns, c.event_id, c.event_id AS call_id
        FROM calls AS c
        INNER JOIN shared_correlations AS s
            ON c.trace = s.trace AND c.correlation_id = s.correlation_id
        UNION ALL
        SELECT s.trace, s.correlation_id, s.first_id, d.ts_ns, d.event_id, NULL
        FROM raw_device AS d
        INNER JOIN shared_correlations AS s
            ON trace_of(d.event_id) = s.trace AND d.correlation_id = s.correlation_id
    ) AS e
) AS w
WHERE w.call_id IS NULL
UNION ALL
-- Launches that the source names itself.
SELECT k.event_id, k.launch_id
FROM raw_link AS k
WHERE k.launch_id IS NOT NULL;

DROP TABLE calls;
DROP TABLE shared_correlations;
