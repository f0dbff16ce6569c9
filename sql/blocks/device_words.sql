-- block: device_words
-- since: 0.1
-- summary: What a sentence calls the devices of each trace.
-- grain: one row per trace
-- uses: is_wanted
--
-- CUDA, HIP and XPU devices are GPUs. Only the profilers of Ascend write files of source 'ascend': their
-- devices are NPUs, also where none worked. Of other traces without device work nobody knows what the job could
-- have used.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device  VARCHAR  -  'GPU', 'NPU', 'MTIA accelerator' or 'HPU'; 'device' if none worked. An s makes it plural.
CREATE MACRO device_words(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _kinds AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            bool_or(starts_with(d.category, 'mtia_')) AS has_mtia,
            bool_or(d.category = 'hpu_op') AS has_hpu
        FROM device_events AS d
        WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        CASE
            WHEN t.source = 'ascend' THEN 'NPU'
            WHEN k.has_mtia THEN 'MTIA accelerator'
            WHEN k.has_hpu THEN 'HPU'
            WHEN k.run IS NULL THEN 'device'
            ELSE 'GPU'
        END AS device
    FROM traces AS t
    LEFT JOIN _kinds AS k ON t.run = k.run AND t.worker = k.worker AND t.span = k.span
    WHERE is_wanted(t.run, t.worker, t.span, run, worker, span);
