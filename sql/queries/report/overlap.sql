-- Panel of the report: Computation and communication by step. On the host alone, all communication would be hidden.
SELECT
    o.worker,
    o.step,
    o.* EXCLUDE (run, worker, span, step)
FROM comm_overlap(run := $run) AS o
SEMI JOIN (
    SELECT d.worker, d.span
    FROM device_events AS d
    WHERE d.run = $run AND d.kind IN ('compute', 'communication')
) AS d ON o.worker = d.worker AND o.span = d.span
QUALIFY sum(o.overlap_us + o.communication_us) OVER () > 0
LIMIT $most_rows;
