-- block: projected_ranges
-- since: 0.1
-- summary: Operators and annotations projected onto the devices: from the first to the last work launched inside.
-- grain: one row per operator or annotation with a call inside it that launched work
-- uses: launch_order, range_launches
--
-- Ranges around one another mostly have the same calls. What several have is looked at once: n calls make less
-- than 2 n different lists, as long as ranges nest. The calls of a list follow one another, so that a window
-- finds their first and last work.
--
-- params
--   run, worker, span
-- columns
--   name      type    unit  meaning
--   id        BIGINT  key   The operator or annotation, numbered as in trace_names.
--   first_ns  BIGINT  ns    Start of the first work that calls inside it launched.
--   last_ns   BIGINT  ns    End of the last such work.
--   calls     BIGINT  -     Number of calls inside it that launched work.
--   level     BIGINT  -     Number of operators and annotations around it.
--   children  BIGINT  -     Number of rows directly inside it.
CREATE MACRO projected_ranges(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _ranges AS MATERIALIZED (FROM range_launches(run, worker, span)),

    _calls AS MATERIALIZED (
        SELECT c.place, c.first_ns, c.last_ns
        FROM launch_order(run, worker, span) AS c
    ),

    -- Most lists have one call, and need no window.
    _points AS (
        SELECT
            s.last_place AS place,
            s.last_place - s.first_place AS back,
            NULL::BIGINT AS first_ns,
            NULL::BIGINT AS last_ns
        FROM (
            SELECT DISTINCT r.first_place, r.last_place
            FROM _ranges AS r
            WHERE r.first_place < r.last_place
        ) AS s
        UNION ALL
        SELECT c.place, NULL, c.first_ns, c.last_ns
        FROM _calls AS c
    ),

    _covered AS (
        SELECT
            p.place,
            p.back,
            min(p.first_ns) OVER of_list AS first_ns,
            max(p.last_ns) OVER of_list AS last_ns
        FROM _points AS p
        WINDOW of_list AS (
            ORDER BY p.place RANGE BETWEEN coalesce(p.back, 0) PRECEDING AND CURRENT ROW  -- noqa: PRS
        )
    ),

    _lists AS (
        SELECT c.place - c.back AS first_place, c.place AS last_place, c.first_ns, c.last_ns
        FROM _covered AS c
        WHERE c.back IS NOT NULL
        UNION ALL
        SELECT c.place AS first_place, c.place AS last_place, c.first_ns, c.last_ns
        FROM _calls AS c
    ),

    _levels AS (
        SELECT r.id, 0 AS level
        FROM _ranges AS r
        WHERE r.parent_id IS NULL
        UNION ALL
        SELECT r.id, v.level + 1
        FROM _levels AS v
        INNER JOIN _ranges AS r ON v.id = r.parent_id
    ),

    _children AS (
        SELECT r.parent_id AS id, count(*) AS children
        FROM _ranges AS r
        WHERE r.parent_id IS NOT NULL
        GROUP BY r.parent_id
    )

    SELECT
        r.id,
        s.first_ns,
        s.last_ns,
        r.last_place - r.first_place + 1 AS calls,
        v.level::BIGINT AS level,
        coalesce(c.children, 0) AS children
    FROM _ranges AS r
    INNER JOIN _lists AS s
        ON r.first_place = s.first_place AND r.last_place = s.last_place
    LEFT JOIN _levels AS v ON r.id = v.id
    LEFT JOIN _children AS c ON r.id = c.id;
