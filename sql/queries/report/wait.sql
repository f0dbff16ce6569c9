-- Panel of the report: Collectives: transfer and wait.
SELECT
    worker,
    step,
    * EXCLUDE (run, worker, span, step)
FROM comm_wait(run := $run)
LIMIT $most_rows;
