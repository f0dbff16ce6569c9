-- Panel of the report: Roofline of the kernels. The type of a kernel is the one of most of its operations, and its peak
-- that of the units that did them: CUDA cores or tensor cores.
WITH counted AS (
    SELECT
        k.kernel_name,
        k.device_id,
        unnest([
            'float64', 'float32', 'float16', 'float64', 'float32', 'float16', 'bfloat16', 'float8'
        ]) AS dtype,
        unnest([FALSE, FALSE, FALSE, TRUE, TRUE, TRUE, TRUE, TRUE]) AS uses_tensor_cores,
        unnest([
            k.fp64_flops, k.fp32_flops, k.fp16_flops, k.fp64_tensor_flops, k.fp32_tensor_flops,
            k.fp16_tensor_flops, k.bf16_tensor_flops, k.fp8_tensor_flops
        ]) AS flops
    FROM profiled_kernels(run := $run, worker := $worker, span := $span) AS k
),

by_type AS (
    SELECT
        c.kernel_name,
        c.device_id,
        c.dtype,
        c.uses_tensor_cores,
        sum(c.flops) AS flops
    FROM counted AS c
    GROUP BY c.kernel_name, c.device_id, c.dtype, c.uses_tensor_cores
    HAVING sum(c.flops) > 0
),

typed AS (
    SELECT b.kernel_name, b.device_id, b.dtype, b.uses_tensor_cores
    FROM by_type AS b
    QUALIFY
        row_number() OVER (
            PARTITION BY b.kernel_name, b.device_id
            ORDER BY b.flops DESC, b.uses_tensor_cores DESC, b.dtype DESC
        ) = 1
)

SELECT
    r.* EXCLUDE (run, worker, span),
    t.dtype,
    CASE WHEN NOT t.uses_tensor_cores THEN p.peak_tflops END AS peak_tflops,
    CASE WHEN t.uses_tensor_cores THEN p.tensor_peak_tflops END AS tensor_peak_tflops
FROM roofline(run := $run, worker := $worker, span := $span) AS r
LEFT JOIN typed AS t
    ON r.name = t.kernel_name AND r.device_id IS NOT DISTINCT FROM t.device_id
LEFT JOIN device_peaks(run := $run, worker := $worker, span := $span) AS p
    ON
        r.device_id = p.device_id
        AND p.dtype = CASE t.dtype WHEN 'float8' THEN 'float8_e4m3fn' ELSE t.dtype END
ORDER BY r.duration_us DESC, r.flops DESC, r.name ASC, r.device_id ASC
LIMIT $most_rows;
