-- Panel of the report: Operations of matrix products, convolutions and attention. The peaks are those of the devices
-- that the trace lists, if all of them have the same.
WITH peaks AS (
    SELECT
        p.dtype,
        any_value(p.peak_tflops) AS peak_tflops,
        any_value(p.tensor_peak_tflops) AS tensor_peak_tflops,
        any_value(p.peak_gbps) AS peak_gbps
    FROM device_peaks(run := $run, worker := $worker, span := $span) AS p
    GROUP BY p.dtype
    HAVING
        count(DISTINCT [p.peak_tflops, p.tensor_peak_tflops, p.peak_gbps]) = 1
        AND count(DISTINCT p.device_id) = (
            SELECT count(DISTINCT d.device_id)
            FROM devices AS d
            WHERE d.run = $run AND d.worker = $worker AND d.span = $span
        )
)

SELECT
    f.* EXCLUDE (run, worker, span),
    p.peak_tflops,
    p.tensor_peak_tflops,
    p.peak_gbps
FROM operator_flops_summary(run := $run, worker := $worker, span := $span) AS f
LEFT JOIN peaks AS p ON f.dtype = p.dtype
ORDER BY
    f.device_us DESC NULLS LAST, f.total_flops DESC NULLS LAST,
    f.name ASC, f.dtype ASC, f.input_dims ASC, f.flops ASC, f.bytes ASC
LIMIT $most_rows;
