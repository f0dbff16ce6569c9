-- Timeline: the events around an event of a thread, the outermost first.
SELECT
    h.category,
    h.name,
    h.source_file,
    h.source_line
FROM host_events AS h
INNER JOIN host_events AS i
    ON
        h.run = i.run AND h.worker = i.worker AND h.span = i.span
        AND h.pid = i.pid AND h.tid = i.tid
WHERE
    i.run = $run AND i.worker = $worker AND i.span = $span AND i.event_id = $event_id
    AND h.run = $run AND h.worker = $worker AND h.span = $span
    AND h.depth < i.depth
    AND h.start_ns <= i.start_ns
    AND h.start_ns + h.duration_ns >= i.start_ns + i.duration_ns
ORDER BY h.depth;
