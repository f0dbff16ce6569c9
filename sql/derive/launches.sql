-- derive: launches
-- since: 0.1
-- summary: What each device event is, the call that launched it, the operator that made the call.
--
-- Where several calls carry the correlation of a device event, the one that starts latest before
-- it wins, and the earliest where all start after it (the clocks of host and device may differ).
-- Without a call the operator is the host event that carries the same external id.
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
),

calls AS (
    SELECT h.event_id, h.correlation_id, h.ts_ns
    FROM raw_host AS h
    WHERE is_launch_category(h.category) AND h.correlation_id IS NOT NULL
),

launched AS (
    SELECT
        d.event_id,
        arg_max(
            c.event_id,
            CASE
                WHEN c.ts_ns <= d.ts_ns THEN (TRUE, c.ts_ns, c.event_id) ELSE
                    (FALSE, -c.ts_ns, -c.event_id)
            END
        ) AS launch_id
    FROM raw_device AS d
    INNER JOIN calls AS c ON d.correlation_id = c.correlation_id
    GROUP BY d.event_id
),

external AS (
    SELECT h.external_id, min(h.event_id) AS event_id
    FROM raw_host AS h
    WHERE is_op_category(h.category) AND h.external_id IS NOT NULL
    GROUP BY h.external_id
)

SELECT
    d.event_id,
    w.kind,
    w.uses_tensor_cores,
    l.launch_id,
    CASE WHEN l.launch_id IS NULL THEN x.event_id ELSE o.op_id END AS op_id
FROM raw_device AS d
LEFT JOIN words AS w
    ON
        d.category IS NOT DISTINCT FROM w.category
        AND d.name IS NOT DISTINCT FROM w.name
        AND d.collective IS NOT DISTINCT FROM w.collective
LEFT JOIN launched AS l ON d.event_id = l.event_id
LEFT JOIN host_links AS o ON l.launch_id = o.event_id
LEFT JOIN external AS x ON d.external_id = x.external_id;
