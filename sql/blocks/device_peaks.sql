-- block: device_peaks
-- since: 0.1
-- summary: Peak throughput of each device for each element type, from known_gpus.
-- grain: one row per device of a trace and element type
-- uses: gpu_peaks, is_wanted
--
-- A device that known_gpus does not list has no rows.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                type     unit  meaning
--   device_id           INTEGER  key   Number of the device on its host.
--   dtype               VARCHAR  key   As in gpu_peaks.
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
        p.dtype,
        p.peak_tflops,
        p.tensor_peak_tflops,
        p.peak_gbps
    FROM devices AS d
    INNER JOIN gpu_peaks() AS p ON regexp_replace(d.name, '^NVIDIA ', '') = p.name
    WHERE is_wanted(d.run, d.worker, d.span, run, worker, span);
