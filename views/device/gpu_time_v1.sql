-- view: gpu_time
-- version: 1
-- since: 0.1
-- summary: Time that each device spent computing, communicating, copying and idle.
-- grain: one row per trace and device that ran work
-- distributes: trace
-- order: run, worker, span, device_id
-- carries: spark
-- needs: no_device_events
-- uses: device_activity
-- example: samples --run gpt_eager
-- reading: The device computes for 21 of 72 ms and is idle for the rest.
--
-- The time of a device runs from the start of its first work to the end of its last. Work is kernels,
-- copies and memsets on any stream, but not synchronisations and annotations. Where several run at once,
-- their time counts once. Exposed time is time that nothing hides: communication without computation, and
-- copies without computation or communication. Memsets count as busy time only.
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
--   window_us                 DOUBLE   us    Time from the start of the first work to the end of the last.
--   busy_us                   DOUBLE   us    Any work ran.
--   idle_us                   DOUBLE   us    No work ran.
--   compute_us                DOUBLE   us    Kernels other than collectives ran.
--   communication_us          DOUBLE   us    Collectives ran.
--   memcpy_us                 DOUBLE   us    Copies ran.
--   exposed_communication_us  DOUBLE   us    Collectives ran, and no other kernel.
--   exposed_memcpy_us         DOUBLE   us    Copies ran, and no kernel.
--   non_compute_us            DOUBLE   us    Any work ran, but no kernel other than collectives.
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
