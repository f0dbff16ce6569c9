-- view: kernel_type_breakdown
-- version: 1
-- since: 0.1
-- summary: How the busy time of the devices divides into computing, communicating and memory work, and what of it overlaps.
-- grain: one row per trace and set of kinds that ran at once
-- distributes: trace
-- order: total_us DESC, run, worker, span, kind
-- carries: spark
-- needs: no_device_events
-- uses: device_activity
-- example: drawn
--
-- Each instant of a device at which anything runs counts once, for the set of kinds that run then, on
-- any of its streams. So the rows of a trace add up to busy_us in gpu_time. Memory is copies and
-- fills. The devices of a trace are added up; what runs on two of them is no overlap. Collectives that
-- run on the host are not here; comm_overlap has them too, and says how the two views agree.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   kind       VARCHAR  key  'compute', 'communication', 'memory', or those that ran at once, in this order, e.g. 'compute overlapping memory'.
--   total_us   DOUBLE   us   How long just these ran.
--   share_pct  DOUBLE   pct  Part of the busy time of the trace's devices.
CREATE MACRO kernel_type_breakdown_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    totals AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            concat_ws(
                ' overlapping ',
                CASE WHEN a.compute THEN 'compute' END,
                CASE WHEN a.communication THEN 'communication' END,
                CASE WHEN a.memcpy OR a.memset THEN 'memory' END
            ) AS kind,
            sum(a.duration_ns) AS total_ns
        FROM device_activity(run, worker, span) AS a
        WHERE a.compute OR a.communication OR a.memcpy OR a.memset
        GROUP BY ALL
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.kind,
        t.total_ns / 1000.0 AS total_us,
        100.0 * t.total_ns / sum(t.total_ns) OVER (PARTITION BY t.run, t.worker, t.span)
            AS share_pct
    FROM totals AS t
    ORDER BY t.total_ns DESC, t.run ASC, t.worker ASC, t.span ASC, t.kind ASC;
