-- derive: nsys_flow
-- since: 0.1
-- summary: An arrow from each call to the device events that it launched, as raw_flow.
WITH
calls AS (
    SELECT h.correlation_id, arg_min(h, h.event_id) AS call
    FROM (
        SELECT r.correlation_id, r.event_id, r.pid, r.tid, r.ts_ns
        FROM raw_host AS r
        WHERE is_launch_category(r.category)
    ) AS h
    WHERE h.correlation_id IN (SELECT d.correlation_id FROM raw_device AS d)
    GROUP BY h.correlation_id
),

ends AS (
    SELECT
        's' AS phase, c.correlation_id, c.call.pid, c.call.tid, c.call.ts_ns,
        0 AS event_id
    FROM calls AS c
    UNION ALL
    SELECT 'f', d.correlation_id, d.pid, d.tid, d.ts_ns, d.event_id
    FROM raw_device AS d
    SEMI JOIN calls AS c ON d.correlation_id = c.correlation_id
)

SELECT
    $first + row_number() OVER (ORDER BY e.correlation_id, e.event_id) - 1 AS event_id,
    e.phase,
    'ac2g' AS category,
    'ac2g' AS raw_category,
    'ac2g' AS name,
    e.pid,
    e.tid,
    e.ts_ns,
    e.correlation_id AS flow_id,
    CASE e.phase WHEN 'f' THEN '{"bp":"e"}' END::JSON AS raw
FROM ends AS e
ORDER BY e.correlation_id, e.event_id
