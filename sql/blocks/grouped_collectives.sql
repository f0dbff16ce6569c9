-- block: grouped_collectives
-- since: 0.2
-- summary: Each collective of each worker with its process group, named or detected.
-- grain: one row per collective and worker
-- uses: detected_groups, exposed_collectives, is_wanted, jobs, matched_collectives, worker_clocks
--
-- Groups without a name are those of detected_groups. There, collectives are matched by their place on the stream,
-- because matched_collectives takes equal collectives of all groups without a name for one. Where detected_groups
-- says nothing, all streams with one list count as one group that is not known, and nothing is compared.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   run, worker, span
--   name           type       unit   meaning
--   event_id       BIGINT     key    Row in device_events or host_events.
--   on_device      BOOLEAN    -      Whether the row is in device_events.
--   member_id      BIGINT     -      Number of the worker and device; in groups without a name, also of the stream.
--   group_number   BIGINT     -      Number of the group.
--   is_known       BOOLEAN    -      Whether the group is named, or was detected.
--   group_name     VARCHAR    -      Name of the group.
--   description    VARCHAR    -      Description of the group.
--   is_complete    BOOLEAN    -      Whether all ranks of the job are in the warehouse.
--   ranks          INTEGER[]  -      Ranks of the group; of one that was detected, those in the warehouse.
--   size           INTEGER    -      Number of ranks in the group; of one that was detected, of its members, if the job is complete.
--   gap            DOUBLE     -      As in detected_groups.
--   name           VARCHAR    -      Name of the collective.
--   is_split_even  BOOLEAN    -      Whether an all_to_all gives all ranks the same amount; NULL where not recorded.
--   bytes          BIGINT     bytes  Size of the message.
--   duration_ns    BIGINT     ns     Duration.
--   transfer_ns    BIGINT     ns     Duration of the shortest of its members; NULL if there is nothing to compare with.
--   exposed_ns     BIGINT     ns     Part of it in which none of the worker's other kernels ran; NULL on the host.
CREATE MACRO grouped_collectives(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _workers AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            t."rank",
            c.config ->> '$.pg_desc' AS description,
            try_cast(replace(c.config ->> '$.ranks', '"', '') AS INTEGER[]) AS ranks,
            row_number() OVER (ORDER BY t.run, t.worker, t.span) AS trace_id,
            j.job,
            k.clock_id,
            coalesce(
                count(DISTINCT coalesce(t."rank"::VARCHAR, t.worker)) OVER (PARTITION BY j.job)
                >= j.world_size,
                FALSE
            ) AS is_complete
        FROM traces AS t
        INNER JOIN jobs(run, span) AS j
            ON t.run = j.run AND t.worker = j.worker AND t.span = j.span
        INNER JOIN worker_clocks(run, span) AS k
            ON t.run = k.run AND t.worker = k.worker AND t.span = k.span
        CROSS JOIN
            LATERAL (
                SELECT
                    CASE
                        WHEN json_array_length(t.metadata, '$.distributedInfo.pg_config') = 1
                            THEN t.metadata -> '$.distributedInfo.pg_config[0]'
                    END AS config
            ) AS c
        WHERE is_wanted(t.run, t.worker, t.span, run, NULL, span)
    ),

    _matched AS MATERIALIZED (
        SELECT
            m.*,
            w.trace_id,
            w.job,
            w.clock_id,
            w.is_complete,
            w."rank",
            coalesce(k.group_description, w.description) AS description,
            coalesce(k.group_ranks, w.ranks) AS group_ranks,
            k.exposed_ns,
            row_number() OVER (ORDER BY w.trace_id, m.on_device, m.start_ns, m.event_id) AS id,
            dense_rank() OVER (
                ORDER BY
                    w.trace_id,
                    m.device_id,
                    -- A named group may use a stream for each peer.
                    CASE WHEN m.group_name IS NULL THEN k.stream_id END
            ) AS member_id
        FROM matched_collectives(run, NULL, span) AS m
        INNER JOIN _workers AS w ON m.run = w.run AND m.worker = w.worker AND m.span = w.span
        LEFT JOIN exposed_collectives(run, NULL, span) AS k
            ON
                m.run = k.run AND m.worker = k.worker AND m.span = k.span
                AND m.event_id = k.event_id AND m.on_device
    ),

    -- In the order of their stream.
    _unnamed AS MATERIALIZED (
        SELECT
            m.id,
            m.job,
            m.is_complete,
            m.member_id,
            m.clock_id,
            -- Ranks may put different amounts into the others.
            concat_ws(
                ' ',
                m.name,
                m.dtype,
                CASE
                    WHEN
                        m.name IN (
                            'all_reduce', 'all_gather', 'reduce_scatter', 'broadcast', 'reduce'
                        )
                        THEN m.bytes
                END
            ) AS said,
            row_number() OVER (PARTITION BY m.member_id ORDER BY m.id) AS place,
            m.start_ns,
            m.start_ns + m.duration_ns AS end_ns,
            m.duration_ns
        FROM _matched AS m
        WHERE m.group_name IS NULL AND m.on_device
    ),

    _lists AS (
        SELECT u.member_id, md5(string_agg(u.said, ';' ORDER BY u.place)) AS list
        FROM _unnamed AS u
        GROUP BY u.member_id
    ),

    _stream_ends AS MATERIALIZED (
        SELECT
            u.job,
            u.is_complete,
            u.member_id,
            u.clock_id,
            l.list,
            u.place,
            u.start_ns,
            u.end_ns
        FROM _unnamed AS u
        INNER JOIN _lists AS l ON u.member_id = l.member_id
    ),

    _detected AS MATERIALIZED (
        SELECT g.* FROM detected_groups('_stream_ends') AS g
    ),

    _shortest AS (
        SELECT
            g.group_id,
            u.place,
            min(u.duration_ns) AS transfer_ns
        FROM _unnamed AS u
        INNER JOIN _detected AS g ON u.member_id = g.member_id
        GROUP BY g.group_id, u.place
        HAVING count(*) > 1
    ),

    _of_groups AS MATERIALIZED (
        SELECT
            m.*,
            g.gap,
            m.group_name IS NOT NULL OR g.group_id IS NOT NULL AS is_known,
            g.member_id IS NOT NULL AS is_detected,
            CASE
                WHEN g.member_id IS NULL THEN m.transfer_ns
                WHEN m.name NOT IN ('send', 'recv', 'send_recv') THEN s.transfer_ns
            END AS shared_ns,
            dense_rank() OVER (
                ORDER BY m.job, m.group_name, m.group_ranks, g.list_id, g.group_id
            ) AS group_number
        FROM _matched AS m
        LEFT JOIN _unnamed AS u ON m.id = u.id
        LEFT JOIN _detected AS g ON u.member_id = g.member_id
        LEFT JOIN _shortest AS s ON g.group_id = s.group_id AND u.place = s.place
    ),

    _sizes AS (
        SELECT
            o.group_number,
            list_sort(list_distinct(list(o."rank"))) AS ranks,
            CASE WHEN bool_and(o.is_complete) THEN count(DISTINCT o.member_id) END AS members
        FROM _of_groups AS o
        WHERE o.is_detected AND o.is_known
        GROUP BY o.group_number
    )

    SELECT
        o.run,
        o.worker,
        o.span,
        o.event_id,
        o.on_device,
        o.member_id,
        o.group_number,
        o.is_known,
        o.group_name,
        o.description,
        o.is_complete,
        coalesce(o.group_ranks, s.ranks) AS ranks,
        coalesce(o.group_size, s.members)::INTEGER AS size,
        o.gap,
        o.name,
        o.is_split_even,
        o.bytes,
        o.duration_ns,
        o.shared_ns AS transfer_ns,
        o.exposed_ns
    FROM _of_groups AS o
    LEFT JOIN _sizes AS s ON o.group_number = s.group_number;
