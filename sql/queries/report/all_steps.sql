-- The first screen of each trace of a run: its first steps by category.
SELECT worker, span, * EXCLUDE (run, worker, span)
FROM step_breakdown(run := $run)
QUALIFY row_number() OVER (PARTITION BY worker, span ORDER BY step) <= $most_rows;
