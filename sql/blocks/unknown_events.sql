-- block: unknown_events
-- since: 0.2
-- summary: Traces of other programs: their events and threads, and the name that takes the most time.
-- grain: one row per trace with host events, none of them of a known kind, and without events of a device
-- uses: is_known_category, is_wanted, percentage
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   events       BIGINT   -     Number of host events.
--   threads      BIGINT   -     Number of threads with host events.
--   thread_name  VARCHAR  -     The thread on which events run longest: its name, or 'thread' and its number if it has none.
--   thread_us    DOUBLE   us    Time in which an event runs on that thread.
--   event_name   VARCHAR  -     The name of the events with the most self time in all.
--   event_pct    DOUBLE   pct   Share of these events in the self time of all events.
CREATE MACRO unknown_events(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- In most traces there is none.
    _unknown AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.pid,
            h.tid,
            h.name,
            count(*) AS events,
            sum(h.self_duration_ns) AS self_ns
        FROM host_events AS h
        WHERE
            NOT is_known_category(h.category)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        GROUP BY h.run, h.worker, h.span, h.pid, h.tid, h.name
    ),

    _others AS (
        SELECT u.*
        FROM _unknown AS u
        ANTI JOIN (
            SELECT h.run, h.worker, h.span
            FROM host_events AS h
            WHERE
                is_known_category(h.category)
                AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS k ON u.run = k.run AND u.worker = k.worker AND u.span = k.span
        ANTI JOIN (
            SELECT d.run, d.worker, d.span
            FROM device_events AS d
            WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
        ) AS d ON u.run = d.run AND u.worker = d.worker AND u.span = d.span
    ),

    _names AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            arg_max(n.name, (n.self_ns, n.name)) AS event_name,
            percentage(max(n.self_ns), sum(n.self_ns)) AS event_pct
        FROM (
            SELECT o.run, o.worker, o.span, o.name, sum(o.self_ns) AS self_ns
            FROM _others AS o
            GROUP BY o.run, o.worker, o.span, o.name
        ) AS n
        GROUP BY n.run, n.worker, n.span
    ),

    _threads AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            sum(t.events)::BIGINT AS events,
            count(*) AS threads,
            arg_max(
                coalesce(
                    t.name,
                    CASE WHEN try_cast(t.tid AS BIGINT) IS NULL THEN t.tid END,
                    'thread ' || t.tid
                ),
                (t.self_ns, t.tid)
            ) AS thread_name,
            max(t.self_ns) / 1000.0 AS thread_us
        FROM (
            SELECT
                o.run,
                o.worker,
                o.span,
                o.tid,
                sum(o.events) AS events,
                sum(o.self_ns) AS self_ns,
                any_value(p.thread_name) AS name
            FROM _others AS o
            LEFT JOIN processes AS p
                ON
                    o.run = p.run AND o.worker = p.worker AND o.span = p.span
                    AND o.pid = p.pid AND o.tid = p.tid
            GROUP BY o.run, o.worker, o.span, o.pid, o.tid
        ) AS t
        GROUP BY t.run, t.worker, t.span
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.events,
        t.threads,
        t.thread_name,
        t.thread_us,
        n.event_name,
        n.event_pct
    FROM _threads AS t
    INNER JOIN _names AS n ON t.run = n.run AND t.worker = n.worker AND t.span = n.span;
