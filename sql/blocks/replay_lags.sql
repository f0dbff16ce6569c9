-- block: replay_lags
-- since: 0.1
-- summary: Typical lags of a trace: from a launch to its work, and between two works on a stream.
-- grain: one row per trace with work
-- uses: latest_before
--
-- The first is the median where the stream was empty at the launch, or 10 us where that is known for fewer
-- than 5. The second is the median where the work had been launched 3 such lags before it started, and
-- before the stream was empty; where that is known for fewer than 5, it is at most 5 us. Work does not count if it
-- may have waited for another stream: work there ended meanwhile, at most 30 us before it started.
--
-- params
--   name  type     unit  default  meaning
--   work  VARCHAR  -     -        Name of a relation, as of replay_work: with ids that are unique among all traces.
-- columns
--   name       type    unit  meaning
--   trace      BIGINT  key   Number of the trace.
--   launch_ns  BIGINT  ns    From the start of a call to the start of its work.
--   gap_ns     BIGINT  ns    From the end of work to the start of the next on its stream.
CREATE MACRO replay_lags(work VARCHAR) AS TABLE
    WITH
    -- Lanes here are traces. Work of no length is left out: it would end just before its own start.
    _ends AS (
        SELECT w.trace AS lane, w.end_ns AS at_ns, w.id
        FROM query_table(work) AS w
        WHERE w.end_ns > w.start_ns
    ),

    _starts AS (
        SELECT w.trace AS lane, w.start_ns AS at_ns, w.id
        FROM query_table(work) AS w
    ),

    _pairs AS MATERIALIZED (
        SELECT
            w.trace,
            w.start_ns,
            w.call_ns,
            w.before_ns,
            coalesce(
                e.latest_ns > greatest(w.call_ns, w.before_ns)
                AND w.start_ns - e.latest_ns <= 30000,
                FALSE
            ) AS may_wait
        FROM (
            SELECT
                w.trace,
                w.id,
                w.start_ns,
                w.call_ns,
                lag(w.end_ns) OVER (PARTITION BY w.lane ORDER BY w.start_ns, w.id) AS before_ns
            FROM query_table(work) AS w
        ) AS w
        LEFT JOIN latest_before('_ends', '_starts') AS e ON w.id = e.id
    ),

    _launches AS MATERIALIZED (
        SELECT
            p.trace,
            CASE
                WHEN
                    count(*) FILTER (
                        WHERE
                        p.call_ns <= p.start_ns AND coalesce(p.before_ns <= p.call_ns, TRUE)
                        AND NOT p.may_wait
                    ) >= 5
                    THEN quantile_disc(p.start_ns - p.call_ns, 0.5) FILTER (
                        WHERE
                        p.call_ns <= p.start_ns AND coalesce(p.before_ns <= p.call_ns, TRUE)
                        AND NOT p.may_wait
                    )
                ELSE 10000
            END AS launch_ns
        FROM _pairs AS p
        GROUP BY p.trace
    ),

    _gaps AS (
        SELECT
            p.trace,
            l.launch_ns,
            count(*) FILTER (
                WHERE
                p.start_ns - p.call_ns >= 3 * l.launch_ns AND p.call_ns <= p.before_ns
                AND NOT p.may_wait
            ) AS gaps,
            coalesce(quantile_disc(p.start_ns - p.before_ns, 0.5) FILTER (
                WHERE
                p.start_ns - p.call_ns >= 3 * l.launch_ns AND p.call_ns <= p.before_ns
                AND NOT p.may_wait
            ), 0) AS gap_ns
        FROM _pairs AS p
        INNER JOIN _launches AS l ON p.trace = l.trace
        GROUP BY p.trace, l.launch_ns
    )

    SELECT
        g.trace,
        g.launch_ns,
        CASE WHEN g.gaps >= 5 THEN g.gap_ns ELSE least(g.gap_ns, 5000) END AS gap_ns
    FROM _gaps AS g;
