-- block: replay_notes
-- since: 0.1
-- summary: Device time of graph launches that no operator is known for, and why, as sentences for users.
-- grain: one row per trace with such time, and reason
-- uses: as_time, is_wanted, replayed_events
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
    _missing AS MATERIALIZED (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.reason,
            count(DISTINCT e.launch_id) AS launches,
            sum(e.duration_ns) AS ns
        FROM replayed_events(run, worker, span) AS e
        WHERE e.call_id IS NULL
        GROUP BY e.run, e.worker, e.span, e.reason
    ),

    _whole AS (
        SELECT d.run, d.worker, d.span, sum(d.duration_ns) AS ns
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span
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
