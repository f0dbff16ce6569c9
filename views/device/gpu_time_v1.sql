-- view: gpu_time
-- version: 1
-- since: 0.1
-- summary: What each device did with its time: computing, communicating, copying, or nothing.
-- grain: one row per device of a trace that ran work
-- distributes: trace
-- order: run, worker, span, device_id
-- carries: spark
-- needs: no_device_events
-- uses: device_activity
-- example: drawn
--
-- The time of a device goes from the start of its first work to the end of its last; work is kernels,
-- copies and fills, on any stream, and not synchronisations or annotations. Where several run at once
-- their time counts once. Exposed is what nothing hides: communication while nothing computes, copies
-- while nothing computes or communicates. Fills are busy time and none of the others.
--
-- busy_us = compute_us + non_compute_us, and window_us = busy_us + idle_us.
--
-- params
--   run, worker, span
--   name       type     unit  default  meaning
--   device_id  INTEGER  -     NULL     Number of a device; NULL reports all.
-- columns
--   run, worker, span
--   name                      type     unit  meaning
--   device_id                 INTEGER  key   Number of the device on its host.
--   window_us                 DOUBLE   us    From the start of its first work to the end of its last.
--   busy_us                   DOUBLE   us    Anything ran.
--   idle_us                   DOUBLE   us    Nothing ran.
--   compute_us                DOUBLE   us    Kernels ran that are no collectives.
--   communication_us          DOUBLE   us    Collectives ran.
--   memcpy_us                 DOUBLE   us    Copies ran.
--   exposed_communication_us  DOUBLE   us    Collectives ran and no other kernel.
--   exposed_memcpy_us         DOUBLE   us    Copies ran and no kernel.
--   non_compute_us            DOUBLE   us    Something ran, but no kernel other than collectives.
CREATE MACRO gpu_time_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    device_id INTEGER := NULL
) AS TABLE
    SELECT
        a.run,
        a.worker,
        a.span,
        a.device_id,
        sum(a.duration_ns) / 1000.0 AS window_us,
        coalesce(
            sum(a.duration_ns) FILTER (
                WHERE a.compute OR a.communication OR a.memcpy OR a.memset
            ),
            0
        ) / 1000.0 AS busy_us,
        coalesce(
            sum(a.duration_ns) FILTER (
                WHERE NOT (a.compute OR a.communication OR a.memcpy OR a.memset)
            ),
            0
        ) / 1000.0 AS idle_us,
        coalesce(sum(a.duration_ns) FILTER (WHERE a.compute), 0) / 1000.0 AS compute_us,
        coalesce(sum(a.duration_ns) FILTER (WHERE a.communication), 0) / 1000.0
            AS communication_us,
        coalesce(sum(a.duration_ns) FILTER (WHERE a.memcpy), 0) / 1000.0 AS memcpy_us,
        coalesce(sum(a.duration_ns) FILTER (WHERE a.communication AND NOT a.compute), 0) / 1000.0
            AS exposed_communication_us,
        coalesce(
            sum(a.duration_ns) FILTER (
                WHERE a.memcpy AND NOT (a.compute OR a.communication)
            ),
            0
        ) / 1000.0 AS exposed_memcpy_us,
        coalesce(
            sum(a.duration_ns) FILTER (
                WHERE (a.communication OR a.memcpy OR a.memset) AND NOT a.compute
            ),
            0
        ) / 1000.0 AS non_compute_us
    FROM device_activity(run, worker, span) AS a
    WHERE device_id IS NULL OR a.device_id = device_id
    GROUP BY a.run, a.worker, a.span, a.device_id
    ORDER BY a.run, a.worker, a.span, a.device_id;
