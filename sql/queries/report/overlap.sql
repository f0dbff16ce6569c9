-- Panel of the report: Computation and communication by step, of traces with kernels beside the collectives.
SELECT
    o.worker,
    o.step,
    o.* EXCLUDE (run, worker, span, step)
FROM comm_overlap(run := $run) AS o
ANTI JOIN overlap_notes(run := $run) AS n ON o.worker = n.worker AND o.span = n.span
QUALIFY sum(o.overlap_us + o.communication_us) OVER () > 0
ORDER BY o.worker ASC, o.span ASC, o.step ASC NULLS FIRST
LIMIT $most_rows;
