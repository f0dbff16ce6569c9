-- block: trace_gpus
-- since: 0.1
-- summary: Devices of each trace and its host, and how many of them were used.
-- grain: one row per trace
-- uses: jobs, used_devices
--
-- Workers of the same run, recording and host share its devices. Device numbers are not compared with those
-- of the device properties, because on AMD the two differ.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   backend           VARCHAR  -  Backend of the job's default process group.
--   has_all_ranks     BOOLEAN  -  Whether all ranks were ingested of each job that ran on the host, as far as the traces tell, and each rank of the host recorded device work.
--   used_devices      BIGINT   -  Number of devices on which the trace ran work; 0 for none.
--   communicates      BOOLEAN  -  Whether collectives ran on them; NULL without device work.
--   capability        DOUBLE   -  Highest compute capability of the devices that the trace lists, e.g. 7.5.
--   seen_on_host      BIGINT   -  Number of devices that the traces of the host list; NULL for none.
--   used_on_host      BIGINT   -  Number of devices on which any trace of the host ran work.
--   is_first_on_host  BOOLEAN  -  Whether the worker is the first of its host by name, so that one worker reports for the host.
CREATE MACRO trace_gpus(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _used AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            list(d.device_id) AS device_ids,
            bool_or(d.communicates) AS communicates
        FROM used_devices(run := run, span := span) AS d
        GROUP BY d.run, d.worker, d.span
    ),

    _listed AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            count(*) AS devices,
            max(d.compute_major + d.compute_minor / 10.0) AS capability
        FROM devices AS d
        GROUP BY d.run, d.worker, d.span
    ),

    _jobs AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            count(DISTINCT coalesce(t.rank::VARCHAR, t.worker)) OVER (PARTITION BY j.job)
            >= coalesce(j.world_size, 1) AS is_complete
        FROM traces AS t
        INNER JOIN jobs(run, span) AS j
            ON t.run = j.run AND t.worker = j.worker AND t.span = j.span
    ),

    -- All workers count, also those that are not reported, so workers are filtered last.
    _traces AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.backend,
            -- A rank without device work may have used a device that its profiler did not record.
            bool_and(j.is_complete AND (t.rank IS NULL OR u.device_ids IS NOT NULL)) OVER host
                AS has_all_ranks,
            coalesce(len(u.device_ids), 0) AS used_devices,
            u.communicates,
            l.capability,
            max(l.devices) OVER host AS seen_on_host,
            len(list_distinct(flatten(list(coalesce(u.device_ids, [])) OVER host)))
                AS used_on_host,
            t.worker = min(t.worker) OVER host AS is_first_on_host
        FROM traces AS t
        INNER JOIN _jobs AS j ON t.run = j.run AND t.worker = j.worker AND t.span = j.span
        LEFT JOIN _used AS u ON t.run = u.run AND t.worker = u.worker AND t.span = u.span
        LEFT JOIN _listed AS l ON t.run = l.run AND t.worker = l.worker AND t.span = l.span
        WHERE (run IS NULL OR t.run = run) AND (span IS NULL OR t.span = span)
        WINDOW host AS (PARTITION BY t.run, t.span, t.hostname)
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.backend,
        t.has_all_ranks,
        t.used_devices,
        t.communicates,
        t.capability,
        t.seen_on_host,
        t.used_on_host,
        t.is_first_on_host
    FROM _traces AS t
    WHERE worker IS NULL OR t.worker = worker;
