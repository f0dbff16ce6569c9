-- block: device_peaks
-- since: 0.1
-- summary: Peak throughput of each device for each element type, from known_gpus.
-- grain: one row per device of a trace and element type
-- uses: is_wanted
--
-- A device that known_gpus does not list has no rows.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                type     unit  meaning
--   device_id           INTEGER  key   Number of the device on its host.
--   dtype               VARCHAR  key   'float64', 'float32', 'float16' or 'bfloat16'.
--   peak_tflops         DOUBLE   -     10^12 operations per second without tensor cores; NULL if unknown.
--   tensor_peak_tflops  DOUBLE   -     10^12 operations per second of tensor cores; NULL if there are none for this type.
--   peak_gbps           DOUBLE   gbps  Bandwidth of the device memory, 10^9 bytes per second.
CREATE MACRO device_peaks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        d.run,
        d.worker,
        d.span,
        d.device_id,
        t.dtype,
        CASE t.dtype
            WHEN 'float64' THEN g.fp64_tflops
            WHEN 'float32' THEN g.fp32_tflops
            WHEN 'float16' THEN g.fp16_tflops
        END::DOUBLE AS peak_tflops,
        CASE t.dtype
            WHEN 'float32' THEN g.fp32_tensor_tflops
            WHEN 'float16' THEN g.fp16_tensor_tflops
            WHEN 'bfloat16' THEN g.bf16_tensor_tflops
        END::DOUBLE AS tensor_peak_tflops,
        g.memory_gbps::DOUBLE AS peak_gbps
    FROM devices AS d
    INNER JOIN known_gpus AS g ON regexp_replace(d.name, '^NVIDIA ', '') = g.name
    CROSS JOIN (
        VALUES ('float64'), ('float32'), ('float16'), ('bfloat16')
    ) AS t (dtype)
    WHERE is_wanted(d.run, d.worker, d.span, run, worker, span);
