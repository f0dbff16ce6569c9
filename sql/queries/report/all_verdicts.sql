-- The first screen of each trace of a run: the rows of its verdict.
SELECT worker, span, * EXCLUDE (run, worker, span)
FROM verdict(run := $run);
