-- Panel of the report: Events by time, of a trace that another program wrote.
SELECT r.* EXCLUDE (run, worker, span, category)
FROM range_stats(run := $run, worker := $worker, span := $span, category := 'other') AS r
ORDER BY r.self_us DESC, r.name ASC
LIMIT $most_rows;
