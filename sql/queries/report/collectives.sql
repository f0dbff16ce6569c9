-- Panel of the report: Collectives.
SELECT * EXCLUDE (run, span)
FROM collective_stats(run := $run)
LIMIT $most_rows;
