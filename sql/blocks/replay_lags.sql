-- block: replay_lags
-- since: 0.1
-- summary: Typical lags of a trace: from a launch to its work, and between two works on a stream.
-- grain: one row per trace with work
--
-- The first is the median where the stream was empty at the launch, or 10 us where that is known for fewer
-- than 5. The second is the median where the work had been launched 3 such lags before it started, and
-- before the stream was empty.
--
-- params
--   name  type     unit  default  meaning
--   work  VARCHAR  -     -        Name of a relation, as of replay_work.
-- columns
--   name       type    unit  meaning
--   trace      BIGINT  key   Number of the trace.
--   launch_ns  BIGINT  ns    From the start of a call to the start of its work.
--   gap_ns     BIGINT  ns    From the end of work to the start of the next on its stream.
CREATE MACRO replay_lags(work VARCHAR) AS TABLE
    WITH
    _pairs AS MATERIALIZED (
        SELECT
            w.trace,
            w.start_ns,
            w.call_ns,
            lag(w.end_ns) OVER (PARTITION BY w.lane ORDER BY w.start_ns, w.id) AS before_ns
        FROM query_table(work) AS w
    ),

    _launches AS MATERIALIZED (
        SELECT
            p.trace,
            CASE
                WHEN
                    count(*) FILTER (
                        WHERE
                        p.call_ns <= p.start_ns AND coalesce(p.before_ns <= p.call_ns, TRUE)
                    ) >= 5
                    THEN quantile_disc(p.start_ns - p.call_ns, 0.5) FILTER (
                        WHERE
                        p.call_ns <= p.start_ns AND coalesce(p.before_ns <= p.call_ns, TRUE)
                    )
                ELSE 10000
            END AS launch_ns
        FROM _pairs AS p
        GROUP BY p.trace
    )

    SELECT
        p.trace,
        l.launch_ns,
        coalesce(quantile_disc(p.start_ns - p.before_ns, 0.5) FILTER (
            WHERE p.start_ns - p.call_ns >= 3 * l.launch_ns AND p.call_ns <= p.before_ns
        ), 0) AS gap_ns
    FROM _pairs AS p
    INNER JOIN _launches AS l ON p.trace = l.trace
    GROUP BY p.trace, l.launch_ns;
