-- block: replay_covered
-- since: 0.1
-- summary: How much of the time before each instant of a thread given intervals cover, per scenario.
-- grain: one row per scenario and instant with covered time before it
-- uses: merged_intervals
--
-- Where intervals overlap, the time counts once.
--
-- params
--   name       type     unit  default  meaning
--   nodes      VARCHAR  -     -        Name of a relation with place, lane, before_ns and at_ns: time from the node before to this one.
--   intervals  VARCHAR  -     -        Name of a relation with scenario, lane, start_ns and end_ns. Scenario and lane are 0 or more.
-- columns
--   name        type    unit  meaning
--   scenario    BIGINT  key   As given.
--   place       BIGINT  key   The instant.
--   covered_ns  BIGINT  ns    Covered time between the node before and this one.
CREATE MACRO replay_covered(nodes VARCHAR, intervals VARCHAR) AS TABLE
    WITH
    -- Scenario and thread are one number.
    _intervals AS (
        SELECT
            (i.scenario::BIGINT << 32) + i.lane AS key,
            i.start_ns,
            i.end_ns - i.start_ns AS duration_ns
        FROM query_table(intervals) AS i
    ),

    _in_order AS (
        SELECT m.key, m.start_ns, m.duration_ns
        FROM merged_intervals('_intervals') AS m
        ORDER BY m.key, m.start_ns
    ),

    -- Covered time of this thread and of those before it, until the end of each interval.
    _summed AS MATERIALIZED (
        SELECT
            o.key,
            o.start_ns,
            o.start_ns + o.duration_ns AS end_ns,
            sum(o.duration_ns) OVER (ROWS UNBOUNDED PRECEDING)::BIGINT AS sum_ns  -- noqa: PRS, CP02
        FROM _in_order AS o
    ),

    _lanes AS (
        SELECT
            s.key,
            s.key & (1::BIGINT << 32) - 1 AS lane,
            min(s.sum_ns - (s.end_ns - s.start_ns)) AS before_ns
        FROM _summed AS s
        GROUP BY s.key
    ),

    -- The same until each instant.
    _until AS (
        SELECT
            n.key,
            n.place,
            coalesce(s.sum_ns - greatest(s.end_ns - n.at_ns, 0), n.before_ns) AS covered_ns
        FROM (
            SELECT l.key, l.before_ns, n.place, n.at_ns
            FROM query_table(nodes) AS n
            INNER JOIN _lanes AS l ON n.lane = l.lane
        ) AS n
        ASOF LEFT JOIN _summed AS s ON n.key = s.key AND n.at_ns >= s.start_ns
        ORDER BY n.key, n.place
    )

    SELECT d.key >> 32 AS scenario, d.place, d.covered_ns
    FROM (
        SELECT
            u.key,
            u.place,
            CASE WHEN lag(u.key) OVER () = u.key THEN u.covered_ns - lag(u.covered_ns) OVER () END
                AS covered_ns
        FROM _until AS u
    ) AS d
    WHERE d.covered_ns > 0;
