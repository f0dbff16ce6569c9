-- block: matrix_peaks
-- since: 0.1
-- summary: Peaks of the devices of each trace: products of 16-bit numbers, and memory.
-- grain: one row per trace whose devices are all of one known model
-- uses: device_models
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name           VARCHAR  -     Name of the model.
--   matrix_tflops  DOUBLE   -     10^12 operations per second of tensor cores, for dense products of 16-bit numbers.
--   memory_gbps    DOUBLE   gbps  As in known_gpus.
CREATE MACRO matrix_peaks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        m.run,
        m.worker,
        m.span,
        g.name,
        greatest(g.fp16_tensor_tflops, g.bf16_tensor_tflops)::DOUBLE AS matrix_tflops,
        g.memory_gbps::DOUBLE AS memory_gbps
    FROM device_models(run, worker, span) AS m
    INNER JOIN known_gpus AS g ON m.name = g.name;
