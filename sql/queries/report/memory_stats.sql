-- Panel of the report: Allocations by operator.
SELECT * EXCLUDE (run, worker, span)
FROM memory_stats(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
