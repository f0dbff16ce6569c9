-- Panel of the report: Computation and communication by step.
SELECT
    worker,
    step,
    * EXCLUDE (run, worker, span, step)
FROM comm_overlap(run := $run)
QUALIFY sum(overlap_us + communication_us) OVER () > 0
LIMIT $most_rows;
