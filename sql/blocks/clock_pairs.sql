-- block: clock_pairs
-- since: 0.2
-- summary: How far apart two clocks are and how much faster one runs, as far as their collectives tell.
-- grain: one row per two clocks that took part in one collective
--
-- Of a collective with more than 16 clocks only the first clock is compared with each of the others, because 512
-- clocks would make 130,816 pairs.
--
-- The differences of the ends are a line over time: an offset and a drift. The drift is the slope between the
-- median of the first third and that of the last third, and three times more of what that line leaves, so that wrong
-- ends do not move it. With fewer than 12 collectives the line is level. The offset is the median of what the
-- slope leaves, and the spread the median distance from the line. A drift of at most
-- 20 * spread / (time from first to last * sqrt(collectives)) is within run-to-run noise: without a drift, the slope of
-- one pair in fifty is larger.
--
-- Each collective also gives a lowest and a highest offset, whatever its ends are. An offset that all ends together
-- put outside of these limits is moved to the nearer one. If no offset lies in all of them, by more than the spread, the rows of some collective do not belong together, or the clocks do not run evenly.
--
-- params
--   name  type     unit  default  meaning
--   ends  VARCHAR  -     -        Name of a relation with the rows of clock_ends.
-- columns
--   name         type     unit  meaning
--   clock_id     BIGINT   key   One clock.
--   other_id     BIGINT   key   The other one, of a higher number.
--   collectives  BIGINT   -     Number of collectives in common.
--   at_ns        BIGINT   ns    Instant of the first clock for which the offsets hold: its first of these ends.
--   offset_ns    BIGINT   ns    How far the other clock is ahead then.
--   drift        DOUBLE   -     How much faster the other clock runs, as a share; 0 if fewer than 12 collectives tell it.
--   has_drift    BOOLEAN  -     Whether 12 collectives or more tell the drift.
--   is_drifting  BOOLEAN  -     Whether the drift is larger than run-to-run noise.
--   spread_ns    BIGINT   ns    Median distance of the differences from the line.
--   low_ns       BIGINT   ns    Lowest offset that all collectives allow.
--   high_ns      BIGINT   ns    Highest offset that all collectives allow.
--   is_possible  BOOLEAN  -     Whether there is an offset that all collectives allow.
CREATE MACRO clock_pairs(ends VARCHAR) AS TABLE
    WITH RECURSIVE
    _placed AS MATERIALIZED (
        SELECT
            e.*,
            row_number() OVER (PARTITION BY e.match_id ORDER BY e.clock_id) AS place,
            count(*) OVER (PARTITION BY e.match_id) AS clocks
        FROM query_table(ends) AS e
    ),

    _rows AS MATERIALIZED (
        SELECT
            -- One number to group by instead of two.
            a.clock_id * 4294967296 + b.clock_id AS pair_id,
            a.end_ns AS at_ns,
            b.end_ns - a.end_ns AS ahead_ns,
            b.last_start_ns - a.first_end_ns AS low_ns,
            b.first_end_ns - a.last_start_ns AS high_ns
        FROM _placed AS a
        INNER JOIN _placed AS b ON a.match_id = b.match_id AND a.place < b.place
        WHERE a.place = 1 OR a.clocks <= 16
    ),

    -- Differences from the first one are small, and so exact as floating-point numbers.
    _bases AS (
        SELECT
            r.pair_id,
            count(*) AS collectives,
            min(r.at_ns) AS at_ns,
            max(r.at_ns) - min(r.at_ns) AS window_ns,
            arg_min(r.ahead_ns, (r.at_ns, r.ahead_ns)) AS ahead_ns
        FROM _rows AS r
        GROUP BY r.pair_id
    ),

    _points AS MATERIALIZED (
        SELECT
            r.pair_id,
            (r.at_ns - b.at_ns)::DOUBLE AS t,
            (r.ahead_ns - b.ahead_ns)::DOUBLE AS d,
            (r.low_ns - b.ahead_ns)::DOUBLE AS low,
            (r.high_ns - b.ahead_ns)::DOUBLE AS high,
            3 * row_number() OVER (PARTITION BY r.pair_id ORDER BY r.at_ns, r.ahead_ns)
            <= b.collectives AS is_first,
            3 * row_number() OVER (PARTITION BY r.pair_id ORDER BY r.at_ns DESC, r.ahead_ns DESC)
            <= b.collectives AS is_last
        FROM _rows AS r
        INNER JOIN _bases AS b ON r.pair_id = b.pair_id
    ),

    _slopes AS (
        SELECT
            p.pair_id,
            median(p.t) FILTER (WHERE p.is_last) - median(p.t) FILTER (WHERE p.is_first) AS apart,
            0::DOUBLE AS drift,
            0 AS round
        FROM _points AS p
        WHERE p.is_first OR p.is_last
        GROUP BY p.pair_id
        UNION ALL
        SELECT
            p.pair_id,
            any_value(s.apart),
            any_value(s.drift)
            + (
                median(p.d - s.drift * p.t) FILTER (WHERE p.is_last)
                - median(p.d - s.drift * p.t) FILTER (WHERE p.is_first)
            ) / any_value(s.apart),
            any_value(s.round) + 1
        FROM _points AS p
        INNER JOIN _slopes AS s ON p.pair_id = s.pair_id
        WHERE s.apart > 0 AND (p.is_first OR p.is_last) AND s.round < 4
        GROUP BY p.pair_id
    ),

    _lines AS (
        SELECT
            b.pair_id,
            b.collectives,
            b.window_ns,
            CASE WHEN b.collectives >= 12 THEN coalesce(s.drift, 0) ELSE 0 END AS drift
        FROM _bases AS b
        LEFT JOIN _slopes AS s ON b.pair_id = s.pair_id AND s.round = 4
    ),

    _limits AS (
        SELECT
            l.pair_id,
            l.collectives,
            l.window_ns,
            l.drift,
            median(p.d - l.drift * p.t) AS ahead,
            max(p.low - l.drift * p.t) AS low,
            min(p.high - l.drift * p.t) AS high
        FROM _lines AS l
        INNER JOIN _points AS p ON l.pair_id = p.pair_id
        GROUP BY l.pair_id, l.collectives, l.window_ns, l.drift
    ),

    _offsets AS (
        SELECT
            m.pair_id,
            m.collectives,
            m.window_ns,
            m.drift,
            m.low,
            m.high,
            CASE
                WHEN m.low <= m.high THEN greatest(m.low, least(m.high, m.ahead))
                ELSE m.ahead
            END AS ahead
        FROM _limits AS m
    ),

    _told AS (
        SELECT
            o.pair_id,
            o.collectives,
            o.window_ns,
            o.drift,
            o.ahead,
            o.low,
            o.high,
            median(abs(p.d - o.drift * p.t - o.ahead)) AS spread
        FROM _offsets AS o
        INNER JOIN _points AS p ON o.pair_id = p.pair_id
        GROUP BY
            o.pair_id, o.collectives, o.window_ns, o.drift, o.ahead, o.low, o.high
    )

    SELECT
        t.pair_id // 4294967296 AS clock_id,
        t.pair_id % 4294967296 AS other_id,
        t.collectives,
        b.at_ns,
        b.ahead_ns + round(t.ahead)::BIGINT AS offset_ns,
        t.drift,
        t.collectives >= 12 AND t.window_ns > 0 AS has_drift,
        abs(t.drift) > 20 * t.spread / nullif(t.window_ns * sqrt(t.collectives), 0) AS is_drifting,
        round(t.spread)::BIGINT AS spread_ns,
        b.ahead_ns + ceil(t.low)::BIGINT AS low_ns,
        b.ahead_ns + floor(t.high)::BIGINT AS high_ns,
        t.low <= t.high + t.spread AS is_possible
    FROM _told AS t
    INNER JOIN _bases AS b ON t.pair_id = b.pair_id;
