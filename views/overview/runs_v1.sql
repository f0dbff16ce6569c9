-- view: runs
-- version: 1
-- since: 0.1
-- summary: Runs in the warehouse with their size, devices and mean step, the latest first.
-- grain: one row per run
-- distributes: run
-- combines: traces; steps; used_devices(); devices
-- order: last_ns DESC NULLS LAST, run
-- uses: has_epoch, used_devices
-- carries: spark
-- example: samples
--
-- columns
--   name          type     unit   meaning
--   run           VARCHAR  key    Name of the run.
--   workers       BIGINT   -      Workers that recorded it.
--   spans         BIGINT   -      Number of different recordings (spans) of its workers.
--   traces        BIGINT   -      Number of traces, one per worker and recording.
--   steps         BIGINT   -      Number of profiler steps in all traces.
--   events        BIGINT   -      Number of events in all traces.
--   mean_step_us  DOUBLE   us     Mean length of a step as in step_breakdown, without tail steps.
--   source_bytes  BIGINT   bytes  Size of the trace files, as stored. A file with several processes counts once.
--   first_ns      BIGINT   ns     Start of the first event, nanoseconds since the epoch; NULL if no trace says when it was recorded.
--   last_ns       BIGINT   ns     End of the last event.
--   devices       BIGINT   -      Number of devices that ran something; a device that two workers used counts twice.
--   gpus          VARCHAR  -      Models of the devices, e.g. 'NVIDIA A100-SXM4-40GB'; NULL if no trace names them.
--   world_size    INTEGER  -      Number of ranks in the job, some of which may not be in the warehouse; NULL if no trace records it.
--   backend       VARCHAR  -      Communication backend of the job, e.g. 'nccl'; NULL if no trace records it.
CREATE MACRO runs_v1() AS TABLE
    WITH
    files AS (
        SELECT
            t.run,
            count(DISTINCT t.worker) AS workers,
            count(DISTINCT t.span) AS spans,
            count(*) AS traces,
            sum(t.events)::BIGINT AS events,
            min(t.start_ns) FILTER (WHERE has_epoch(t.skipped_reasons)) AS first_ns,
            max(t.end_ns) FILTER (WHERE has_epoch(t.skipped_reasons)) AS last_ns,
            max(t.world_size) AS world_size,
            string_agg(DISTINCT t.backend, ', ' ORDER BY t.backend) AS backend
        FROM traces AS t
        GROUP BY t.run
    ),

    -- A file with several processes is a trace for each of them.
    sizes AS (
        SELECT s.run, sum(s.source_bytes)::BIGINT AS source_bytes
        FROM (
            SELECT DISTINCT t.run, t.source_path, t.source_bytes
            FROM traces AS t
        ) AS s
        GROUP BY s.run
    ),

    numbered_steps AS (
        SELECT
            s.run,
            count(s.step) AS steps,
            avg(s.extended_end_ns - s.extended_start_ns) FILTER (
                WHERE s.step IS NOT NULL AND NOT s.is_tail
            ) / 1000 AS mean_step_us
        FROM steps AS s
        GROUP BY s.run
    ),

    used_devices AS (
        SELECT DISTINCT d.run, d.worker, d.device_id
        FROM used_devices() AS d
        WHERE d.device_id IS NOT NULL
    ),

    counted_devices AS (
        SELECT d.run, count(*) AS devices
        FROM used_devices AS d
        GROUP BY d.run
    ),

    named_devices AS (
        SELECT d.run, string_agg(DISTINCT d.name, ', ' ORDER BY d.name) AS gpus
        FROM devices AS d
        GROUP BY d.run
    )

    SELECT
        f.run,
        f.workers,
        f.spans,
        f.traces,
        coalesce(s.steps, 0) AS steps,
        f.events,
        s.mean_step_us,
        b.source_bytes,
        f.first_ns,
        f.last_ns,
        coalesce(d.devices, 0) AS devices,
        n.gpus,
        f.world_size,
        f.backend
    FROM files AS f
    INNER JOIN sizes AS b ON f.run = b.run
    LEFT JOIN numbered_steps AS s ON f.run = s.run
    LEFT JOIN counted_devices AS d ON f.run = d.run
    LEFT JOIN named_devices AS n ON f.run = n.run
    ORDER BY f.last_ns DESC NULLS LAST, f.run ASC;
