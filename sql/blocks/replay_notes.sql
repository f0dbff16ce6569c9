-- block: replay_notes
-- since: 0.1
-- summary: Device time of graph launches that no operator is known for, and why, as sentences for users.
-- grain: one row per trace with such time, and reason
-- uses: as_time, is_wanted, replay_matches, unmatched_replays
--
-- Of a launch that was compared with no graph the time is enough: its events need not be found one by one.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   message  VARCHAR  key  What is missing, how much it is, and why.
CREATE MACRO replay_notes(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _work AS (
        SELECT d.run, d.worker, d.span, d.launch_id, sum(d.duration_ns) AS ns
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span, d.launch_id
    ),

    _unmatched AS (
        SELECT u.run, u.worker, u.span, u.launch_id, u.duration_ns AS ns, u.reason
        FROM unmatched_replays(run, worker, span) AS u
        UNION ALL
        SELECT w.run, w.worker, w.span, w.launch_id, w.ns, m.reason
        FROM _work AS w
        INNER JOIN replay_matches(run, worker, span) AS m
            ON
                w.run = m.run AND w.worker = m.worker AND w.span = m.span
                AND w.launch_id = m.launch_id
        WHERE NOT m.is_compared
    ),

    _missing AS MATERIALIZED (
        SELECT
            u.run,
            u.worker,
            u.span,
            u.reason,
            count(DISTINCT u.launch_id) AS launches,
            sum(u.ns) AS ns
        FROM _unmatched AS u
        GROUP BY u.run, u.worker, u.span, u.reason
    ),

    _whole AS (
        SELECT w.run, w.worker, w.span, sum(w.ns) AS ns
        FROM _work AS w
        GROUP BY w.run, w.worker, w.span
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        as_time(m.ns / 1000.0) || ' of device time ('
        || round(100.0 * m.ns / nullif(w.ns, 0), 1) || ' %) in ' || m.launches
        || CASE WHEN m.launches = 1 THEN ' graph launch' ELSE ' graph launches' END
        || ' has no operator: ' || m.reason AS message
    FROM _missing AS m
    INNER JOIN _whole AS w ON m.run = w.run AND m.worker = w.worker AND m.span = w.span
    WHERE m.ns > 0;
