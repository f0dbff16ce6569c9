-- derive: launches
-- since: 0.1
-- summary: What each device event is, the call that launched it, the operator that made the call.
--
-- Without a call (`launched`) the operator is the host event that carries the same external id.
--
-- In steps, so that no more than one large hash table is needed at a time.
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

DROP TABLE launched;
DROP TABLE launchers;
DROP TABLE external_launchers;
