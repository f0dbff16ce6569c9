-- Finding of the panel: which queues run empty.
SELECT
    CASE
        WHEN count(*) FILTER (WHERE q.is_emptied) = 0 AND count(*) = 1
            THEN 'The queue never runs empty.'
        WHEN count(*) FILTER (WHERE q.is_emptied) = 0 THEN 'No queue runs empty.'
        WHEN count(*) FILTER (WHERE q.is_emptied) = 1
            THEN format('The queue of {} runs empty.', max(q.queue) FILTER (WHERE q.is_emptied))
        ELSE format('{} of {} queues run empty.', count(*) FILTER (WHERE q.is_emptied), count(*))
    END AS finding
FROM (
    SELECT p.queue, bool_or(p.queue_size = 0) AS is_emptied
    FROM panel_rows AS p
    WHERE p.queue_size IS NOT NULL
    GROUP BY p.queue
) AS q
HAVING count(*) > 0;
