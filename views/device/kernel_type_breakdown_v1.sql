-- view: kernel_type_breakdown
-- version: 1
-- since: 0.1
-- summary: Busy time of the devices by kind of work (compute, communication, memory) and their overlaps.
-- grain: one row per trace and set of kinds that ran at once
-- distributes: trace
-- order: total_us DESC, run, worker, span, kind
-- carries: spark
-- needs: no_device_events
-- uses: device_activity
-- example: samples --run resnet_gpu_workers_0 --span 1
-- reading: Copies and memsets take 3.6 % of the time in which the device works.
--
-- Each instant at which a device is busy counts once, for the set of kinds that run at that instant on
-- any of its streams. So the rows of a trace add up to busy_us in gpu_time. Memory is copies and memsets.
-- The devices of a trace are added up, and work on two different devices is not an overlap. Collectives
-- that run on the host do not count here; comm_overlap includes them, and explains how the two views agree.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   kind       VARCHAR  key  'compute', 'communication', 'memory', or those that ran at the same time, in this order, e.g. 'compute overlapping memory'.
--   total_us   DOUBLE   us   Time in which exactly these kinds ran.
--   share_pct  DOUBLE   pct  Share of the busy time of the trace's devices.
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
