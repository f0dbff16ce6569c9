-- block: timeline_blocks
-- since: 0.1
-- summary: One trace as a tree of blocks with the time of each block, for diff_modules to align.
-- grain: one row per block, and one row of kind 'unknown' per part of a block that no child block covers
-- uses: first_trace, nested_blocks, trace_blocks
--
-- The blocks are those of trace_blocks, nested by time (nested_blocks). Block 0 is the trace, from the first
-- to the last event of the host or the device; an event that starts exactly at its end is not in it.
--
-- Each instant of the trace counts once. While the device works, it counts for the block in which the host
-- was when it launched the work. If several pieces of work run at once, the one that started first counts.
-- While the device is idle, the instant counts for the block in which the host is. So the child blocks
-- of a block and its unknown parts add up to the block, and block 0 takes as long as the trace. Work whose
-- launch is not in the trace counts for the block in which the host is when the work starts.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   block_id       BIGINT   key   Number of the block in order of the starts, from 0; NULL for an unknown part.
--   parent_id      BIGINT   key   Parent block; NULL for block 0.
--   position       BIGINT   key   Position among the child blocks of its parent, from 1; for an unknown part, the number of child blocks before it.
--   kind           VARCHAR  -     'trace', 'step', 'dataloader', 'module', 'backward', 'optimizer', 'annotation' or 'unknown'.
--   name           VARCHAR  -     Name without the parts that identify instances: 'ProfilerStep', 'DataLoader', 'Linear', 'Linear.backward'.
--   recorded_name  VARCHAR  -     Name as the profiler wrote it; NULL if it wrote none.
--   start_ns       BIGINT   ns    Start.
--   end_ns         BIGINT   ns    End.
--   time_ns        BIGINT   ns    Time that counts for the block.
--   device_ns      BIGINT   ns    Sum of the device work launched in it; NULL in a trace without device work.
--   launches       BIGINT   -     Number of pieces of device work launched in it.
--   replayed_ns    BIGINT   ns    Part of device_ns that graphs replayed.
CREATE MACRO timeline_blocks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _trace AS MATERIALIZED (
        FROM first_trace(run, worker, span)
    ),

    _host AS MATERIALIZED (
        SELECT
            h.event_id,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        INNER JOIN _trace AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        WHERE h.run = run
    ),

    _graph_launches AS (
        SELECT g.event_id
        FROM graphs AS g
        INNER JOIN _trace AS t ON g.run = t.run AND g.worker = t.worker AND g.span = t.span
        WHERE g.run = run AND g.role = 'launch'
    ),

    _device AS MATERIALIZED (
        SELECT
            d.event_id,
            coalesce(h.start_ns, d.start_ns) AS launched_ns,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns,
            g.event_id IS NOT NULL AS is_replayed
        FROM device_events AS d
        INNER JOIN _trace AS t ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
        LEFT JOIN _host AS h ON coalesce(d.launch_id, d.op_id) = h.event_id
        LEFT JOIN _graph_launches AS g ON d.launch_id = g.event_id
        WHERE d.run = run AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
    ),

    _whole AS MATERIALIZED (
        SELECT
            min(e.start_ns) AS start_ns,
            max(e.end_ns) AS end_ns
        FROM (
            SELECT
                h.start_ns,
                h.end_ns
            FROM _host AS h
            UNION ALL
            SELECT
                d.start_ns,
                d.end_ns
            FROM _device AS d
        ) AS e
        HAVING count(*) > 0
    ),

    _blocks AS MATERIALIZED (
        SELECT
            b.id,
            b.kind,
            b.name,
            b.recorded_name,
            b.start_ns,
            b.end_ns
        FROM trace_blocks(run, worker, span) AS b
        INNER JOIN _whole AS w ON b.start_ns < w.end_ns
        UNION ALL
        SELECT 0, 'trace', 'trace', NULL, w.start_ns, w.end_ns
        FROM _whole AS w
    ),

    _tree AS MATERIALIZED (
        SELECT
            n.id,
            n.parent_id,
            n.position,
            n.start_ns,
            n.end_ns
        FROM nested_blocks('_blocks') AS n
    ),

    -- All starts and ends of blocks in order, and the block in which the host is from there on.
    _points AS MATERIALIZED (
        SELECT
            row_number() OVER (
                ORDER BY
                    CASE WHEN e.is_start THEN t.start_ns ELSE t.end_ns END ASC,
                    (e.is_start OR t.start_ns = t.end_ns) ASC,
                    CASE WHEN e.is_start OR t.start_ns = t.end_ns THEN t.id ELSE -t.id END ASC,
                    e.is_start DESC
            ) AS point,
            CASE WHEN e.is_start THEN t.start_ns ELSE t.end_ns END AS at_ns,
            t.id,
            e.is_start,
            CASE WHEN e.is_start THEN t.id ELSE t.parent_id END AS block_id,
            CASE WHEN e.is_start THEN 0 ELSE t.position END AS position
        FROM _tree AS t
        CROSS JOIN (VALUES (TRUE), (FALSE)) AS e (is_start)
    ),

    -- Sorted before the windows, here and below, not by them: then the windows need no memory.
    _work AS (
        SELECT d.launched_ns, d.start_ns, d.end_ns, d.is_replayed
        FROM _device AS d
        ORDER BY d.start_ns, d.event_id
    ),

    _reached AS (
        SELECT
            w.launched_ns,
            w.start_ns,
            w.end_ns,
            w.is_replayed,
            max(w.end_ns) OVER (ROWS UNBOUNDED PRECEDING) AS reached_ns  -- noqa: PRS, CP02
        FROM _work AS w
    ),

    -- The part of each piece of work that no earlier piece covers.
    _own AS MATERIALIZED (
        SELECT
            d.launched_ns,
            greatest(d.start_ns, d.busy_until_ns) AS start_ns,
            d.end_ns,
            greatest(0, d.end_ns - greatest(d.start_ns, d.busy_until_ns)) AS own_ns,
            d.end_ns - d.start_ns AS duration_ns,
            CASE WHEN d.is_replayed THEN d.end_ns - d.start_ns ELSE 0 END AS replayed_ns
        FROM (
            SELECT
                r.launched_ns,
                r.start_ns,
                r.end_ns,
                r.is_replayed,
                lag(r.reached_ns) OVER () AS busy_until_ns
            FROM _reached AS r
        ) AS d
    ),

    _starts AS (
        SELECT e.point, e.at_ns, e.own_ns, e.end_ns
        FROM (
            SELECT
                p.point,
                p.at_ns,
                0 AS own_ns,
                NULL AS end_ns
            FROM _points AS p
            UNION ALL
            SELECT
                NULL,
                o.start_ns,
                o.own_ns,
                o.end_ns
            FROM _own AS o
        ) AS e
        ORDER BY e.at_ns
    ),

    _sums AS (
        SELECT
            s.point,
            s.at_ns,
            sum(s.own_ns) OVER (ROWS UNBOUNDED PRECEDING) AS own_ns,  -- noqa: PRS, CP02
            max(s.end_ns) OVER (ROWS UNBOUNDED PRECEDING) AS reached_ns  -- noqa: PRS, CP02
        FROM _starts AS s
    ),

    -- How long the device had worked until each point.
    _busy AS (
        SELECT u.point, u.own_ns - greatest(0, u.reached_ns - u.at_ns) AS busy_ns
        FROM _sums AS u
    ),

    _launches AS (
        SELECT e.point, e.own_ns, e.duration_ns, e.replayed_ns
        FROM (
            SELECT
                p.point,
                p.at_ns,
                NULL AS own_ns,
                NULL AS duration_ns,
                NULL AS replayed_ns
            FROM _points AS p
            WHERE p.block_id IS NOT NULL
            UNION ALL
            SELECT
                NULL,
                o.launched_ns,
                o.own_ns,
                o.duration_ns,
                o.replayed_ns
            FROM _own AS o
        ) AS e
        ORDER BY e.at_ns ASC, e.point ASC NULLS LAST
    ),

    _launched AS (
        SELECT
            l.point,
            sum(l.own_ns) AS own_ns,
            sum(l.duration_ns) AS duration_ns,
            sum(l.replayed_ns) AS replayed_ns,
            count(*) AS launches
        FROM (
            SELECT
                max(n.point) OVER (ROWS UNBOUNDED PRECEDING) AS point,  -- noqa: PRS, CP02
                n.own_ns,
                n.duration_ns,
                n.replayed_ns
            FROM _launches AS n
        ) AS l
        WHERE l.own_ns IS NOT NULL
        GROUP BY l.point
    ),

    -- Time from each point to the next; the last point is the end of the trace, and has none.
    _stretches AS MATERIALIZED (
        SELECT
            p.point,
            p.id,
            p.is_start,
            p.block_id,
            p.position,
            p.at_ns,
            p.next_ns,
            p.next_ns - p.at_ns - (p.next_busy_ns - p.busy_ns) + coalesce(l.own_ns, 0) AS time_ns,
            coalesce(l.duration_ns, 0) AS device_ns,
            coalesce(l.replayed_ns, 0) AS replayed_ns,
            coalesce(l.launches, 0) AS launches
        FROM (
            SELECT
                s.point,
                s.id,
                s.is_start,
                s.block_id,
                s.position,
                s.at_ns,
                b.busy_ns,
                lead(s.at_ns) OVER in_order AS next_ns,
                lead(b.busy_ns) OVER in_order AS next_busy_ns
            FROM _points AS s
            INNER JOIN _busy AS b ON s.point = b.point
            WINDOW in_order AS (ORDER BY s.point)
        ) AS p
        LEFT JOIN _launched AS l ON p.point = l.point
    ),

    _totals AS (
        SELECT
            c.id,
            max(c.time_ns) - min(c.time_ns) AS time_ns,
            max(c.device_ns) - min(c.device_ns) AS device_ns,
            max(c.replayed_ns) - min(c.replayed_ns) AS replayed_ns,
            max(c.launches) - min(c.launches) AS launches
        FROM (
            SELECT
                s.id,
                coalesce(sum(s.time_ns) OVER before, 0) AS time_ns,
                coalesce(sum(s.device_ns) OVER before, 0) AS device_ns,
                coalesce(sum(s.replayed_ns) OVER before, 0) AS replayed_ns,
                coalesce(sum(s.launches) OVER before, 0) AS launches
            FROM _stretches AS s
            WINDOW before AS (
                ORDER BY s.point ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            )
        ) AS c
        GROUP BY c.id
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        r.block_id,
        r.parent_id,
        r.position,
        r.kind,
        r.name,
        r.recorded_name,
        r.start_ns,
        r.end_ns,
        r.time_ns::BIGINT AS time_ns,
        CASE WHEN EXISTS (FROM _device) THEN r.device_ns::BIGINT END AS device_ns,
        r.launches::BIGINT AS launches,
        CASE WHEN EXISTS (FROM _device) THEN r.replayed_ns::BIGINT END AS replayed_ns
    FROM (
        SELECT
            t.id AS block_id,
            t.parent_id,
            t.position,
            b.kind,
            b.name,
            b.recorded_name,
            t.start_ns,
            t.end_ns,
            c.time_ns,
            c.device_ns,
            c.launches,
            c.replayed_ns
        FROM _tree AS t
        INNER JOIN _blocks AS b ON t.id = b.id
        INNER JOIN _totals AS c ON t.id = c.id
        UNION ALL
        SELECT
            NULL,
            s.block_id,
            s.position,
            'unknown',
            'unknown',
            NULL,
            s.at_ns,
            s.next_ns,
            s.time_ns,
            s.device_ns,
            s.launches,
            s.replayed_ns
        FROM _stretches AS s
        WHERE s.block_id IS NOT NULL AND (s.next_ns > s.at_ns OR s.launches > 0)
    ) AS r
    CROSS JOIN _trace AS w;
