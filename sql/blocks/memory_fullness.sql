-- block: memory_fullness
-- since: 0.1
-- summary: Peak memory of the fullest device of each trace, as a share of its memory.
-- grain: one row per trace that recorded the memory of a device whose size is known
-- uses: is_wanted
--
-- Host memory does not count: a trace does not tell its size.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   full_pct      DOUBLE   pct  Peak of the allocated memory of the fullest device, as a share of its memory.
--   full_devices  VARCHAR  -    Text that lists the devices that were more than 90 % full; NULL if there are none.
CREATE MACRO memory_fullness(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _peaks AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.device_type,
            m.device_id,
            max(m.total_allocated_bytes) AS peak_bytes
        FROM memory_records AS m
        WHERE
            m.device_type <> 'cpu'
            AND is_wanted(m.run, m.worker, m.span, run, worker, span)
        GROUP BY m.run, m.worker, m.span, m.device_type, m.device_id
    ),

    _parts AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.device_type || ':' || p.device_id AS device,
            d.total_memory_bytes / (1 << 30) AS memory_gib,
            100.0 * p.peak_bytes / d.total_memory_bytes AS full_pct
        FROM _peaks AS p
        INNER JOIN devices AS d
            ON
                p.run = d.run AND p.worker = d.worker AND p.span = d.span
                AND p.device_id = d.device_id
        WHERE d.total_memory_bytes > 0
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        max(p.full_pct) AS full_pct,
        string_agg(
            format('{:.1f} % of the {:.1f} GiB of {}', p.full_pct, p.memory_gib, p.device),
            ', ' ORDER BY p.device
        ) FILTER (WHERE p.full_pct > 90) AS full_devices
    FROM _parts AS p
    GROUP BY p.run, p.worker, p.span;
