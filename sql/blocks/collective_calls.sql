-- block: collective_calls
-- since: 0.1
-- summary: Each collective that a worker took part in, of any library.
-- grain: one row per collective and worker
-- uses: element_types, is_wanted
--
-- A collective of NCCL or RCCL is the kernel on the device; the nccl: row on the host only launches it and
-- does not count. Collectives of Gloo and MPI run on the host and are rows of the host; the c10d:: row only
-- calls them.
--
-- Name, type and sizes are in the arguments of the kernel since 2024. Before, and on the host, they come
-- from the row that is named after the library. The process group comes from the arguments, or is the
-- only one if the job has only one.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name           type       unit   meaning
--   event_id       BIGINT     key    Row in device_events or host_events.
--   on_device      BOOLEAN    -      Whether the row is in device_events.
--   device_id      INTEGER    -      Device that it ran on.
--   step           BIGINT     -      Step that launched it, or in which it started on the host; NULL outside of steps.
--   backend        VARCHAR    -      Library: 'nccl' (RCCL too), 'gloo' or 'mpi'; NULL where unknown.
--   name           VARCHAR    -      'all_reduce', 'all_gather', ..., as torch.distributed names it; the name of the row if that tells no more.
--   dtype          VARCHAR    -      Type of the elements, as torch names it.
--   elements       BIGINT     -      Number of elements in the worker's input.
--   bytes          BIGINT     bytes  Size of the message: the input; for all_gather and gather, the output.
--   group_name     VARCHAR    -      Process group.
--   group_ranks    INTEGER[]  -      Ranks in the process group.
--   group_size     INTEGER    -      Number of ranks in the process group.
--   sequence       BIGINT     -      Number of the collective in its group, if the trace has it.
--   is_split_even  BOOLEAN    -      Whether an all_to_all gives all ranks the same amount; NULL where not recorded.
--   start_ns       BIGINT     ns     Start, on the worker's own clock.
--   duration_ns    BIGINT     ns     Duration.
CREATE MACRO collective_calls(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _kernels AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.event_id,
            d.device_id,
            d.name,
            d.launch_id,
            d.op_id,
            d.collective,
            d.collective_dtype,
            d.in_elements,
            d.out_elements,
            d.in_split_sizes,
            d.group_name,
            d.group_ranks,
            d.group_size,
            try_cast(d.args ->> '$.Seq' AS BIGINT) AS sequence,
            d.start_ns,
            d.duration_ns
        FROM device_events AS d
        WHERE
            d.kind = 'communication'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _links AS (
        SELECT k.run, k.worker, k.span, k.launch_id AS event_id
        FROM _kernels AS k
        UNION
        SELECT k.run, k.worker, k.span, k.op_id
        FROM _kernels AS k
    ),

    _host AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.name,
            h.input_dims,
            h.input_types,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        SEMI JOIN _links AS l
            ON
                h.run = l.run AND h.worker = l.worker AND h.span = l.span
                AND h.event_id = l.event_id
    ),

    _rows AS (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.event_id,
            TRUE AS on_device,
            k.device_id,
            k.name AS row_name,
            k.collective,
            CASE WHEN regexp_matches(o.name, '^(nccl|gloo|mpi):') THEN o.name END AS annotation,
            k.collective_dtype,
            k.in_elements,
            k.out_elements,
            CASE
                WHEN k.collective IS NOT NULL
                    THEN coalesce(len(list_distinct(k.in_split_sizes)) < 2, TRUE)
            END AS is_split_even,
            o.input_dims,
            o.input_types,
            k.group_name,
            k.group_ranks,
            k.group_size,
            k.sequence,
            k.start_ns,
            k.duration_ns,
            coalesce(c.start_ns, o.start_ns) AS placed_from_ns,
            coalesce(c.end_ns, o.end_ns) AS placed_to_ns
        FROM _kernels AS k
        LEFT JOIN _host AS o
            ON
                k.run = o.run AND k.worker = o.worker AND k.span = o.span
                AND k.op_id = o.event_id
        LEFT JOIN _host AS c
            ON
                k.run = c.run AND k.worker = c.worker AND k.span = c.span
                AND k.launch_id = c.event_id
        UNION ALL
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            FALSE,
            NULL,
            h.name,
            NULL,
            h.name AS annotation,
            NULL,
            NULL,
            NULL,
            NULL,
            h.input_dims,
            h.input_types,
            NULL,
            NULL,
            NULL,
            NULL,
            h.start_ns,
            h.duration_ns,
            h.start_ns AS placed_from_ns,
            h.start_ns AS placed_to_ns
        FROM host_events AS h
        WHERE
            (starts_with(h.name, 'gloo:') OR starts_with(h.name, 'mpi:'))
            AND h.category IN ('cpu_op', 'user_annotation')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _groups AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            g.config ->> '$.pg_name' AS group_name,
            try_cast(replace(g.config ->> '$.ranks', '"', '') AS INTEGER[]) AS group_ranks,
            try_cast(g.config ->> '$.pg_size' AS INTEGER) AS group_size
        FROM traces AS t
        CROSS JOIN LATERAL (SELECT t.metadata -> '$.distributedInfo.pg_config[0]' AS config) AS g
        WHERE json_array_length(t.metadata, '$.distributedInfo.pg_config') = 1
    ),

    -- The collective as the row names it. Of a kernel's name, without its arguments: those name types.
    _said AS (
        SELECT
            r.*,
            coalesce(
                r.collective,
                r.annotation,
                regexp_extract(replace(r.row_name, '(anonymous namespace)::', ''), '^[^(<]*')
            ) AS said,
            CASE
                WHEN r.collective_dtype IS NOT NULL THEN r.collective_dtype
                WHEN r.annotation IS NOT NULL AND len(list_distinct(r.input_types)) = 1
                    THEN r.input_types[1]
            END AS raw_dtype,
            CASE
                WHEN r.annotation IS NOT NULL THEN try_cast(r.input_dims AS BIGINT[][])
            END AS shapes
        FROM _rows AS r
    ),

    _named AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.event_id,
            r.on_device,
            r.device_id,
            r.placed_from_ns,
            r.placed_to_ns,
            CASE
                WHEN r.annotation IS NOT NULL THEN regexp_extract(r.annotation, '^[a-z]+')
                WHEN r.row_name ILIKE '%nccl%' OR r.row_name ILIKE '%rccl%' THEN 'nccl'
            END AS backend,
            -- 'nccl:_all_gather_base' and '_allgather_base' without their underscores.
            CASE
                WHEN r.said ILIKE '%sparse%' THEN r.said
                WHEN r.said ILIKE '%barrier%' THEN 'barrier'
                WHEN replace(r.said, '_', '') ILIKE '%allreduce%' THEN 'all_reduce'
                WHEN r.said ILIKE '%cross_device_reduce%' THEN 'all_reduce'
                WHEN replace(r.said, '_', '') ILIKE '%allgather%' THEN 'all_gather'
                WHEN replace(r.said, '_', '') ILIKE '%reducescatter%' THEN 'reduce_scatter'
                WHEN replace(r.said, '_', '') ILIKE '%alltoall%' THEN 'all_to_all'
                WHEN r.said ILIKE '%broadcast%' THEN 'broadcast'
                WHEN r.said ILIKE '%sendrecv%' THEN 'send_recv'
                WHEN r.said ILIKE '%gather%' THEN 'gather'
                WHEN r.said ILIKE '%scatter%' THEN 'scatter'
                WHEN r.said ILIKE '%reduce%' THEN 'reduce'
                WHEN r.said ILIKE '%send%' THEN 'send'
                WHEN r.said ILIKE '%recv%' OR r.said ILIKE '%receive%' THEN 'recv'
                ELSE r.said
            END AS name,
            r.raw_dtype,
            CASE
                WHEN r.in_elements IS NOT NULL THEN r.in_elements
                -- A list of tensors among the inputs leaves a NULL in the shapes.
                WHEN
                    r.raw_dtype IS NOT NULL
                    AND len(flatten(r.shapes)) = list_count(flatten(r.shapes))
                    THEN
                        list_sum(
                            list_transform(
                                r.shapes, LAMBDA shape: coalesce(list_product(shape), 1)
                            )
                        )::BIGINT
            END AS in_elements,
            r.out_elements,
            r.is_split_even,
            coalesce(r.group_name, g.group_name) AS group_name,
            coalesce(r.group_ranks, g.group_ranks) AS group_ranks,
            coalesce(r.group_size, g.group_size) AS group_size,
            r.sequence,
            r.start_ns,
            r.duration_ns
        FROM _said AS r
        LEFT JOIN _groups AS g ON r.run = g.run AND r.worker = g.worker AND r.span = g.span
    ),

    -- Where two steps overlap, the later one gets the overlap, as in event_steps.
    _steps AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.start_ns,
            s.end_ns,
            lead(s.start_ns) OVER (
                PARTITION BY s.run, s.worker, s.span ORDER BY s.start_ns, s.event_id
            ) AS next_start_ns
        FROM steps AS s
        WHERE s.step IS NOT NULL AND is_wanted(s.run, s.worker, s.span, run, worker, span)
    )

    SELECT
        n.run,
        n.worker,
        n.span,
        n.event_id,
        n.on_device,
        n.device_id,
        s.step,
        n.backend,
        n.name,
        coalesce(e.dtype, n.raw_dtype) AS dtype,
        n.in_elements AS elements,
        CASE
            WHEN n.name IN ('all_gather', 'gather')
                THEN coalesce(n.out_elements, n.in_elements * n.group_size)
            ELSE n.in_elements
        END * e.element_bytes AS bytes,
        n.group_name,
        n.group_ranks,
        n.group_size,
        n.sequence,
        n.is_split_even,
        n.start_ns,
        n.duration_ns
    FROM _named AS n
    LEFT JOIN element_types() AS e ON replace(lower(n.raw_dtype), 'c10::', '') = e.name
    LEFT JOIN _steps AS s
        ON
            n.run = s.run AND n.worker = s.worker AND n.span = s.span
            AND n.placed_from_ns >= s.start_ns
            AND n.placed_from_ns < least(s.end_ns, s.next_start_ns)
            AND n.placed_to_ns <= s.end_ns;
