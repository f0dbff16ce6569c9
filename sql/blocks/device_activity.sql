-- block: device_activity
-- since: 0.1
-- summary: Time in which each set of kinds of work ran at once on each device, including idle time.
-- grain: one row per device that ran work and set of kinds that ran on it at once
-- uses: device_key, device_trace_names, interval_totals, is_wanted, merged_intervals
--
-- The time of a device runs from the start of its first work to the end of its last. A device whose work
-- all has a duration of 0 has one row, with a duration of 0.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id      INTEGER  key  Number of the device on its host.
--   compute        BOOLEAN  key  Whether kernels other than collectives ran.
--   communication  BOOLEAN  key  Whether collectives ran.
--   memcpy         BOOLEAN  key  Whether copies ran.
--   memset         BOOLEAN  key  Whether memsets ran.
--   duration_ns    BIGINT   ns   Time in which exactly these ran.
CREATE MACRO device_activity(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _work AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            device_key(t.names, d.run, d.worker, d.span, d.device_id) AS device_key,
            d.kind,
            d.start_ns,
            d.duration_ns
        FROM device_events AS d
        CROSS JOIN device_trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _devices AS MATERIALIZED (
        SELECT
            w.run,
            w.worker,
            w.span,
            w.device_id,
            any_value(w.device_key) AS device_key,
            min(w.start_ns) AS start_ns,
            max(w.start_ns + w.duration_ns) AS end_ns
        FROM _work AS w
        GROUP BY w.run, w.worker, w.span, w.device_id
    ),

    _by_kind AS (
        SELECT
            w.device_key * 4
            + CASE w.kind
                WHEN 'compute' THEN 0
                WHEN 'communication' THEN 1
                WHEN 'memcpy' THEN 2
                ELSE 3
            END AS key,
            w.start_ns,
            w.duration_ns
        FROM _work AS w
    ),

    -- One bit per kind: after merging, a kind runs at most once at a time.
    _intervals AS (
        SELECT
            m.key // 4 AS key,
            0 AS slot,
            CASE m.key % 4 WHEN 0 THEN 1 WHEN 1 THEN 2 WHEN 2 THEN 4 ELSE 8 END AS weight,
            m.start_ns,
            m.duration_ns
        FROM merged_intervals('_by_kind') AS m
        UNION ALL
        SELECT v.device_key, 1, 0, v.start_ns, v.end_ns - v.start_ns
        FROM _devices AS v
    )

    SELECT
        v.run,
        v.worker,
        v.span,
        v.device_id,
        coalesce(t.weight & 1 > 0, FALSE) AS compute,
        coalesce((t.weight >> 1) & 1 > 0, FALSE) AS communication,
        coalesce((t.weight >> 2) & 1 > 0, FALSE) AS memcpy,
        coalesce((t.weight >> 3) & 1 > 0, FALSE) AS memset,
        coalesce(sum(t.duration_ns), 0)::BIGINT AS duration_ns
    FROM _devices AS v
    LEFT JOIN interval_totals('_intervals') AS t ON v.device_key = t.key
    GROUP BY ALL;
