-- block: device_setup
-- since: 0.2
-- summary: How long no device worked in the steps of a trace because the host prepared it: context, memory, kernels.
-- grain: one row per trace with such time in steps that are not tail steps
-- uses: complete_steps, interval_totals, is_profiler_work, is_setup_call, is_wanted
--
-- This is the time in the calls of is_setup_call that start in a step, without the time in which a device or the
-- profiler works. Calls of several threads, and one inside another, count once. A trace without steps counts as one
-- step.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   steps        BIGINT   -   Number of steps that are not tail steps.
--   setup_steps  BIGINT   -   Number of those with such time.
--   setup_us     DOUBLE   us  Time in all of them.
--   name         VARCHAR  -   The call that takes longest, all calls of a name together.
CREATE MACRO device_setup(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _steps AS MATERIALIZED (FROM complete_steps(run, worker, span)),

    _traces AS (
        SELECT DISTINCT s.run, s.worker, s.span, s.trace, s.steps
        FROM _steps AS s
    ),

    _calls AS MATERIALIZED (
        SELECT t.trace, h.name, h.start_ns, h.duration_ns
        FROM host_events AS h
        INNER JOIN _steps AS t
            ON
                h.run = t.run AND h.worker = t.worker AND h.span = t.span
                AND h.start_ns >= t.start_ns AND h.start_ns < t.start_ns + t.duration_ns
        WHERE
            is_setup_call(h.category, h.name, h.duration_ns)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- A call weighs more than all that devices and the profiler do at once.
    _intervals AS (
        SELECT
            c.trace AS key,
            0 AS slot,
            4294967296::HUGEINT AS weight,
            c.start_ns,
            c.duration_ns
        FROM _calls AS c
        UNION ALL
        SELECT t.trace, 0, 1, d.start_ns, d.duration_ns
        FROM device_events AS d
        INNER JOIN _traces AS t ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
        SEMI JOIN _calls AS c ON t.trace = c.trace
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        UNION ALL
        SELECT t.trace, 0, 1, h.start_ns, h.duration_ns
        FROM host_events AS h
        INNER JOIN _traces AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        WHERE
            is_profiler_work(h.category, h.name)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        UNION ALL
        SELECT s.trace, s.slot, 0, s.start_ns, s.duration_ns
        FROM _steps AS s
        SEMI JOIN _calls AS c ON s.trace = c.trace
    ),

    _setup AS (
        SELECT
            i.key AS trace,
            count(DISTINCT i.slot) AS setup_steps,
            sum(i.duration_ns) AS setup_ns
        FROM interval_totals('_intervals', least_slot := 1) AS i
        WHERE i.weight > 0 AND i.weight % 4294967296 = 0
        GROUP BY i.key
    ),

    _names AS (
        SELECT n.trace, arg_max(n.name, (n.call_ns, n.name)) AS name
        FROM (
            SELECT c.trace, c.name, sum(c.duration_ns) AS call_ns
            FROM _calls AS c
            GROUP BY c.trace, c.name
        ) AS n
        GROUP BY n.trace
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.steps,
        u.setup_steps,
        u.setup_ns / 1000.0 AS setup_us,
        n.name
    FROM _setup AS u
    INNER JOIN _traces AS t ON u.trace = t.trace
    INNER JOIN _names AS n ON u.trace = n.trace;
