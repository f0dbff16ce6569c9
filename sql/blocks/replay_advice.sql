-- block: replay_advice
-- since: 0.1
-- summary: The change that gains most in a replay of a trace, as a sentence.
-- grain: one row per trace with steps, if a change gains something and nearly all of the step is explained
-- uses: as_percent, as_time, is_wanted, percentage, replay_gains
--
-- Of a free data loader, free launches and free collectives it is the one that gains most. If none gains 5 % of the
-- step, it is half the time of the device or of the host, whichever gains more, if a device was recorded. There is no row
-- where nothing gains 5 %, and none where a replay does not explain 5 % of the step or more. The sentence counts until
-- the work of a step is done. It says so if that is not the length of the step as other views print it.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   value_us  DOUBLE   us   Mean time of a step after the change, until its work is done.
--   text      VARCHAR  -    The sentence.
CREATE MACRO replay_advice(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _advised AS (
        SELECT c.number, c.change, c.factor, NULL::VARCHAR AS target, NULL::BIGINT AS trace
        FROM (
            VALUES
            (1, 'loader', 0),
            (2, 'launches', 0),
            (3, 'collectives', 0),
            (4, 'device', 0.5),
            (5, 'host', 0.5)
        ) AS c (number, change, factor)
    ),

    _advised_factors AS (
        SELECT 1 + c.number AS scenario, c.number, c.factor
        FROM _advised AS c
    ),

    _gains AS (
        SELECT
            w.run,
            w.worker,
            w.span,
            w.number,
            w.drained_ns / 1000.0 AS drained_us,
            w.new_drained_ns / 1000.0 AS new_drained_us,
            (w.drained_ns - w.new_drained_ns) / 1000.0 AS gain_us,
            w.unexplained_ns / 1000.0 AS unexplained_us,
            bool_or(w.number = 4) OVER (PARTITION BY w.run, w.worker, w.span) AS has_device,
            row_number() OVER (
                PARTITION BY w.run, w.worker, w.span
                ORDER BY
                    w.number <= 3 AND w.drained_ns - w.new_drained_ns >= 0.05 * w.drained_ns DESC,
                    w.drained_ns - w.new_drained_ns DESC
            ) AS place
        FROM replay_gains('_advised', '_advised_factors', run, worker, span) AS w
    ),

    _lengths AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            avg((s.extended_end_ns - s.extended_start_ns) / 1000.0)
            FILTER (WHERE s.is_tail IS NOT TRUE) AS length_us
        FROM steps AS s
        WHERE s.step IS NOT NULL AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.new_drained_us AS value_us,
        CASE g.number
            WHEN 1 THEN 'With a free data loader'
            WHEN 2 THEN 'With launches that take no time'
            WHEN 3 THEN 'With collectives that take no time and never wait'
            WHEN 4 THEN 'With all device work twice as fast'
            ELSE 'With a host twice as fast'
        END
        || ' a step would take ' || as_time(g.new_drained_us)
        || CASE
            WHEN as_time(g.drained_us) = as_time(l.length_us) THEN ''
            ELSE ' until its work is done,'
        END
        || ' instead of ' || as_time(g.drained_us)
        || ' (-' || as_percent(percentage(g.gain_us, g.drained_us)) || ')'
        || CASE
            WHEN g.unexplained_us < 0.0005 * g.drained_us THEN ''
            ELSE
                '; the trace leaves ' || as_percent(percentage(g.unexplained_us, g.drained_us))
                || ' of the step unexplained'
        END
        || '.' AS text
    FROM _gains AS g
    INNER JOIN _lengths AS l USING (run, worker, span)
    WHERE
        g.place = 1
        AND (g.number < 5 OR g.has_device)
        AND g.gain_us >= 0.05 * g.drained_us
        AND g.unexplained_us < 0.05 * g.drained_us;
