-- view: topology
-- version: 1
-- since: 0.1
-- summary: Hosts, processes and devices that a run used.
-- grain: one row per worker and device that it used; one row without a device for a worker that used none
-- distributes: worker
-- order: run, hostname, rank, worker, device_id
-- uses: is_wanted, used_devices
-- carries: spark
-- example: samples --run ddp_gloo
--
-- A worker uses a device if a kernel, copy or memset ran on it. All recordings of a worker are combined;
-- where they differ, the highest value counts.
--
-- params
--   run, worker, span
-- columns
--   name         type     unit  meaning
--   run          VARCHAR  key   Run the row belongs to.
--   hostname     VARCHAR  -     Host of the process; NULL if neither the trace nor its name tells.
--   worker       VARCHAR  key   Worker that recorded the trace.
--   process_id   BIGINT   -     Process that recorded the trace.
--   rank         INTEGER  -     Rank of the process in the job; NULL where not recorded.
--   world_size   INTEGER  -     Number of ranks in the job, some of which may not be in the warehouse.
--   device_id    INTEGER  key   Device that the process used; NULL where it used none.
--   device_name  VARCHAR  -     Product name of the device.
CREATE MACRO topology_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    workers AS (
        SELECT
            t.run,
            t.worker,
            max(t.hostname) AS hostname,
            max(t.process_id) AS process_id,
            max(t.rank) AS "rank",
            max(t.world_size) AS world_size
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
        GROUP BY t.run, t.worker
    ),

    used AS (
        SELECT DISTINCT
            d.run,
            d.worker,
            d.device_id
        FROM used_devices(run, worker, span) AS d
        WHERE d.device_id IS NOT NULL
    ),

    named AS (
        SELECT
            p.run,
            p.worker,
            p.device_id,
            max(p.name) AS device_name
        FROM devices AS p
        WHERE is_wanted(p.run, p.worker, p.span, run, worker, span)
        GROUP BY p.run, p.worker, p.device_id
    )

    SELECT
        w.run,
        w.hostname,
        w.worker,
        w.process_id,
        w."rank",
        w.world_size,
        u.device_id,
        n.device_name
    FROM workers AS w
    LEFT JOIN used AS u ON w.run = u.run AND w.worker = u.worker
    LEFT JOIN named AS n
        ON u.run = n.run AND u.worker = n.worker AND u.device_id = n.device_id
    ORDER BY w.run, w.hostname, w."rank", w.worker, u.device_id;
