-- block: matched_collectives
-- since: 0.1
-- summary: Collectives of a worker beside the same collectives of the other workers.
-- grain: one row per collective and worker
-- uses: collective_calls
--
-- Two rows are one collective when they are of the same recording, step, process group, name and
-- type of element, and are equally far in the order of those: by the number that the trace gives
-- them in their group, else by their start among their worker's rows. Rows of which every rank has as
-- many elements are also told apart by these. Where the workers have different numbers of such rows
-- some are missing, and none is compared. Send and recv are not, for their order differs by pair.
--
-- A collective cannot go on before the last rank has come, and ends for all together. So the
-- shortest row is that of the rank that came last, and tells what the transfer takes; what the others
-- are longer by is waiting. All of this is said by lengths, and holds if the clocks differ.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name             type       unit   meaning
--   event_id         BIGINT     key    The row, in device_events or host_events.
--   on_device        BOOLEAN    -      Whether it is in device_events.
--   device_id        INTEGER    -      Device that it ran on.
--   step             BIGINT     -      Step that launched it; NULL outside of all.
--   backend          VARCHAR    -      Library that ran it.
--   name             VARCHAR    -      Name of the collective.
--   dtype            VARCHAR    -      Type of the elements.
--   bytes            BIGINT     bytes  Size of the message.
--   group_name       VARCHAR    -      Process group.
--   group_size       INTEGER    -      Its number of ranks.
--   is_split_even    BOOLEAN    -      Whether an all_to_all gives all ranks the same; NULL where the trace does not say.
--   occurrence       BIGINT     -      Which of the alike collectives of its worker and step it is, from 1.
--   start_ns         BIGINT     ns     Start, on the worker's own clock.
--   duration_ns      BIGINT     ns     Length.
--   match_id         BIGINT     key    The same for all rows that are this collective, and for no other.
--   members          BIGINT     -      How many these are, its own included.
--   transfer_ns      BIGINT     ns     Length of the shortest of them; NULL where there is nothing to compare with.
--   longest_ns       BIGINT     ns     Length of the longest of them.
--   last_worker      VARCHAR    -      Worker of the shortest, where the collective makes all ranks wait for the last.
--   is_last          BOOLEAN    -      Whether the row is that one.
--   do_clocks_agree  BOOLEAN    -      Whether the rows have an instant in common, as they must where it makes all ranks wait.
CREATE MACRO matched_collectives(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- The other workers count although they are not reported, so workers are filtered last.
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
            CASE
                WHEN
                    c.name IN (
                        'all_reduce', 'all_gather', 'reduce_scatter', 'broadcast', 'reduce'
                    )
                    THEN c.elements
            END AS shared_elements,
            -- On the host only the root of a scatter names what it puts in.
            CASE WHEN c.name <> 'scatter' THEN c.dtype END AS shared_dtype,
            c.name IN ('all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier')
                AS is_synchronizing,
            c.name IN (
                'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier',
                'broadcast', 'reduce', 'gather', 'scatter'
            ) AS is_comparable
        FROM collective_calls(run, NULL, span) AS c
    ),

    -- Numbers to join by, and windows without partitions: a window with some costs 30 ms however
    -- few the rows are.
    _numbered AS (
        SELECT
            c.*,
            dense_rank() OVER (
                ORDER BY
                    c.run, c.span, c.step, c.group_name, c.group_ranks, c.name, c.shared_dtype,
                    c.shared_elements
            ) AS kind_id,
            dense_rank() OVER (
                ORDER BY
                    c.run, c.span, c.step, c.group_name, c.group_ranks, c.name, c.shared_dtype,
                    c.shared_elements, c.sequence
            ) AS sequence_id,
            dense_rank() OVER (ORDER BY c.run, c.worker, c.span, c.device_id) AS member_id
        FROM _calls AS c
    ),

    _ordered AS MATERIALIZED (
        SELECT
            n.*,
            -- Of one worker and device. Were these joined by two numbers, the one that both joins
            -- share would be joined first, into the square of the rows.
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

    _sequences AS (
        SELECT o.own_sequence_id, min(o.position) AS first_position, count(*) AS calls
        FROM _ordered AS o
        GROUP BY o.own_sequence_id
    ),

    _placed AS MATERIALIZED (
        SELECT
            o.*,
            o.position - k.first_position + 1 AS occurrence,
            o.position - s.first_position AS place,
            s.calls
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
            -- A group of one rank has nobody to wait for.
            bool_and(p.is_comparable) AND min(p.calls) = max(p.calls) AS is_matched,
            count(*) > 1 OR max(p.group_size) = 1 AS is_comparison,
            min(p.duration_ns) AS shortest_ns,
            max(p.duration_ns) AS longest_ns,
            max(p.start_ns) <= min(p.start_ns + p.duration_ns) AS have_common_instant,
            arg_min(p.position, (p.duration_ns, p.member_id)) AS shortest_position,
            arg_min(p.worker, (p.duration_ns, p.member_id)) AS shortest_worker
        FROM _placed AS p
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
