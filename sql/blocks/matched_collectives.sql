-- block: matched_collectives
-- since: 0.1
-- summary: Collectives of each worker, matched with the same collectives of the other workers.
-- grain: one row per collective and worker
-- uses: collective_calls, is_wanted, jobs
--
-- Two rows are the same collective if both ran on the host or both on devices, if job (see the block jobs), step, process
-- group, name and element type agree, and if they have the same position among such rows. The position is the number
-- that the trace gives them in their group, whatever their step, or else their order by start among their worker's rows.
-- If every rank has the same number of elements, the number must agree too. If the workers have different numbers of such
-- rows, some are missing, and none is compared. send and recv are not compared, because their order differs by pair.
--
-- Collectives without a process group are not compared if the trace lists a group that lacks some ranks: they may
-- be those of different groups. Nor is anything compared of a job in which a rank has several traces in the recording.
--
-- A collective starts to transfer when the last rank arrives, and ends on all ranks together. So the
-- shortest row is that of the last rank to arrive, and its duration is the transfer time. The rest of a
-- longer row is waiting. Only durations are used, so this holds even if the clocks differ.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name             type       unit   meaning
--   event_id         BIGINT     key    Row in device_events or host_events.
--   on_device        BOOLEAN    -      Whether the row is in device_events.
--   device_id        INTEGER    -      Device that it ran on.
--   step             BIGINT     -      Step that launched it; NULL outside of steps.
--   backend          VARCHAR    -      Library that ran it.
--   name             VARCHAR    -      Name of the collective.
--   dtype            VARCHAR    -      Type of the elements.
--   bytes            BIGINT     bytes  Size of the message.
--   group_name       VARCHAR    -      Process group.
--   group_size       INTEGER    -      Number of ranks in the process group.
--   is_split_even    BOOLEAN    -      Whether an all_to_all gives all ranks the same amount; NULL where not recorded.
--   occurrence       BIGINT     -      Number of this collective, from 1, among equal ones of its worker and step.
--   start_ns         BIGINT     ns     Start, on the worker's own clock.
--   duration_ns      BIGINT     ns     Duration.
--   match_id         BIGINT     key    Number shared by all rows of the same collective, and no others.
--   members          BIGINT     -      Number of rows of the collective, this one included.
--   transfer_ns      BIGINT     ns     Duration of the shortest of them; NULL if there is nothing to compare with.
--   longest_ns       BIGINT     ns     Duration of the longest of them.
--   last_worker      VARCHAR    -      Worker of the shortest row, if the collective makes all ranks wait for the last.
--   is_last          BOOLEAN    -      Whether this row is the shortest.
--   do_clocks_agree  BOOLEAN    -      Whether the rows overlap, as they must if the collective makes all ranks wait.
CREATE MACRO matched_collectives(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _groups AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            list_min(
                try_cast(t.metadata ->> '$.distributedInfo.pg_config[*].pg_size' AS INTEGER[])
            ) < t.world_size AS has_partial_groups,
            j.job,
            j.is_repeated
        FROM traces AS t
        INNER JOIN jobs(run, span) AS j
            ON t.run = j.run AND t.worker = j.worker AND t.span = j.span
        WHERE is_wanted(t.run, t.worker, t.span, run, NULL, span)
    ),

    -- All workers count, also those that are not reported, so workers are filtered last.
    _calls AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.event_id,
            c.on_device,
            c.device_id,
            c.step,
            c.backend,
            c.name,
            c.dtype,
            c.bytes,
            c.group_name,
            c.group_size,
            c.group_ranks,
            c.is_split_even,
            c.sequence,
            c.start_ns,
            c.duration_ns,
            g.job,
            CASE
                WHEN
                    c.name IN (
                        'all_reduce', 'all_gather', 'reduce_scatter', 'broadcast', 'reduce'
                    )
                    THEN c.elements
            END AS shared_elements,
            -- On the host, only the root of a scatter records its input.
            CASE WHEN c.name <> 'scatter' THEN c.dtype END AS shared_dtype,
            c.name IN ('all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier')
                AS is_synchronizing,
            c.name IN (
                'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier',
                'broadcast', 'reduce', 'gather', 'scatter'
            )
            AND NOT coalesce(g.is_repeated, FALSE)
            AND (c.group_name IS NOT NULL OR coalesce(NOT g.has_partial_groups, TRUE))
                AS is_comparable
        FROM collective_calls(run, NULL, span) AS c
        LEFT JOIN _groups AS g ON c.run = g.run AND c.worker = g.worker AND c.span = g.span
    ),

    -- Numbers to join by, and windows without partitions: a window with partitions costs 30 ms even for
    -- few rows.
    _numbered AS (
        SELECT
            c.*,
            dense_rank() OVER (
                ORDER BY
                    c.run, c.span, c.step, c.group_name, c.group_ranks, c.name, c.shared_dtype,
                    c.shared_elements
            ) AS kind_id,
            -- A number in the group holds whatever the steps of the workers are.
            dense_rank() OVER (
                ORDER BY
                    c.run, c.span, c.job, CASE WHEN c.sequence IS NULL THEN c.step END,
                    c.group_name, c.group_ranks, c.on_device, c.name, c.shared_dtype,
                    c.shared_elements, c.sequence
            ) AS sequence_id,
            dense_rank() OVER (ORDER BY c.run, c.worker, c.span, c.device_id) AS member_id
        FROM _calls AS c
    ),

    _ordered AS MATERIALIZED (
        SELECT
            n.*,
            -- Of one worker and device. If these were joined by two numbers, the number that both joins
            -- share would be joined first, which gives the square of the rows.
            dense_rank() OVER (ORDER BY n.member_id, n.kind_id) AS own_kind_id,
            dense_rank() OVER (ORDER BY n.member_id, n.sequence_id) AS own_sequence_id,
            row_number() OVER (ORDER BY n.member_id, n.sequence_id, n.start_ns, n.event_id)
                AS position
        FROM _numbered AS n
    ),

    _kinds AS (
        SELECT o.own_kind_id, min(o.position) AS first_position
        FROM _ordered AS o
        GROUP BY o.own_kind_id
    ),

    _sequences AS MATERIALIZED (
        SELECT
            o.sequence_id,
            o.own_sequence_id,
            min(o.position) AS first_position,
            count(*) AS calls
        FROM _ordered AS o
        GROUP BY o.sequence_id, o.own_sequence_id
    ),

    -- If the numbers differ, no place is compared, those that only some workers reach included.
    _numbers AS (
        SELECT s.sequence_id, min(s.calls) = max(s.calls) AS are_equal
        FROM _sequences AS s
        GROUP BY s.sequence_id
    ),

    _placed AS MATERIALIZED (
        SELECT
            o.*,
            o.position - k.first_position + 1 AS occurrence,
            o.position - s.first_position AS place
        FROM _ordered AS o
        INNER JOIN _kinds AS k ON o.own_kind_id = k.own_kind_id
        INNER JOIN _sequences AS s ON o.own_sequence_id = s.own_sequence_id
    ),

    _matches AS (
        SELECT
            p.sequence_id,
            p.place,
            min(p.position) AS match_id,
            count(*) AS calls,
            bool_and(p.is_comparable AND n.are_equal) AS is_matched,
            -- A group of one rank waits for nobody.
            count(*) > 1 OR max(p.group_size) = 1 AS is_comparison,
            min(p.duration_ns) AS shortest_ns,
            max(p.duration_ns) AS longest_ns,
            max(p.start_ns) <= min(p.start_ns + p.duration_ns) AS have_common_instant,
            arg_min(p.position, (p.duration_ns, p.member_id)) AS shortest_position,
            arg_min(p.worker, (p.duration_ns, p.member_id)) AS shortest_worker
        FROM _placed AS p
        INNER JOIN _numbers AS n ON p.sequence_id = n.sequence_id
        GROUP BY p.sequence_id, p.place
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.event_id,
        p.on_device,
        p.device_id,
        p.step,
        p.backend,
        p.name,
        p.dtype,
        p.bytes,
        p.group_name,
        p.group_size,
        p.is_split_even,
        p.occurrence,
        p.start_ns,
        p.duration_ns,
        CASE WHEN m.is_matched THEN m.match_id ELSE p.position END AS match_id,
        CASE WHEN m.is_matched THEN m.calls ELSE 1 END AS members,
        CASE WHEN m.is_matched AND m.is_comparison THEN m.shortest_ns END AS transfer_ns,
        CASE WHEN m.is_matched AND m.is_comparison THEN m.longest_ns END AS longest_ns,
        CASE
            WHEN m.is_matched AND m.is_comparison AND p.is_synchronizing THEN m.shortest_worker
        END AS last_worker,
        m.is_matched AND m.is_comparison AND p.is_synchronizing
        AND p.position = m.shortest_position AS is_last,
        CASE
            WHEN m.is_matched AND p.is_synchronizing AND m.calls > 1 THEN m.have_common_instant
        END AS do_clocks_agree
    FROM _placed AS p
    INNER JOIN _matches AS m ON p.sequence_id = m.sequence_id AND p.place = m.place
    WHERE worker IS NULL OR p.worker = worker;
