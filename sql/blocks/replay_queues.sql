-- block: replay_queues
-- since: 0.1
-- summary: Launches on streams whose queue was full: the call waits until earlier work ends.
-- grain: one row per call and stream, from the launch on that can be blocked first
-- uses: latest_before
--
-- A stream takes some number of launches, about a thousand; the next call waits until the first one's work
-- ends. A call shows this if it takes more than 5 times the median and more than 30 us, its work ends
-- after it, and more than 100 launches lie between it and the work that ended last while it waited. If 20 calls
-- agree within 25 % on how many launches lie between, that is the length of the queue.
--
-- params
--   name  type     unit  default  meaning
--   work  VARCHAR  -     -        Name of a relation, as of replay_work.
-- columns
--   name          type     unit  meaning
--   trace         BIGINT   key   Number of the trace.
--   lane          BIGINT   -     Thread of the call.
--   call_id       BIGINT   key   The call.
--   call_end_ns   BIGINT   ns    End of the call.
--   source_id     BIGINT   key   The work that has to end first.
--   was_blocked   BOOLEAN  -     Whether the call waited for it in the recording.
--   launch_ns     BIGINT   ns    Median duration of calls that launch in the trace.
CREATE MACRO replay_queues(work VARCHAR) AS TABLE
    WITH
    -- A graph is one launch of much work.
    _launches AS MATERIALIZED (
        SELECT
            c.*,
            row_number() OVER (PARTITION BY c.stream ORDER BY c.call_ns, c.call_id) AS number
        FROM (
            SELECT
                w.trace,
                w.lane AS stream,
                w.call_lane,
                w.call_id,
                w.call_ns,
                w.call_end_ns,
                max((w.start_ns, w.id))[2] AS last_id,
                max((w.start_ns, w.id, w.end_ns))[3] AS done_ns
            FROM query_table(work) AS w
            WHERE w.call_id IS NOT NULL
            GROUP BY w.trace, w.lane, w.call_lane, w.call_id, w.call_ns, w.call_end_ns
        ) AS c
    ),

    _medians AS MATERIALIZED (
        SELECT c.trace, quantile_disc(c.call_end_ns - c.call_ns, 0.5) AS launch_ns
        FROM (
            SELECT DISTINCT l.trace, l.call_id, l.call_ns, l.call_end_ns FROM _launches AS l
        ) AS c
        GROUP BY c.trace
    ),

    _long AS (
        SELECT l.*
        FROM _launches AS l
        INNER JOIN _medians AS m ON l.trace = m.trace
        WHERE
            l.call_end_ns - l.call_ns > greatest(5 * m.launch_ns, 30000)
            AND l.done_ns > l.call_end_ns
    ),

    _ends AS (
        SELECT l.stream AS lane, l.done_ns AS at_ns, l.number AS id
        FROM _launches AS l
    ),

    _call_ends AS (
        SELECT l.stream AS lane, l.call_end_ns AS at_ns, l.number AS id
        FROM _long AS l
    ),

    _behind AS MATERIALIZED (
        SELECT l.stream, l.call_id, l.number - d.latest_id AS behind
        FROM _long AS l
        INNER JOIN latest_before('_ends', '_call_ends') AS d
            ON l.stream = d.lane AND l.number = d.id
        WHERE d.latest_ns > l.call_ns AND l.number - d.latest_id > 100
    ),

    _sizes AS MATERIALIZED (
        SELECT s.stream, s.size
        FROM (
            SELECT b.stream, quantile_disc(b.behind, 0.5) AS size
            FROM _behind AS b
            GROUP BY b.stream
        ) AS s
        INNER JOIN _behind AS n ON s.stream = n.stream AND abs(n.behind - s.size) <= 0.25 * s.size
        GROUP BY s.stream, s.size
        HAVING count(*) >= 20
    )

    SELECT
        l.trace,
        l.call_lane AS lane,
        l.call_id,
        l.call_end_ns,
        l.source_id,
        coalesce(abs(b.behind - l.size) <= 0.25 * l.size, FALSE) AS was_blocked,
        m.launch_ns
    FROM (
        SELECT
            l.*,
            s.size,
            lag(l.last_id, s.size) OVER (PARTITION BY l.stream ORDER BY l.number) AS source_id
        FROM _launches AS l
        INNER JOIN _sizes AS s ON l.stream = s.stream
    ) AS l
    INNER JOIN _medians AS m ON l.trace = m.trace
    LEFT JOIN _behind AS b ON l.stream = b.stream AND l.call_id = b.call_id
    WHERE l.source_id IS NOT NULL;
