-- view: collectives
-- version: 1
-- since: 0.1
-- summary: Each collective of each worker: message size, bandwidth, transfer time and time spent waiting for other workers.
-- grain: one row per collective and worker
-- distributes: run
-- combines: traces; collective_calls()
-- order: duration_us DESC, run, worker, span, start_ns, event_id
-- empty: No collective was recorded, on a device or on the host: a job of one process has none; for those on a device {record device}.
-- uses: aligned_clocks, matched_collectives, ratio
-- example: samples --run ddp_gloo --limit 6
-- reading: The longest are broadcasts of a few bytes, which mostly wait for the other rank.
--
-- A collective of NCCL or RCCL is the kernel on the device; the nccl: row on the host only launches it.
-- Collectives of Gloo and MPI run on the host and are rows of the host. Rows of different workers are the
-- same collective if recording, step, process group, name, element type and order agree; clocks are not
-- used. If the trace numbers the collectives of a group, the number counts, not step and order. If the workers have
-- different numbers of collectives, some are missing, and none is compared. Collectives that name no group are not
-- compared if the job has groups that lack some ranks, and nothing is if a rank of the job has several traces in the
-- recording. Traces with different numbers of ranks are of different jobs. send and recv are not compared either.
--
-- A collective starts to transfer when the last rank arrives, and ends on all ranks together. So the
-- shortest row among the workers is the transfer time, and the rest of a longer row is waiting. If only some
-- of the ranks are in the warehouse (compare members with group_size), the last one may be missing, and
-- the real transfer time is shorter.
--
-- Bandwidths are those of nccl-tests (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md), in 10^9 bytes per
-- second. Algorithm bandwidth is bytes divided by transfer time. If there is nothing to compare with, it
-- is bytes divided by the whole duration, which is a lower bound. Bus bandwidth is algorithm bandwidth
-- times 2(n-1)/n for all_reduce, (n-1)/n for reduce_scatter, all_gather, all_to_all, gather and scatter,
-- and 1 for broadcast and reduce, with n ranks in the group.
--
-- Where the clocks of hosts differ, as far as collectives tell, start_ns is moved to the mean clock, as the view clocks
-- has it, and is_moved says so. It is not moved where clocks are not connected, where no offset is possible, or where
-- that would change times by less than the spread. Only start_ns and do_clocks_agree depend on clocks.
--
-- params
--   run, worker, span
--   name   type     unit  default  meaning
--   align  BOOLEAN  -     TRUE     Whether to move start_ns to one clock.
-- columns
--   run, worker, span
--   name                      type     unit   meaning
--   step                      BIGINT   -      Step that launched it, or in which it started on the host; NULL outside of steps.
--   name                      VARCHAR  -      'all_reduce', 'all_gather', 'broadcast', ..., as torch.distributed names it.
--   dtype                     VARCHAR  -      Type of the elements, as torch names it.
--   group_name                VARCHAR  -      Process group; NULL where not recorded.
--   group_size                INTEGER  -      Number of ranks in the process group.
--   occurrence                BIGINT   -      Number of this collective, from 1, among equal ones of its worker, step and group.
--   bytes                     BIGINT   bytes  Size of the message: the input of the worker; for all_gather and gather, the output.
--   start_ns                  BIGINT   ns     Start, on the worker's clock or moved from it to the mean clock; comparable with other workers if do_clocks_agree.
--   duration_us               DOUBLE   us     Duration of the row.
--   wait_us                   DOUBLE   us     Part of the duration spent waiting for the last worker.
--   transfer_us               DOUBLE   us     The rest, equal on all workers; NULL, like wait_us, if there is nothing to compare with.
--   algorithm_bandwidth_gbps  DOUBLE   gbps   Bytes divided by transfer time.
--   bus_bandwidth_gbps        DOUBLE   gbps   The same as the load of a link, to be compared with the bandwidth of the hardware; NULL if the size of the group is unknown, and for an all_to_all that gives ranks different amounts.
--   members                   BIGINT   -      Number of workers and devices in the warehouse that took part in it, this one included.
--   do_clocks_agree           BOOLEAN  -      FALSE if members do not overlap although all must wait for the last: the clocks of their hosts differ and are not aligned, or rows are missing and these are different collectives.
--   backend                   VARCHAR  -      'nccl' (RCCL too), 'gloo' or 'mpi'; NULL where unknown.
--   device_id                 INTEGER  -      Device that it ran on; NULL on the host.
--   event_id                  BIGINT   key    Row in device_events; in host_events for gloo and mpi.
--   is_moved                  BOOLEAN  -      Whether start_ns is moved from the worker's clock to the mean clock.
CREATE MACRO collectives_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    align BOOLEAN := TRUE
) AS TABLE
    WITH
    -- All workers count, also those that are not reported.
    matched AS MATERIALIZED (
        SELECT m.* FROM matched_collectives(run, NULL, span) AS m
    ),

    moves AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.offset_ns,
            a.drift,
            a.at_ns
        FROM aligned_clocks('matched', run, span) AS a
        WHERE align AND a.is_moved
    ),

    placed AS MATERIALIZED (
        SELECT
            m.*,
            o.offset_ns IS NOT NULL AS is_moved,
            m.start_ns - coalesce(
                o.offset_ns + round(o.drift * (m.start_ns - o.at_ns))::BIGINT, 0
            ) AS aligned_ns
        FROM matched AS m
        LEFT JOIN moves AS o ON m.run = o.run AND m.worker = o.worker AND m.span = o.span
    ),

    instants AS (
        SELECT
            p.match_id,
            max(p.aligned_ns) <= min(p.aligned_ns + p.duration_ns) AS have_common_instant
        FROM placed AS p
        GROUP BY p.match_id
        HAVING bool_or(p.is_moved)
    ),

    timed AS (
        SELECT
            p.*,
            ratio(p.bytes, coalesce(p.transfer_ns, p.duration_ns)) AS bytes_per_ns,
            CASE
                WHEN p.do_clocks_agree IS NOT NULL
                    THEN coalesce(o.have_common_instant, p.do_clocks_agree)
            END AS do_aligned_agree
        FROM placed AS p
        LEFT JOIN instants AS o ON p.match_id = o.match_id
        WHERE worker IS NULL OR p.worker = worker
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.step,
        t.name,
        t.dtype,
        t.group_name,
        t.group_size,
        t.occurrence,
        t.bytes,
        t.aligned_ns AS start_ns,
        t.duration_ns / 1000.0 AS duration_us,
        (t.duration_ns - t.transfer_ns) / 1000.0 AS wait_us,
        t.transfer_ns / 1000.0 AS transfer_us,
        t.bytes_per_ns AS algorithm_bandwidth_gbps,
        t.bytes_per_ns * CASE
            WHEN t.name IN ('broadcast', 'reduce') THEN 1
            WHEN t.name = 'all_reduce' THEN 2 * (t.group_size - 1) / t.group_size
            WHEN
                t.name IN ('reduce_scatter', 'all_gather', 'gather', 'scatter')
                OR (t.name = 'all_to_all' AND t.is_split_even)
                THEN (t.group_size - 1) / t.group_size
        END AS bus_bandwidth_gbps,
        t.members,
        t.do_aligned_agree AS do_clocks_agree,
        t.backend,
        t.device_id,
        t.event_id,
        t.is_moved
    FROM timed AS t
    ORDER BY
        t.duration_ns DESC, t.run ASC, t.worker ASC, t.span ASC, t.aligned_ns ASC,
        t.event_id ASC;
