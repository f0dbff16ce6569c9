-- block: device_words
-- since: 0.1
-- summary: What sentences call the devices of each trace, and what torch calls them.
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
--   name        type     unit  meaning
--   device      VARCHAR  -     'GPU', 'NPU', 'MTIA accelerator' or 'HPU'; 'device' if none worked. An s makes it plural.
--   torch_name  VARCHAR  -     Its module in torch: 'cuda' (also of AMD, and if unknown), 'xpu', 'npu', 'mtia' or 'hpu'; NULL for MindSpore.
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
    ),

    -- Kernels of Intel have the category of all others.
    _of_intel AS (
        SELECT DISTINCT h.run, h.worker, h.span
        FROM host_events AS h
        WHERE
            h.category IN ('xpu_runtime', 'xpu_driver')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
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
        END AS device,
        CASE
            WHEN t.framework = 'mindspore' THEN NULL
            WHEN t.source = 'ascend' THEN 'npu'
            WHEN k.has_mtia THEN 'mtia'
            WHEN k.has_hpu THEN 'hpu'
            WHEN i.run IS NOT NULL THEN 'xpu'
            ELSE 'cuda'
        END AS torch_name
    FROM traces AS t
    LEFT JOIN _kinds AS k ON t.run = k.run AND t.worker = k.worker AND t.span = k.span
    LEFT JOIN _of_intel AS i ON t.run = i.run AND t.worker = i.worker AND t.span = i.span
    WHERE is_wanted(t.run, t.worker, t.span, run, worker, span);
