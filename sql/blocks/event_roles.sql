-- block: event_roles
-- since: 0.1
-- summary: Role of each event in the breakdown of a step.
-- grain: one row per event with a role
-- uses: is_label, is_wanted
--
-- Device work is a kernel, a copy, a memset or a collective, by its kind. Synchronisations, annotations
-- and profiler ranges on a device are not work and have no role. On the host, a collective is an operator
-- or annotation in the name space of a backend (nccl:, gloo:, mpi:), or the c10d operator that calls it; not
-- every c10d operator is one. ProfilerStep# and Python frames enclose work and have no role.
--
-- A collective has the role communication where it runs. Gloo and MPI run on the host: their rows, and the
-- c10d operators that call them, always count. NCCL runs on the device. If a trace has kernels, the kernels
-- count, and the nccl: rows and the c10d operators that call them count as other operators, because they
-- only launch. If a trace of a GPU program has no kernels because it was recorded without them, the host
-- rows are all there is, and count.
--
-- The content of a c10d operator tells which backend it calls. NCCL writes its rows (nccl: and
-- record_param_comms) inside the operator; Gloo and MPI write theirs on threads of their own. So an
-- operator that encloses no NCCL row and launches no collective calls Gloo or MPI, if the trace has rows of
-- these or names them as the backend of a process group.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   role         VARCHAR  -     'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'label' or 'cpu_exec'.
--   on_device    BOOLEAN  -     Whether the event ran on a device.
--   start_ns     BIGINT   ns    Start, nanoseconds since the epoch.
--   duration_ns  BIGINT   ns    Duration.
CREATE MACRO event_roles(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _with_kernels AS MATERIALIZED (
        SELECT DISTINCT d.run, d.worker, d.span
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    -- Host rows of collectives.
    _rows AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.parent_id,
            h.name,
            regexp_extract(h.name, '^\w+') AS source,
            h.start_ns,
            h.duration_ns
        FROM host_events AS h
        WHERE
            is_wanted(h.run, h.worker, h.span, run, worker, span)
            AND h.category IN ('cpu_op', 'user_annotation')
            AND regexp_matches(h.name, '^((nccl|gloo|mpi|c10d):|record_param_comms$)')
    ),

    _enclosed AS (
        SELECT r.run, r.worker, r.span, r.parent_id AS event_id
        FROM _rows AS r
        WHERE r.source IN ('nccl', 'record_param_comms')
        UNION
        SELECT d.run, d.worker, d.span, d.op_id
        FROM device_events AS d
        WHERE
            d.kind = 'communication'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    -- Rows that enclose events of a device collective, and the rows around them.
    _on_devices AS (
        SELECT e.run, e.worker, e.span, e.event_id
        FROM _enclosed AS e
        UNION
        SELECT r.run, r.worker, r.span, r.parent_id
        FROM _on_devices AS o
        INNER JOIN _rows AS r
            ON
                o.run = r.run AND o.worker = r.worker AND o.span = r.span
                AND o.event_id = r.event_id
    ),

    _with_host_backends AS (
        SELECT r.run, r.worker, r.span
        FROM _rows AS r
        WHERE r.source IN ('gloo', 'mpi')
        UNION
        SELECT t.run, t.worker, t.span
        FROM traces AS t
        WHERE
            regexp_matches(
                concat_ws(
                    ',',
                    t.backend,
                    array_to_string(
                        json_extract_string(
                            t.metadata, '$.distributedInfo.pg_config[*].backend_config'
                        ),
                        ','
                    )
                ),
                '\b(gloo|mpi)\b'
            )
    ),

    _told_apart AS (
        SELECT
            r.*,
            CASE
                WHEN r.source IN ('gloo', 'mpi') OR k.run IS NULL THEN TRUE
                WHEN r.source = 'nccl' THEN FALSE
                ELSE b.run IS NOT NULL AND o.event_id IS NULL
            END AS counts
        FROM _rows AS r
        LEFT JOIN _with_kernels AS k
            ON r.run = k.run AND r.worker = k.worker AND r.span = k.span
        LEFT JOIN _with_host_backends AS b
            ON r.run = b.run AND r.worker = b.worker AND r.span = b.span
        LEFT JOIN _on_devices AS o
            ON
                r.run = o.run AND r.worker = o.worker AND r.span = o.span
                AND r.event_id = o.event_id
        WHERE r.source IN ('nccl', 'gloo', 'mpi', 'c10d')
    )

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
        is_wanted(d.run, d.worker, d.span, run, worker, span)
        AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
    UNION ALL
    SELECT
        t.run,
        t.worker,
        t.span,
        CASE
            WHEN
                t.counts
                AND (
                    t.source <> 'c10d'
                    OR regexp_matches(
                        t.name,
                        '^c10d::_?(allreduce|allgather|alltoall|broadcast|reduce_|gather|scatter'
                        || '|barrier|monitored_barrier|send|recv)'
                    )
                )
                THEN 'communication'
            ELSE 'cpu_exec'
        END,
        FALSE,
        t.start_ns,
        t.duration_ns
    FROM _told_apart AS t
    UNION ALL
    SELECT
        h.run,
        h.worker,
        h.span,
        CASE
            WHEN h.category NOT IN ('cpu_op', 'user_annotation') THEN 'runtime'
            WHEN
                starts_with(h.name, 'enumerate(DataLoader)#')
                OR starts_with(h.name, 'enumerate(DataPipe)#')
                THEN 'dataloader'
            WHEN is_label(h.category, h.name) THEN 'label'
            ELSE 'cpu_exec'
        END,
        FALSE,
        h.start_ns,
        h.duration_ns
    FROM host_events AS h
    WHERE
        is_wanted(h.run, h.worker, h.span, run, worker, span)
        AND (
            ends_with(h.category, '_runtime')
            OR ends_with(h.category, '_driver')
            OR (
                h.category IN ('cpu_op', 'user_annotation')
                AND NOT starts_with(h.name, 'ProfilerStep#')
                AND NOT regexp_matches(h.name, '^(nccl|gloo|mpi|c10d):')
            )
        );
