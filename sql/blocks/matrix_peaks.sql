-- block: matrix_peaks
-- since: 0.1
-- summary: Peaks of the devices of each trace: products of 16-bit numbers, and memory.
-- grain: one row per trace whose devices are all of one known model
-- uses: is_wanted
--
-- The model is the name of the device. Some traces of AMD devices have no name: an MI300X is known by its
-- number of compute units and its memory.
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
    WITH
    _models AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            max(
                CASE
                    WHEN d.name <> '' THEN regexp_replace(d.name, '^NVIDIA ', '')
                    WHEN
                        d.num_sms = 304 AND d.warp_size = 64
                        AND d.total_memory_bytes BETWEEN 200e9 AND 210e9
                        THEN 'AMD Instinct MI300X'
                    ELSE '?'
                END
            ) AS name
        FROM devices AS d
        WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span
        HAVING count(DISTINCT coalesce(d.name, '')) = 1
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        g.name,
        greatest(g.fp16_tensor_tflops, g.bf16_tensor_tflops)::DOUBLE AS matrix_tflops,
        g.memory_gbps::DOUBLE AS memory_gbps
    FROM _models AS m
    INNER JOIN known_gpus AS g ON m.name = g.name;
