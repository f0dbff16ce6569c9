-- block: clocks_apart
-- since: 0.1
-- summary: Workers whose clock is not aligned with the other workers' clocks, as collectives or steps show.
-- grain: one row per trace whose clock is not aligned
-- uses: jobs, matched_collectives, worker_clocks
--
-- In a collective where every rank waits for the last one, the rows of all members overlap and end
-- together. So a clock is ahead by the difference between the end of its rows and the median end; the median
-- over all such collectives is used, or, if some of them have members with another clock (see worker_clocks), over
-- those alone. A clock is not aligned if a row does not overlap with another row of the same collective whose end is no
-- farther from the median end: of two clocks that differ, it is the one that is farther off. Rows that are off by more
-- than twice the clock's difference, or in the other direction, do not count. The clock does not explain them: rows are
-- missing, and they belong to different collectives.
--
-- If no collective shows a difference, a clock of a job with several ranks is not aligned if a step lies
-- entirely before or after the same step of the median worker. The clock is ahead by how much later the
-- step starts. Steps are not compared if the rows of a collective overlap whose members have different clocks, or if
-- the whole job has one clock and the rows of any collective overlap: then the ranks number their steps differently.
-- Nor are those of which the median has no length: nothing overlaps with it.
--
-- Times that do not count from 1970 are not compared, nor are those of a job in which a rank has several traces.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   run, worker, span
--   name      type     unit  meaning
--   evidence  VARCHAR  -     'Collectives' or 'Steps'.
--   compared  BIGINT   -     Number of collectives or steps that show it.
--   ahead_ns  BIGINT   ns    How far the clock is ahead of the median; negative if it is behind.
CREATE MACRO clocks_apart(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _traces AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.clock_id,
            j.job,
            j.world_size > 1 AND NOT j.is_repeated AS has_ranks,
            min(t.clock_id) OVER of_job = max(t.clock_id) OVER of_job AS is_only_clock
        FROM worker_clocks(run, span) AS t
        INNER JOIN jobs(run, span) AS j
            ON t.run = j.run AND t.worker = j.worker AND t.span = j.span
        WHERE t.has_epoch
        WINDOW of_job AS (PARTITION BY j.job)
    ),

    _compared AS MATERIALIZED (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.match_id,
            m.start_ns,
            m.start_ns + m.duration_ns AS end_ns,
            m.do_clocks_agree,
            t.is_only_clock,
            min(t.clock_id) OVER of_match <> max(t.clock_id) OVER of_match AS has_clocks
        FROM matched_collectives(run, NULL, span) AS m
        INNER JOIN _traces AS t ON m.run = t.run AND m.worker = t.worker AND m.span = t.span
        WHERE m.do_clocks_agree IS NOT NULL
        WINDOW of_match AS (PARTITION BY m.match_id)
    ),

    _ends AS (
        SELECT c.match_id, quantile_disc(c.end_ns, 0.5) AS median_end_ns
        FROM _compared AS c
        GROUP BY c.match_id
    ),

    _late AS MATERIALIZED (
        SELECT c.*, c.end_ns - e.median_end_ns AS late_ns
        FROM _compared AS c
        INNER JOIN _ends AS e ON c.match_id = e.match_id
    ),

    _ahead AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            coalesce(
                quantile_disc(l.late_ns, 0.5) FILTER (WHERE l.has_clocks),
                quantile_disc(l.late_ns, 0.5)
            ) AS ahead_ns,
            bool_or(l.do_clocks_agree AND (l.has_clocks OR l.is_only_clock)) AS is_aligned
        FROM _late AS l
        GROUP BY l.run, l.worker, l.span
    ),

    _beside_nearer AS (
        SELECT
            l.*,
            max(l.start_ns) OVER nearer AS last_start_ns,
            min(l.end_ns) OVER nearer AS first_end_ns
        FROM _late AS l
        WHERE NOT l.do_clocks_agree
        WINDOW nearer AS (PARTITION BY l.match_id ORDER BY abs(l.late_ns))
    ),

    _collectives AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            count(*) AS compared,
            any_value(a.ahead_ns) AS ahead_ns
        FROM _beside_nearer AS n
        INNER JOIN _ahead AS a ON n.run = a.run AND n.worker = a.worker AND n.span = a.span
        WHERE
            (n.start_ns > n.first_end_ns OR n.end_ns < n.last_start_ns)
            AND n.late_ns BETWEEN least(0, 2 * a.ahead_ns) AND greatest(0, 2 * a.ahead_ns)
        GROUP BY n.run, n.worker, n.span
    ),

    -- Here a trace without steps counts as one step.
    _aligned AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.extended_start_ns AS start_ns,
            s.extended_end_ns AS end_ns,
            quantile_disc(s.extended_start_ns, 0.5) OVER same_step AS median_start_ns,
            quantile_disc(s.extended_end_ns, 0.5) OVER same_step AS median_end_ns
        FROM steps AS s
        INNER JOIN _traces AS t ON s.run = t.run AND s.worker = t.worker AND s.span = t.span
        WHERE t.has_ranks
        WINDOW same_step AS (PARTITION BY t.job, s.step)
    ),

    _steps AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            count(*) AS compared,
            quantile_disc(a.start_ns - a.median_start_ns, 0.5) AS ahead_ns
        FROM _aligned AS a
        WHERE
            a.median_start_ns < a.median_end_ns
            AND (a.start_ns >= a.median_end_ns OR a.end_ns <= a.median_start_ns)
        GROUP BY a.run, a.worker, a.span
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        'Collectives' AS evidence,
        c.compared,
        c.ahead_ns
    FROM _collectives AS c
    UNION ALL
    SELECT
        s.run,
        s.worker,
        s.span,
        'Steps',
        s.compared,
        s.ahead_ns
    FROM _steps AS s
    ANTI JOIN _collectives AS c ON s.run = c.run AND s.worker = c.worker AND s.span = c.span
    ANTI JOIN _ahead AS a
        ON s.run = a.run AND s.worker = a.worker AND s.span = a.span AND a.is_aligned;
