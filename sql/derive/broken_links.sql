-- derive: broken_links
-- since: 0.1
-- summary: Number of broken links of each kind between rows of a stored trace, with an example.
--
-- Expects the tables of one trace as views. The ends of a flow are rows of the file that no other table
-- holds, so they only have to be positions that exist in the file. Of a trace of Ascend the last position
-- is not known, because the rows of its overlap analysis are left out and not counted.
WITH
links AS (
    SELECT 'host_events' AS file, 'parent_id' AS link, h.parent_id AS target
    FROM host_events AS h
    UNION ALL
    SELECT 'host_events', 'op_id', h.op_id FROM host_events AS h
    UNION ALL
    SELECT 'host_events', 'parent_op_id', h.parent_op_id FROM host_events AS h
    UNION ALL
    SELECT 'device_events', 'launch_id', d.launch_id FROM device_events AS d
    UNION ALL
    SELECT 'device_events', 'op_id', d.op_id FROM device_events AS d
    UNION ALL
    SELECT 'memory_records', 'op_id', m.op_id FROM memory_records AS m
    UNION ALL
    SELECT 'steps', 'event_id', s.event_id FROM steps AS s
),

broken AS (
    FROM links AS l
    ANTI JOIN host_events AS h ON l.target = h.event_id
    WHERE l.target IS NOT NULL
    UNION ALL
    SELECT 'counters', 'event_id', c.event_id
    FROM counters AS c
    ANTI JOIN device_events AS d ON c.event_id = d.event_id
    UNION ALL
    SELECT p.file, p.link, p.target
    FROM (
        SELECT 'host_events' AS file, 'stack_id' AS link, h.stack_id AS target
        FROM host_events AS h
        UNION ALL
        SELECT 'stacks', 'outer_stack_id', s.outer_stack_id FROM stacks AS s
    ) AS p
    ANTI JOIN stacks AS k ON p.target = k.stack_id
    WHERE p.target IS NOT NULL
    UNION ALL
    SELECT 'flows', p.link, p.target
    FROM (
        SELECT 'source_event_id' AS link, f.source_event_id AS target FROM flows AS f
        UNION ALL
        SELECT 'target_event_id', f.target_event_id FROM flows AS f
    ) AS p
    CROSS JOIN traces AS t
    WHERE p.target < 0 OR (p.target >= t.events AND t.source IS DISTINCT FROM 'ascend')
)

SELECT b.file, b.link, count(*) AS rows, min(b.target) AS example
FROM broken AS b
GROUP BY b.file, b.link
ORDER BY b.file, b.link;
