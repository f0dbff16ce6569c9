-- block: device_models
-- since: 0.1
-- summary: Model of the devices of each trace, as known_gpus names it.
-- grain: one row per trace whose devices are all of one model
-- uses: is_wanted
--
-- The model is the name of the device. Some traces of AMD devices have no name: an MI300X is known by its
-- number of compute units and its memory.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name  type     unit  meaning
--   name  VARCHAR  -     Name of the model, without a leading 'NVIDIA '; NULL if the trace does not tell.
CREATE MACRO device_models(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
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
            END
        ) AS name
    FROM devices AS d
    WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
    GROUP BY d.run, d.worker, d.span
    HAVING count(DISTINCT coalesce(d.name, '')) = 1;
