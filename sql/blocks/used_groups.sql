-- block: used_groups
-- since: 0.2
-- summary: Process groups whose collectives each trace has in its steps, and how long these take.
-- grain: one row per trace and process group
-- uses: is_wanted
--
-- Collectives before the first step and after the last one do not count, unless the trace has no steps: ranks that have
-- only these in common do not wait for each other in steps. Tail steps do not count either.
--
-- The group of a collective is named by its kernel, or is the only one that the trace lists. If a trace names no group,
-- all of its collectives are of one group without a name. If it lists groups that lack some ranks, collectives without a
-- name may be those of different groups, and are left out.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name         type       unit  meaning
--   group_name   VARCHAR    -     Process group; NULL if the collectives do not name one.
--   group_ranks  INTEGER[]  -     Ranks in the group; NULL where not recorded.
--   total_us     DOUBLE     us    Sum of the durations of its collectives.
--   calls        BIGINT     -     Number of its collectives on a device, without those of two ranks; NULL if the trace has steps.
CREATE MACRO used_groups(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _listed AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            g.config ->> '$.pg_name' AS group_name,
            try_cast(replace(g.config ->> '$.ranks', '"', '') AS INTEGER[]) AS group_ranks,
            coalesce(
                list_min(
                    try_cast(
                        t.metadata ->> '$.distributedInfo.pg_config[*].pg_size' AS INTEGER[]
                    )
                ) < t.world_size,
                FALSE
            ) AS has_partial_groups
        FROM traces AS t
        CROSS JOIN
            LATERAL (
                SELECT
                    CASE
                        WHEN json_array_length(t.metadata, '$.distributedInfo.pg_config') = 1
                            THEN t.metadata -> '$.distributedInfo.pg_config[0]'
                    END AS config
            ) AS g
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ),

    _steps AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            min(s.extended_start_ns) FILTER (WHERE s.step IS NOT NULL) AS start_ns,
            max(s.extended_end_ns) FILTER (WHERE s.step IS NOT NULL AND NOT s.is_tail) AS end_ns
        FROM steps AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span
    ),

    _calls AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.group_name,
            d.group_ranks,
            d.duration_ns,
            s.start_ns IS NULL
            AND NOT coalesce(
                d.collective IN ('send', 'recv') OR contains(d.name, 'SendRecv'), FALSE
            ) AS is_counted
        FROM device_events AS d
        LEFT JOIN _steps AS s ON d.run = s.run AND d.worker = s.worker AND d.span = s.span
        WHERE
            d.kind = 'communication'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
            AND (
                s.start_ns IS NULL
                OR (d.start_ns + d.duration_ns > s.start_ns AND d.start_ns < s.end_ns)
            )
        UNION ALL
        SELECT
            a.run,
            a.worker,
            a.span,
            NULL,
            NULL,
            a.duration_ns,
            FALSE
        FROM step_activity AS a
        LEFT JOIN _steps AS s ON a.run = s.run AND a.worker = s.worker AND a.span = s.span
        WHERE
            a.host_communication
            AND (a.step_event_id IS NOT NULL OR s.start_ns IS NULL)
            AND is_wanted(a.run, a.worker, a.span, run, worker, span)
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        coalesce(c.group_name, l.group_name) AS group_name,
        coalesce(c.group_ranks, l.group_ranks) AS group_ranks,
        sum(c.duration_ns) / 1000.0 AS total_us,
        nullif(count(*) FILTER (WHERE c.is_counted), 0) AS calls
    FROM _calls AS c
    INNER JOIN _listed AS l ON c.run = l.run AND c.worker = l.worker AND c.span = l.span
    WHERE coalesce(c.group_name, l.group_name) IS NOT NULL OR NOT l.has_partial_groups
    GROUP BY ALL;
