-- block: memory_peaks
-- since: 0.1
-- summary: Peak of the allocated memory of each device.
-- grain: one row per trace and device whose memory was recorded
-- uses: memory_curve_v1
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device      VARCHAR  key    The device, as in memory_curve.
--   peak_bytes  DOUBLE   bytes  Peak of the allocated memory.
CREATE MACRO memory_peaks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        m.run,
        m.worker,
        m.span,
        m.device,
        max(m.allocated_bytes)::DOUBLE AS peak_bytes
    FROM memory_curve_v1(run := run, worker := worker, span := span) AS m
    GROUP BY m.run, m.worker, m.span, m.device;
