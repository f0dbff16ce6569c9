-- block: step_synchronizations
-- since: 0.1
-- summary: Calls in the steps of a trace in which the host waited for the device.
-- grain: one row per trace with such calls in steps that are not tail steps
-- uses: is_host_wait, is_wanted
--
-- Runtime and driver calls of all devices count if the host waits in them (is_host_wait), and if they start inside
-- a step as recorded. The profiler's own waits lie between steps.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   steps     BIGINT   -   Number of steps that are not tail steps.
--   calls     BIGINT   -   Number of synchronising calls in them.
--   wait_us   DOUBLE   us  Total time of the calls.
--   name      VARCHAR  -   The most frequent call.
--   operator  VARCHAR  -   Operator that makes this call; NULL if there is none.
CREATE MACRO step_synchronizations(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _steps AS MATERIALIZED (
        SELECT s.run, s.worker, s.span, s.start_ns, s.end_ns
        FROM steps AS s
        WHERE
            s.step IS NOT NULL
            AND NOT s.is_tail
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
    ),

    _counts AS (
        SELECT s.run, s.worker, s.span, count(*) AS steps
        FROM _steps AS s
        GROUP BY s.run, s.worker, s.span
    ),

    _waits AS MATERIALIZED (
        SELECT h.run, h.worker, h.span, h.name, h.op_id, h.duration_ns
        FROM host_events AS h
        INNER JOIN _steps AS s
            ON
                h.run = s.run AND h.worker = s.worker AND h.span = s.span
                AND h.start_ns >= s.start_ns AND h.start_ns < s.end_ns
        WHERE
            is_host_wait(h.name)
            AND (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _sums AS (
        SELECT
            w.run,
            w.worker,
            w.span,
            any_value(c.steps) AS steps,
            count(*) AS calls,
            sum(w.duration_ns) AS wait_ns,
            mode({ 'name': w.name, 'operator': o.name } ORDER BY w.name, o.name) AS most
        FROM _waits AS w
        INNER JOIN _counts AS c ON w.run = c.run AND w.worker = c.worker AND w.span = c.span
        LEFT JOIN host_events AS o
            ON
                w.run = o.run AND w.worker = o.worker AND w.span = o.span
                AND w.op_id = o.event_id AND o.category = 'cpu_op'
                AND is_wanted(o.run, o.worker, o.span, run, worker, span)
        GROUP BY w.run, w.worker, w.span
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.steps,
        s.calls,
        s.wait_ns / 1000.0 AS wait_us,
        s.most.name,
        s.most.operator
    FROM _sums AS s;
