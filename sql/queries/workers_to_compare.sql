-- Of a trace that is about a straggler, a worker that waits for it, and the straggler. The former is the given worker, or,
-- for the straggler itself, the one that waits longest.
SELECT
    w.worker,
    w.straggler
FROM worker_waits(run := $run, span := $span) AS w
WHERE
    w.straggler_us > 0
    AND w.straggler = (
        SELECT a.straggler
        FROM worker_waits(run := $run, worker := $worker, span := $span) AS a
    )
ORDER BY w.worker <> $worker ASC, w.straggler_us DESC, w.worker ASC
LIMIT 1;
