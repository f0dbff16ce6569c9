-- block: unrecorded_work
-- since: 0.1
-- summary: What keeps a trace from telling how busy its devices were.
-- grain: one row per trace with a graph capture, or with work that waited
-- uses: device_number, is_wanted, merged_intervals, unrecorded_waits
--
-- While a graph is captured, launches run no kernel. A thread captures from its call of StreamBeginCapture to
-- its next call of StreamEndCapture.
--
-- Work that waits while its device shows no work waits for something that is not in the trace: see
-- unrecorded_waits.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name        type     unit  meaning
--   captured    BIGINT   -     Number of launches that were captured and ran no kernel.
--   queued_us   DOUBLE   us    Time in which launched work waited for more than 1 ms and its device shows no work; of several devices their sum.
--   is_capture  BOOLEAN  -     Whether at least half of the launches were captured.
--   is_partial  BOOLEAN  -     Whether queued_us is more than half of the idle time, and more than 10 % of the time from the first launch to the last work.
CREATE MACRO unrecorded_work(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _queued AS MATERIALIZED (
        SELECT
            u.run,
            u.worker,
            u.span,
            u.device_key,
            min(u.start_ns) FILTER (WHERE u.is_first) AS launched_ns,
            sum(u.end_ns - u.start_ns) AS queued_ns
        FROM unrecorded_waits(run, worker, span) AS u
        GROUP BY u.run, u.worker, u.span, u.device_key
    ),

    -- Not from device_trace_names: beside this join, DuckDB would write the list of all traces into each row.
    _traces AS MATERIALIZED (
        SELECT DISTINCT q.run, q.worker, q.span, q.device_key >> 40 << 40 AS first_id
        FROM _queued AS q
    ),

    _work AS (
        SELECT
            r.first_id + device_number(d.device_id) AS key,
            d.start_ns,
            d.duration_ns
        FROM device_events AS d
        INNER JOIN _traces AS r
            ON d.run = r.run AND d.worker = r.worker AND d.span = r.span
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _devices AS (
        SELECT
            m.key,
            min(m.start_ns) AS start_ns,
            max(m.start_ns + m.duration_ns) AS end_ns,
            max(m.start_ns + m.duration_ns) - min(m.start_ns) - sum(m.duration_ns) AS idle_ns
        FROM merged_intervals('_work') AS m
        GROUP BY m.key
    ),

    _waits AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            coalesce(sum(q.queued_ns), 0) AS queued_ns,
            sum(e.end_ns - least(e.start_ns, q.launched_ns)) AS window_ns,
            sum(e.idle_ns) + sum(e.start_ns - least(e.start_ns, q.launched_ns)) AS idle_ns
        FROM _devices AS e
        INNER JOIN _traces AS r ON e.key >> 40 << 40 = r.first_id
        LEFT JOIN _queued AS q ON e.key = q.device_key
        GROUP BY r.run, r.worker, r.span
    ),

    -- Few traces capture, and only for those it matters which call comes when.
    _capturing AS MATERIALIZED (
        SELECT DISTINCT h.run, h.worker, h.span
        FROM host_events AS h
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND contains(h.name, 'StreamBeginCapture')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _calls AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            contains(h.name, 'Launch') AS is_launch,
            last_value(
                CASE
                    WHEN contains(h.name, 'StreamBeginCapture') THEN TRUE
                    WHEN contains(h.name, 'StreamEndCapture') THEN FALSE
                END IGNORE NULLS
            ) OVER (
                PARTITION BY h.run, h.worker, h.span, h.pid, h.tid
                ORDER BY h.start_ns, h.event_id
            ) AS is_capturing
        FROM host_events AS h
        INNER JOIN _capturing AS c
            ON h.run = c.run AND h.worker = c.worker AND h.span = c.span
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND (
                contains(h.name, 'Launch')
                AND (contains(h.name, 'Kernel') OR contains(h.name, 'Graph'))
                OR contains(h.name, 'StreamBeginCapture')
                OR contains(h.name, 'StreamEndCapture')
            )
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _captures AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            count(*) FILTER (WHERE c.is_capturing AND w.launch_id IS NULL) AS captured,
            count(*) AS launches
        FROM _calls AS c
        LEFT JOIN (
            SELECT DISTINCT d.run, d.worker, d.span, d.launch_id
            FROM device_events AS d
            INNER JOIN _capturing AS p
                ON d.run = p.run AND d.worker = p.worker AND d.span = p.span
            WHERE
                d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        ) AS w
            ON
                c.run = w.run AND c.worker = w.worker AND c.span = w.span
                AND c.event_id = w.launch_id
        WHERE c.is_launch
        GROUP BY c.run, c.worker, c.span
    )

    SELECT
        coalesce(w.run, c.run) AS run,
        coalesce(w.worker, c.worker) AS worker,
        coalesce(w.span, c.span) AS span,
        coalesce(c.captured, 0) AS captured,
        coalesce(w.queued_ns, 0) / 1000 AS queued_us,
        coalesce(c.captured >= 0.5 * c.launches, FALSE) AS is_capture,
        coalesce(
            w.queued_ns > 0.5 * w.idle_ns AND w.queued_ns > 0.1 * w.window_ns, FALSE
        ) AS is_partial
    FROM _waits AS w
    FULL JOIN _captures AS c
        ON w.run = c.run AND w.worker = c.worker AND w.span = c.span;
