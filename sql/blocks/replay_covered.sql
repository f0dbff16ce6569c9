-- block: replay_covered
-- since: 0.1
-- summary: How much of the time before each instant of a thread given intervals cover, per scenario.
-- grain: one row per scenario and instant with covered time before it
--
-- Where intervals overlap, the time counts once.
--
-- params
--   name       type     unit  default  meaning
--   nodes      VARCHAR  -     -        Name of a relation with place, lane, before_ns and at_ns: time from the node before to this one.
--   intervals  VARCHAR  -     -        Name of a relation with scenario, lane, start_ns and end_ns.
-- columns
--   name        type    unit  meaning
--   scenario    BIGINT  key   As given.
--   place       BIGINT  key   The instant.
--   covered_ns  BIGINT  ns    Covered time between the node before and this one.
CREATE MACRO replay_covered(nodes VARCHAR, intervals VARCHAR) AS TABLE
    WITH
    _intervals AS (
        SELECT
            i.scenario,
            i.lane,
            i.start_ns,
            i.end_ns,
            coalesce(i.start_ns > max(i.end_ns) OVER (
                PARTITION BY i.scenario, i.lane ORDER BY i.start_ns, i.end_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), TRUE) AS is_new
        FROM query_table(intervals) AS i
    ),

    _numbered AS (
        SELECT
            i.*,
            count_if(i.is_new) OVER (
                PARTITION BY i.scenario, i.lane ORDER BY i.start_ns, i.end_ns
                ROWS UNBOUNDED PRECEDING
            ) AS number
        FROM _intervals AS i
    ),

    _merged AS (
        SELECT n.scenario, n.lane, min(n.start_ns) AS start_ns, max(n.end_ns) AS end_ns
        FROM _numbered AS n
        GROUP BY n.scenario, n.lane, n.number
    ),

    _summed AS MATERIALIZED (
        SELECT
            m.*,
            sum(m.end_ns - m.start_ns) OVER (
                PARTITION BY m.scenario, m.lane ORDER BY m.start_ns ROWS UNBOUNDED PRECEDING
            )::BIGINT AS sum_ns
        FROM _merged AS m
    ),

    -- Covered time until each instant.
    _until AS (
        SELECT
            n.scenario,
            n.lane,
            n.place,
            coalesce(s.sum_ns - greatest(s.end_ns - n.at_ns, 0), 0) AS covered_ns
        FROM (
            SELECT l.scenario, n.lane, n.place, n.at_ns
            FROM query_table(nodes) AS n
            INNER JOIN (SELECT DISTINCT s.scenario, s.lane FROM _summed AS s) AS l
                ON n.lane = l.lane
        ) AS n
        ASOF LEFT JOIN _summed AS s
            ON n.scenario = s.scenario AND n.lane = s.lane AND n.at_ns >= s.start_ns
    )

    SELECT d.scenario, d.place, d.covered_ns
    FROM (
        SELECT
            u.scenario,
            u.place,
            u.covered_ns - lag(u.covered_ns) OVER (
                PARTITION BY u.scenario, u.lane ORDER BY u.place
            ) AS covered_ns
        FROM _until AS u
    ) AS d
    WHERE d.covered_ns > 0;
