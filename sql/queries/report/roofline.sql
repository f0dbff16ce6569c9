-- Panel of the report: Roofline of the kernels. The type of a kernel is the one of most of its operations.
WITH counted AS (
    SELECT
        k.kernel_name,
        k.device_id,
        sum(k.fp64_flops) AS fp64_flops,
        sum(k.fp32_flops) AS fp32_flops,
        sum(k.fp16_flops) AS fp16_flops
    FROM profiled_kernels(run := $run, worker := $worker, span := $span) AS k
    GROUP BY k.kernel_name, k.device_id
),

typed AS (
    SELECT
        c.kernel_name,
        c.device_id,
        CASE nullif(greatest(c.fp64_flops, c.fp32_flops, c.fp16_flops), 0)
            WHEN c.fp64_flops THEN 'float64'
            WHEN c.fp32_flops THEN 'float32'
            WHEN c.fp16_flops THEN 'float16'
        END AS dtype
    FROM counted AS c
)

SELECT
    r.* EXCLUDE (run, worker, span),
    t.dtype,
    p.peak_tflops
FROM roofline(run := $run, worker := $worker, span := $span) AS r
LEFT JOIN typed AS t
    ON r.name = t.kernel_name AND r.device_id IS NOT DISTINCT FROM t.device_id
LEFT JOIN device_peaks(run := $run, worker := $worker, span := $span) AS p
    ON r.device_id = p.device_id AND t.dtype = p.dtype
ORDER BY r.duration_us DESC, r.flops DESC, r.name ASC, r.device_id ASC
LIMIT $most_rows;
