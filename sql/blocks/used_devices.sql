-- block: used_devices
-- since: 0.1
-- summary: Devices on which each trace ran work.
-- grain: one row per trace and device
-- uses: is_wanted
--
-- Kernels, copies and memsets are work. NULL stands for an unknown device, if the trace does not record it.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id     INTEGER  key  The device.
--   communicates  BOOLEAN  -    Whether collectives ran on it.
CREATE MACRO used_devices(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        d.run,
        d.worker,
        d.span,
        d.device_id,
        bool_or(d.kind = 'communication') AS communicates
    FROM device_events AS d
    WHERE
        d.kind IN ('compute', 'communication', 'memcpy', 'memset')
        AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    GROUP BY d.run, d.worker, d.span, d.device_id;
