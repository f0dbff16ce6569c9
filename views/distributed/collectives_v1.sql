-- view: collectives
-- version: 1
-- since: 0.1
-- summary: Each collective of each worker: what it moved, how fast, and how long it waited for others.
-- grain: one row per collective and worker
-- distributes: run
-- combines: collective_calls()
-- order: duration_us DESC, run, worker, span, start_ns, event_id
-- empty: No collective was recorded, on a device or on the host: a job of one process has none; of NCCL and RCCL record with ProfilerActivity.CUDA.
-- uses: matched_collectives, ratio
-- example: samples --run ddp_gloo --limit 6
-- reading: The longest are broadcasts of a few bytes, which mostly wait for the other rank.
--
-- A collective of NCCL or RCCL is the kernel on the device; the nccl: row on the host only launches
-- it. Gloo and MPI run on the host and have their row there. Collectives of different workers are
-- the same one by recording, step, process group, name, element type and order, never by clock.
-- Where the workers have different numbers of them some are missing, and none is compared; nor are
-- send and recv.
--
-- A collective goes on when the last rank has come, and ends for all together: the shortest row among
-- the workers is the transfer, what another is longer by its wait. Where only part of the ranks is
-- here (members against group_size) the last one may be missing, and the transfer is shorter still.
--
-- Bandwidths are those of nccl-tests (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md), in 10^9
-- bytes per second. Algorithm bandwidth is bytes by transfer time, or by the whole duration, and then
-- a lower bound, where there is nothing to compare with. Bus bandwidth is that times 2(n-1)/n for
-- all_reduce, (n-1)/n for reduce_scatter, all_gather, all_to_all, gather and scatter, and 1 for
-- broadcast and reduce, with n ranks in the group.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                      type     unit   meaning
--   step                      BIGINT   -      Step that launched it, or that it started in on the host; NULL outside of all.
--   name                      VARCHAR  -      'all_reduce', 'all_gather', 'broadcast', ..., as torch.distributed has it.
--   dtype                     VARCHAR  -      Type of the elements, as torch has it.
--   group_name                VARCHAR  -      Process group; NULL where the trace does not say.
--   group_size                INTEGER  -      Its number of ranks.
--   occurrence                BIGINT   -      Which of the collectives of its worker, step and group that are alike it is, from 1.
--   bytes                     BIGINT   bytes  Size of the message: what the worker puts in, of all_gather and gather what comes out.
--   start_ns                  BIGINT   ns     Start on the clock of its worker; compare it with others where do_clocks_agree.
--   duration_us               DOUBLE   us     Length.
--   wait_us                   DOUBLE   us     Part of it spent waiting for the last worker.
--   transfer_us               DOUBLE   us     The rest, the same for all workers; NULL, as the wait, where there is nothing to compare with.
--   algorithm_bandwidth_gbps  DOUBLE   gbps   Size by transfer time.
--   bus_bandwidth_gbps        DOUBLE   gbps   The same as the load of a link, to be compared with what the hardware can do; NULL where the size of the group is unknown, and for an all_to_all that gives ranks different amounts.
--   members                   BIGINT   -      Workers and devices in the warehouse that took part in it, itself included.
--   do_clocks_agree           BOOLEAN  -      False where members have no instant in common although all must wait for the last: the clocks of their hosts differ, or rows are missing and they are not the same collective.
--   backend                   VARCHAR  -      'nccl' (RCCL too), 'gloo' or 'mpi'; NULL where unknown.
--   device_id                 INTEGER  -      Device that it ran on; NULL on the host.
--   event_id                  BIGINT   key    The row, in device_events, or in host_events for gloo and mpi.
CREATE MACRO collectives_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    timed AS (
        SELECT
            m.*,
            ratio(m.bytes, coalesce(m.transfer_ns, m.duration_ns)) AS bytes_per_ns
        FROM matched_collectives(run, worker, span) AS m
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
        t.start_ns,
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
        t.do_clocks_agree,
        t.backend,
        t.device_id,
        t.event_id
    FROM timed AS t
    ORDER BY
        t.duration_ns DESC, t.run ASC, t.worker ASC, t.span ASC, t.start_ns ASC, t.event_id ASC;
