-- block: event_roles
-- since: 0.1
-- summary: What each event does for the breakdown of a step: its role.
-- grain: one row per event that has a role
--
-- Device work is a kernel, a copy, a fill or a collective, by its kind; synchronisations, annotations
-- and profiler ranges on a device are not work and have no role. On the host a collective is an
-- operator or annotation in the name space of a backend (nccl:, gloo:, mpi:), or the c10d operator
-- that calls it; not every operator in c10d is one. ProfilerStep# and Python frames enclose work and
-- have no role.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   role         VARCHAR  -     'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader' or 'cpu_exec'.
--   on_device    BOOLEAN  -     Whether the event ran on a device.
--   start_ns     BIGINT   ns    Start, nanoseconds since the epoch.
--   duration_ns  BIGINT   ns    Length.
CREATE MACRO event_roles(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        d.run,
        d.worker,
        d.span,
        CASE WHEN d.kind = 'compute' THEN 'kernel' ELSE d.kind END AS role,
        TRUE AS on_device,
        d.start_ns,
        d.duration_ns
    FROM device_events AS d
    WHERE
        (run IS NULL OR d.run = run)
        AND (worker IS NULL OR d.worker = worker)
        AND (span IS NULL OR d.span = span)
        AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
    UNION ALL
    SELECT
        h.run,
        h.worker,
        h.span,
        CASE
            WHEN h.category NOT IN ('cpu_op', 'user_annotation') THEN 'runtime'
            WHEN
                starts_with(h.name, 'nccl:') OR starts_with(h.name, 'gloo:')
                OR starts_with(h.name, 'mpi:')
                OR regexp_matches(
                    h.name,
                    '^c10d::_?(allreduce|allgather|alltoall|broadcast|reduce_|gather|scatter'
                    || '|barrier|monitored_barrier|send|recv)'
                )
                THEN 'communication'
            WHEN
                starts_with(h.name, 'enumerate(DataLoader)#')
                OR starts_with(h.name, 'enumerate(DataPipe)#')
                THEN 'dataloader'
            ELSE 'cpu_exec'
        END,
        FALSE,
        h.start_ns,
        h.duration_ns
    FROM host_events AS h
    WHERE
        (run IS NULL OR h.run = run)
        AND (worker IS NULL OR h.worker = worker)
        AND (span IS NULL OR h.span = span)
        AND (
            ends_with(h.category, '_runtime')
            OR ends_with(h.category, '_driver')
            OR (
                h.category IN ('cpu_op', 'user_annotation')
                AND NOT starts_with(h.name, 'ProfilerStep#')
            )
        );
