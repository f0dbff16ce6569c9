-- derive: launches
-- since: 0.1
-- summary: What each device event is, the call that launched it, the operator that made the call.
--
-- Where several calls carry the correlation of a device event, the one that starts latest before
-- it wins, and the earliest where all start after it (the clocks of host and device may differ).
-- Without a call the operator is the host event that carries the same external id.
--
-- In steps, so that no more than one large hash table is needed at a time.
CREATE TABLE calls AS
SELECT h.event_id, h.correlation_id, h.ts_ns
FROM raw_host AS h
WHERE is_launch_category(h.category) AND h.correlation_id IS NOT NULL;

CREATE TABLE shared_correlations AS
SELECT c.correlation_id
FROM calls AS c
GROUP BY c.correlation_id
HAVING count(*) > 1;

CREATE TABLE launched AS
SELECT d.event_id, c.event_id AS launch_id
FROM raw_device AS d
INNER JOIN calls AS c ON d.correlation_id = c.correlation_id
WHERE d.correlation_id NOT IN (SELECT s.correlation_id FROM shared_correlations AS s)
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
INNER JOIN shared_correlations AS s ON d.correlation_id = s.correlation_id
INNER JOIN calls AS c ON d.correlation_id = c.correlation_id
GROUP BY d.event_id;

CREATE TABLE launchers AS
SELECT l.event_id, l.launch_id, o.op_id
FROM launched AS l
INNER JOIN host_links AS o ON l.launch_id = o.event_id;

-- The operators of those that no call launched.
CREATE TABLE external_launchers AS
SELECT d.event_id, min(h.event_id) AS op_id
FROM (
    SELECT r.event_id, r.external_id
    FROM raw_device AS r ANTI JOIN launched AS l ON r.event_id = l.event_id
) AS d
INNER JOIN raw_host AS h ON d.external_id = h.external_id AND is_op_category(h.category)
GROUP BY d.event_id;

CREATE TABLE device_links AS
WITH
-- What a device event is by its words: there are few of them and many events.
words AS (
    SELECT
        d.category,
        d.name,
        d.collective,
        device_kind(d.category, d.name, d.collective) AS kind,
        CASE WHEN d.category = 'kernel' THEN uses_tensor_cores(d.name) END AS uses_tensor_cores
    FROM (SELECT DISTINCT r.category, r.name, r.collective FROM raw_device AS r) AS d
)

SELECT
    d.event_id,
    w.kind,
    w.uses_tensor_cores,
    l.launch_id,
    coalesce(l.op_id, x.op_id) AS op_id
FROM (
    SELECT r.rowid AS place, r.event_id, r.category, r.name, r.collective FROM raw_device AS r
) AS d
LEFT JOIN words AS w
    ON
        d.category IS NOT DISTINCT FROM w.category
        AND d.name IS NOT DISTINCT FROM w.name
        AND d.collective IS NOT DISTINCT FROM w.collective
LEFT JOIN launchers AS l ON d.event_id = l.event_id
LEFT JOIN external_launchers AS x ON d.event_id = x.event_id
-- As raw_device, so that the two can be read side by side.
ORDER BY d.place;

DROP TABLE calls;
DROP TABLE shared_correlations;
DROP TABLE launched;
DROP TABLE launchers;
DROP TABLE external_launchers;
