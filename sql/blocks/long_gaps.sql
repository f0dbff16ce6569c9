-- block: long_gaps
-- since: 0.1
-- summary: Gaps in which a device was idle, and the part of each in which the profiler itself worked.
-- grain: one row per gap that is long enough without that part
-- uses: first_id, idle_gaps, interval_totals, is_profiler_work, is_wanted, trace_names
--
-- params
--   run, worker, span
--   name    type    unit  default  meaning
--   min_us  DOUBLE  us    0        Length of the shortest gap, without the work of the profiler.
-- columns
--   run, worker, span
--   device_id    INTEGER  key  The device; NULL if unknown.
--   device       BIGINT   key  A number that no device of another trace has.
--   start_ns     BIGINT   ns   Start of the gap.
--   end_ns       BIGINT   ns   End of the gap.
--   profiler_ns  BIGINT   ns   Part of the gap in which the profiler worked.
--   before_id    BIGINT   key  The kernel, copy or memset that ended last before the gap.
--   after_id     BIGINT   key  The kernel, copy or memset that ended the gap.
--   launch_id    BIGINT   key  The call that launched it, numbered as in trace_names.
CREATE MACRO long_gaps(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, min_us DOUBLE := 0
) AS TABLE
    WITH
    _work AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            d.event_id,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns,
            d.launch_id
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _devices AS MATERIALIZED (
        SELECT v.*, first_id(t.names, v.run, v.worker, v.span) AS first_id
        FROM (
            SELECT
                w.run,
                w.worker,
                w.span,
                w.device_id,
                min(w.start_ns) AS first_ns,
                row_number() OVER () AS device
            FROM _work AS w
            GROUP BY w.run, w.worker, w.span, w.device_id
        ) AS v
        CROSS JOIN trace_names(run, worker, span) AS t
    ),

    _placed AS (
        SELECT
            u.device AS key,
            w.event_id,
            w.launch_id,
            w.start_ns - u.first_ns AS start_ns,
            w.end_ns - u.first_ns AS end_ns
        FROM _work AS w
        INNER JOIN _devices AS u
            ON
                w.run = u.run AND w.worker = u.worker AND w.span = u.span
                AND w.device_id IS NOT DISTINCT FROM u.device_id
    ),

    _gaps AS MATERIALIZED (
        SELECT
            row_number() OVER (PARTITION BY u.device ORDER BY i.start_ns) AS slot,
            u.run,
            u.worker,
            u.span,
            u.device_id,
            u.device,
            u.first_ns + i.start_ns AS start_ns,
            u.first_ns + i.end_ns AS end_ns,
            i.before_id,
            i.after_id,
            u.first_id + i.launch_id AS launch_id
        FROM idle_gaps('_placed') AS i
        INNER JOIN _devices AS u ON i.key = u.device
        WHERE i.end_ns - i.start_ns >= 1000 * min_us
    ),

    -- Each gap is a slot of its device, and the profiler's work an interval of all devices of its process.
    _profiling AS (
        SELECT
            u.device AS key,
            0 AS slot,
            1::HUGEINT AS weight,
            h.start_ns,
            h.duration_ns
        FROM host_events AS h
        INNER JOIN _devices AS u
            ON h.run = u.run AND h.worker = u.worker AND h.span = u.span
        WHERE
            is_profiler_work(h.category, h.name)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        UNION ALL
        SELECT g.device, g.slot, 0, g.start_ns, g.end_ns - g.start_ns
        FROM _gaps AS g
    ),

    _profiled AS (
        SELECT t.key, t.slot, sum(t.duration_ns)::BIGINT AS profiler_ns
        FROM interval_totals('_profiling', least_slot := 1) AS t
        WHERE t.weight > 0
        GROUP BY t.key, t.slot
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.device_id,
        g.device,
        g.start_ns,
        g.end_ns,
        coalesce(p.profiler_ns, 0) AS profiler_ns,
        g.before_id,
        g.after_id,
        g.launch_id
    FROM _gaps AS g
    LEFT JOIN _profiled AS p ON g.device = p.key AND g.slot = p.slot
    WHERE g.end_ns - g.start_ns - coalesce(p.profiler_ns, 0) >= 1000 * min_us;
