-- Timeline: the first events whose name contains a text; times count from $start_ns.
SELECT
    e.lane,
    e.depth,
    e.start_ns - $start_ns AS start,
    e.end_ns - e.start_ns AS length,
    e.event_id,
    e.category,
    e.name
FROM timeline_events($run, $worker, $span) AS e
WHERE contains(lower(e.name), lower($text)) AND e.kind <> 'steps'
ORDER BY e.start_ns, e.depth
LIMIT $most_rows;
