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

CREATE TABLE shared_correlations AS
SELECT c.trace, c.correlation_id
FROM calls AS c
GROUP BY c.trace, c.correlation_id
HAVING count(*) > 1;

CREATE TABLE launched AS
SELECT d.event_id, c.event_id AS launch_id
FROM raw_device AS d
INNER JOIN calls AS c ON trace_of(d.event_id) = c.trace AND d.correlation_id = c.correlation_id
ANTI JOIN shared_correlations AS s
    ON trace_of(d.event_id) = s.trace AND d.correlation_id = s.correlation_id
UNION ALL
SELECT
    d.event_id,
    arg_max(
        c.event_id,
        CASE
            WHEN c.ts_ns <= d.ts_ns THEN (TRUE, c.ts_ns, c.event_id) ELSE
                (FALSE, -c.ts_ns, -c.event_id)
        END
    )
FROM raw_device AS d
INNER JOIN shared_correlations AS s
    ON trace_of(d.event_id) = s.trace AND d.correlation_id = s.correlation_id
INNER JOIN calls AS c ON trace_of(d.event_id) = c.trace AND d.correlation_id = c.correlation_id
GROUP BY d.event_id
UNION ALL
-- Launches that the source names itself.
SELECT k.event_id, k.launch_id
FROM raw_link AS k
WHERE k.launch_id IS NOT NULL;

DROP TABLE calls;
DROP TABLE shared_correlations;
