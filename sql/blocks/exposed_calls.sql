-- block: exposed_calls
-- since: 0.2
-- summary: The part of each interval in which nothing computes.
-- grain: one row per interval
-- uses: latest_before, merged_intervals
--
-- params
--   name   type     unit  default  meaning
--   calls  VARCHAR  -     -        Name of a relation with id, key, start_ns and duration_ns: the intervals.
--   work   VARCHAR  -     -        Name of a relation with key, start_ns and duration_ns: what computes.
-- columns
--   name        type    unit  meaning
--   id          BIGINT  key   As given.
--   exposed_ns  BIGINT  ns    Part of the interval outside of all work of its key.
CREATE MACRO exposed_calls(calls VARCHAR, work VARCHAR) AS TABLE
    WITH
    _work AS MATERIALIZED (
        SELECT
            m.key,
            m.start_ns,
            m.duration_ns,
            sum(m.duration_ns) OVER (PARTITION BY m.key ORDER BY m.start_ns) - m.duration_ns
                AS before_ns,
            row_number() OVER (ORDER BY m.key, m.start_ns) AS work_id
        FROM merged_intervals(work) AS m
    ),

    _starts AS (
        SELECT w.key AS lane, w.start_ns AS at_ns, w.work_id AS id
        FROM _work AS w
    ),

    _instants AS (
        SELECT c.key AS lane, c.start_ns AS at_ns, 2 * c.id AS id
        FROM query_table(calls) AS c
        UNION ALL
        SELECT c.key, c.start_ns + c.duration_ns, 2 * c.id + 1
        FROM query_table(calls) AS c
    ),

    -- How long work had run by then.
    _worked AS MATERIALIZED (
        SELECT
            b.id // 2 AS call_id,
            b.id % 2 AS is_end,
            w.before_ns + least(i.at_ns - w.start_ns, w.duration_ns) AS worked_ns
        FROM latest_before('_starts', '_instants') AS b
        INNER JOIN _instants AS i ON b.id = i.id
        INNER JOIN _work AS w ON b.latest_id = w.work_id
    )

    SELECT
        c.id,
        (
            c.duration_ns - coalesce(e.worked_ns, 0) + coalesce(s.worked_ns, 0)
        )::BIGINT AS exposed_ns
    FROM query_table(calls) AS c
    LEFT JOIN _worked AS s ON c.id = s.call_id AND s.is_end = 0
    LEFT JOIN _worked AS e ON c.id = e.call_id AND e.is_end = 1;
