-- block: aligned_clocks
-- since: 0.2
-- summary: How far the clock of each worker is ahead of the mean of the clocks that are connected with it, and whether its times are to be moved by that.
-- grain: one row per trace
-- uses: clock_balance, clock_ends, clock_pairs, clock_walk, is_wanted, jobs, worker_clocks
--
-- Connected clocks are a component. Their offsets have mean 0, and so have their drifts. The spread of a clock is the
-- lower median over its pairs of the pair's spread and of what the pair is off from the two clocks' offsets. The
-- limits are those of its pairs, as if the other clocks' offsets were right.
--
-- The times of a component are moved if that moves a trace by more than the largest spread, compared with another
-- trace. They are not moved on a clock whose limits contradict each other by more than the
-- largest spread of its pairs.
--
-- params
--   name     type     unit  default  meaning
--   matched  VARCHAR  -     -        Name of a relation with the rows of matched_collectives of all workers.
--   run
--   span
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   rank         INTEGER  -     Rank in the job; NULL if it is not recorded.
--   hostname     VARCHAR  -     Host whose clock it is; NULL if the clock is that of the worker alone.
--   clock_id     BIGINT   -     Number of the clock, which all workers of a host share.
--   component    BIGINT   -     Number of the component in its recording, that of the most clocks first.
--   collectives  BIGINT   -     Number of collectives that the clock has in common with others.
--   offset_ns    BIGINT   ns    How far the clock is ahead at at_ns; NULL if that is not known.
--   drift        DOUBLE   -     How much faster it runs, as a share.
--   has_drift    BOOLEAN  -     Whether the drift is known: 12 collectives or more tell it, and it is larger than run-to-run noise.
--   at_ns        BIGINT   ns    Instant of the clock for which the offset holds.
--   spread_ns    BIGINT   ns    Distance of its collectives from the offset.
--   low_ns       BIGINT   ns    Lowest offset that its collectives allow.
--   high_ns      BIGINT   ns    Highest offset that its collectives allow.
--   is_moved     BOOLEAN  -     Whether its times are to be moved.
--   reason       VARCHAR  -     Why the offset or the drift is not known, or what the offset does not hold for.
CREATE MACRO aligned_clocks(
    matched VARCHAR, run VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _workers AS MATERIALIZED (
        SELECT w.* FROM worker_clocks(run, span) AS w
    ),

    _ends AS MATERIALIZED (
        SELECT e.* FROM clock_ends(matched, run, span) AS e
    ),

    _pairs AS MATERIALIZED (
        SELECT p.* FROM clock_pairs('_ends') AS p
    ),

    _walk AS MATERIALIZED (
        SELECT w.* FROM clock_walk('_pairs') AS w
    ),

    _reached AS MATERIALIZED (
        SELECT b.* FROM clock_balance('_pairs', '_walk') AS b
    ),

    -- The clocks whose drifts can be compared.
    _told_pairs AS MATERIALIZED (
        SELECT p.* FROM _pairs AS p WHERE p.has_drift
    ),

    _told AS MATERIALIZED (
        SELECT w.clock_id, w.root_id FROM clock_walk('_told_pairs') AS w
    ),

    _shared AS (
        SELECT e.clock_id, count(*) AS collectives
        FROM _ends AS e
        SEMI JOIN (
            SELECT c.match_id FROM _ends AS c GROUP BY c.match_id HAVING count(*) > 1
        ) AS s ON e.match_id = s.match_id
        GROUP BY e.clock_id
    ),

    _clocks AS (
        SELECT w.run, w.span, w.clock_id, bool_and(w.has_epoch) AS has_epoch
        FROM _workers AS w
        GROUP BY w.run, w.span, w.clock_id
    ),

    _ahead AS (
        SELECT
            c.run,
            c.span,
            c.clock_id,
            c.has_epoch,
            r.clock_id IS NOT NULL AS is_reached,
            coalesce(r.root_id, c.clock_id) AS root_id,
            r.local_ns,
            r.local_ns - o.local_ns AS ahead_ns,
            r.drift,
            t.root_id AS told_id
        FROM _clocks AS c
        LEFT JOIN _reached AS r ON c.clock_id = r.clock_id
        LEFT JOIN _reached AS o ON r.root_id = o.clock_id
        LEFT JOIN _told AS t ON c.clock_id = t.clock_id
    ),

    _components AS (
        SELECT
            a.run,
            a.span,
            a.root_id,
            count(*) AS clocks,
            -- Times that do not count from 1970 are not of the others' size.
            round(coalesce(avg(a.ahead_ns) FILTER (WHERE a.has_epoch), avg(a.ahead_ns)))::BIGINT
                AS mean_ns,
            -- Of clocks that are compared by few collectives only, drifts are those of the most others.
            mode(a.told_id ORDER BY a.told_id) AS told_id
        FROM _ahead AS a
        GROUP BY a.run, a.span, a.root_id
    ),

    _numbered AS (
        SELECT
            c.*,
            row_number() OVER (PARTITION BY c.run, c.span ORDER BY c.clocks DESC, c.root_id ASC)
                AS component,
            count(*) OVER (PARTITION BY c.run, c.span) AS components
        FROM _components AS c
    ),

    _mean_drifts AS (
        SELECT a.told_id, avg(a.drift) AS drift
        FROM _ahead AS a
        GROUP BY a.told_id
    ),

    _solved AS MATERIALIZED (
        SELECT
            a.clock_id,
            a.root_id,
            a.is_reached,
            n.component,
            n.components,
            a.local_ns AS at_ns,
            CASE
                WHEN a.is_reached THEN a.ahead_ns - n.mean_ns
                WHEN n.components = 1 THEN 0
            END AS offset_ns,
            coalesce(a.drift - d.drift, 0) AS drift,
            coalesce(a.told_id = n.told_id, FALSE) AS has_drift
        FROM _ahead AS a
        INNER JOIN _numbered AS n
            ON a.run = n.run AND a.span = n.span AND a.root_id = n.root_id
        LEFT JOIN _mean_drifts AS d ON n.told_id = d.told_id
    ),

    -- How far the other clock of a pair is ahead by the offsets of both.
    _expected AS (
        SELECT
            p.*,
            a.offset_ns AS own_ns,
            b.offset_ns AS others_ns,
            b.at_ns - a.at_ns
            + round((p.at_ns - a.at_ns) * (b.drift - a.drift) / (1 + a.drift))::BIGINT
                AS expected_ns
        FROM _pairs AS p
        INNER JOIN _solved AS a ON p.clock_id = a.clock_id
        INNER JOIN _solved AS b ON p.other_id = b.clock_id
        WHERE p.is_possible
    ),

    _limits AS (
        SELECT
            l.clock_id,
            max(l.low_ns) AS low_ns,
            min(l.high_ns) AS high_ns,
            quantile_disc(l.distance_ns, 0.5) AS spread_ns,
            max(l.pair_ns) AS pair_ns,
            bool_or(l.is_drifting) AS is_drifting
        FROM (
            SELECT
                e.other_id AS clock_id,
                e.others_ns + e.low_ns - e.expected_ns AS low_ns,
                e.others_ns + e.high_ns - e.expected_ns AS high_ns,
                e.spread_ns + abs(e.offset_ns - e.expected_ns) AS distance_ns,
                e.spread_ns AS pair_ns,
                e.is_drifting
            FROM _expected AS e
            UNION ALL
            SELECT
                e.clock_id,
                e.own_ns - e.high_ns + e.expected_ns,
                e.own_ns - e.low_ns + e.expected_ns,
                e.spread_ns + abs(e.offset_ns - e.expected_ns),
                e.spread_ns,
                e.is_drifting
            FROM _expected AS e
        ) AS l
        GROUP BY l.clock_id
    ),

    _judged AS (
        SELECT
            s.*,
            l.low_ns,
            l.high_ns,
            l.spread_ns,
            l.is_drifting,
            coalesce(l.low_ns <= l.high_ns + l.pair_ns, TRUE) AS is_possible
        FROM _solved AS s
        LEFT JOIN _limits AS l ON s.clock_id = l.clock_id
    ),

    -- By how much the times of each trace would be moved, at its start and at its end.
    _moves AS (
        SELECT
            j.root_id,
            j.offset_ns + (coalesce(m.time_ns, j.at_ns) - j.at_ns) * j.drift AS move_ns,
            j.spread_ns
        FROM _workers AS w
        INNER JOIN _judged AS j ON w.clock_id = j.clock_id
        INNER JOIN (
            SELECT t.run, t.worker, t.span, unnest([t.start_ns, t.end_ns]) AS time_ns
            FROM traces AS t
            WHERE is_wanted(t.run, t.worker, t.span, run, NULL, span)
        ) AS m ON w.run = m.run AND w.worker = m.worker AND w.span = m.span
        WHERE j.is_reached AND j.is_possible
    ),

    _moved AS (
        SELECT m.root_id
        FROM _moves AS m
        GROUP BY m.root_id
        HAVING max(m.move_ns) - min(m.move_ns) > max(m.spread_ns)
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        w."rank",
        w.hostname,
        w.clock_id,
        j.component,
        coalesce(s.collectives, 0) AS collectives,
        CASE WHEN j.is_possible THEN j.offset_ns END AS offset_ns,
        j.drift,
        coalesce(j.is_possible AND j.has_drift AND j.is_drifting, FALSE) AS has_drift,
        j.at_ns,
        j.spread_ns,
        j.low_ns,
        j.high_ns,
        j.is_reached AND j.is_possible AND m.root_id IS NOT NULL AS is_moved,
        CASE
            WHEN j.components = 1 AND NOT j.is_reached THEN NULL
            WHEN s.collectives IS NULL AND o.is_repeated AND o.world_size > 1
                THEN
                    'A rank of the job has several traces in this recording, so ranks are not '
                    || 'compared.'
            WHEN s.collectives IS NULL
                THEN
                    'It has no collective in common with another clock in which every rank waits '
                    || 'for the last.'
            WHEN NOT j.is_reached
                THEN
                    'No difference of the clocks lets its collectives overlap with those of '
                    || 'another clock: rows are missing, or a clock does not run evenly.'
            WHEN NOT j.is_possible
                THEN
                    'The limits that its collectives set contradict each other: rows are missing, '
                    || 'or a clock does not run evenly.'
            ELSE
                nullif(
                    concat_ws(
                        ' ',
                        CASE
                            WHEN j.components > 1
                                THEN
                                    'No collective connects its component with the other clocks, '
                                    || 'so its offset does not hold for these.'
                        END,
                        CASE
                            WHEN NOT j.has_drift
                                THEN
                                    'Its drift is not known: fewer than 12 collectives tell it.'
                            WHEN NOT j.is_drifting
                                THEN 'Its drift is too small to be told from the spread.'
                        END
                    ),
                    ''
                )
        END AS reason
    FROM _workers AS w
    INNER JOIN _judged AS j ON w.clock_id = j.clock_id
    INNER JOIN jobs(run, span) AS o
        ON w.run = o.run AND w.worker = o.worker AND w.span = o.span
    LEFT JOIN _shared AS s ON w.clock_id = s.clock_id
    LEFT JOIN _moved AS m ON j.root_id = m.root_id;
