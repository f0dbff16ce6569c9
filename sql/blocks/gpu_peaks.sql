-- block: gpu_peaks
-- since: 0.1
-- summary: Peak throughput of each model in known_gpus, for each element type.
-- grain: one row per model and element type
--
-- columns
--   name                type     unit  meaning
--   name                VARCHAR  key   Name of the model, as in known_gpus.
--   dtype               VARCHAR  key   Element type, as torch names it.
--   peak_tflops         DOUBLE   -     10^12 operations per second without tensor cores; NULL if unknown.
--   tensor_peak_tflops  DOUBLE   -     10^12 operations per second of tensor cores; NULL if there are none for this type.
--   peak_gbps           DOUBLE   gbps  Bandwidth of the device memory, 10^9 bytes per second.
CREATE MACRO gpu_peaks() AS TABLE
    SELECT
        g.name,
        t.dtype,
        CASE t.dtype
            WHEN 'float64' THEN g.fp64_tflops
            WHEN 'float32' THEN g.fp32_tflops
            WHEN 'float16' THEN g.fp16_tflops
        END::DOUBLE AS peak_tflops,
        CASE
            WHEN t.dtype = 'float64' THEN g.fp64_tensor_tflops
            WHEN t.dtype = 'float32' THEN g.fp32_tensor_tflops
            WHEN t.dtype = 'float16' THEN g.fp16_tensor_tflops
            WHEN t.dtype = 'bfloat16' THEN g.bf16_tensor_tflops
            ELSE g.fp8_tensor_tflops
        END::DOUBLE AS tensor_peak_tflops,
        g.memory_gbps::DOUBLE AS peak_gbps
    FROM known_gpus AS g
    CROSS JOIN (
        VALUES
        ('float64'),
        ('float32'),
        ('float16'),
        ('bfloat16'),
        ('float8_e4m3fn'),
        ('float8_e4m3fnuz'),
        ('float8_e5m2'),
        ('float8_e5m2fnuz')
    ) AS t (dtype);
