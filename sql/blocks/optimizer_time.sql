-- block: optimizer_time
-- since: 0.2
-- summary: How long the steps of a trace are in an optimizer, and how it updates the parameters.
-- grain: one row per trace with an optimizer in steps that are not tail steps
-- uses: complete_steps, interval_totals, is_profiler_work, is_wanted
--
-- torch.optim annotates each call of step(). The time of an optimizer is that of the annotation in which no device works
-- and no collective runs on the host, the profiler does not work and torch.compile does not compile, and that in which
-- the device runs what was launched inside the annotation, other than collectives. Annotations that start in a step
-- count; one inside another counts once. A trace without steps counts as one step.
--
-- step(closure) runs the forward and the backward pass inside the annotation, as the Trainer of Lightning does. So an
-- annotation begins after the last row of autograd's engine in it. The recordings of Lightning's profiler end after the
-- forward pass, in an annotation without a backward pass. So one begins after training_step of Lightning as well.
--
-- The implementation has the names of torch.optim: 'fused' if operators named aten::_fused_ ran inside the annotation,
-- 'foreach' if those named aten::_foreach_ did, and otherwise 'for-loop', which runs operators for each parameter.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   steps           BIGINT   -   Number of steps that are not tail steps.
--   name            VARCHAR  -   Class of the optimizer, 'Adam'; of several the one that takes longest.
--   optimizer_us    DOUBLE   us  Time of the optimizer in all of these steps.
--   idle_us         DOUBLE   us  Part of it in which no device works.
--   implementation  VARCHAR  -   'fused', 'foreach' or 'for-loop'; NULL if no operator ran.
CREATE MACRO optimizer_time(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _steps AS MATERIALIZED (FROM complete_steps(run, worker, span)),

    _annotations AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.pid,
            h.name,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        WHERE
            starts_with(h.name, 'Optimizer.step#')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _nodes AS (
        SELECT h.run, h.worker, h.span, h.pid, h.start_ns, h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        SEMI JOIN _annotations AS a ON h.run = a.run AND h.worker = a.worker AND h.span = a.span
        WHERE
            (
                starts_with(h.name, 'autograd::engine::evaluate_function')
                OR (starts_with(h.name, '[pl][profile]') AND ends_with(h.name, '.training_step'))
            )
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _updates AS MATERIALIZED (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.name,
            a.start_ns AS closure_ns,
            CASE
                WHEN n.start_ns >= a.start_ns THEN least(n.end_ns, a.end_ns) ELSE a.start_ns
            END AS start_ns,
            a.end_ns
        FROM _annotations AS a
        ASOF LEFT JOIN _nodes AS n
            ON
                a.run = n.run AND a.worker = n.worker AND a.span = n.span AND a.pid = n.pid
                AND a.end_ns > n.start_ns
    ),

    _calls AS MATERIALIZED (
        SELECT t.trace, u.name, u.start_ns, u.end_ns - u.start_ns AS duration_ns
        FROM _updates AS u
        INNER JOIN _steps AS t
            ON
                u.run = t.run AND u.worker = t.worker AND u.span = t.span
                AND u.start_ns >= t.start_ns AND u.start_ns < t.start_ns + t.duration_ns
    ),

    _traces AS MATERIALIZED (
        SELECT DISTINCT s.run, s.worker, s.span, s.trace, s.steps
        FROM _steps AS s
        SEMI JOIN _calls AS c ON s.trace = c.trace
    ),

    _stacks AS MATERIALIZED (
        SELECT t.trace, s.stack_id, s.outer_stack_id, s.name
        FROM stacks AS s
        INNER JOIN _traces AS t ON s.run = t.run AND s.worker = t.worker AND s.span = t.span
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
    ),

    _inside AS (
        SELECT s.trace, s.stack_id, s.name
        FROM _stacks AS s
        WHERE starts_with(s.name, 'Optimizer.step#')
        UNION
        SELECT s.trace, s.stack_id, s.name
        FROM _inside AS i
        INNER JOIN _stacks AS s ON i.trace = s.trace AND i.stack_id = s.outer_stack_id
    ),

    _closures AS (
        SELECT u.run, u.worker, u.span, u.closure_ns, u.start_ns
        FROM _updates AS u
        WHERE u.start_ns > u.closure_ns
    ),

    _launches AS (
        SELECT h.run, h.worker, h.span, h.event_id
        FROM host_events AS h
        INNER JOIN _traces AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        SEMI JOIN _inside AS i ON t.trace = i.trace AND h.stack_id = i.stack_id
        ASOF LEFT JOIN _closures AS c
            ON
                h.run = c.run AND h.worker = c.worker AND h.span = c.span
                AND h.start_ns >= c.closure_ns
        WHERE
            is_wanted(h.run, h.worker, h.span, run, worker, span)
            AND coalesce(h.start_ns >= c.start_ns, TRUE)
    ),

    -- What was launched inside weighs more than an annotation, and that more than all that runs at once.
    _intervals AS (
        SELECT
            c.trace AS key,
            0 AS slot,
            4294967296::HUGEINT AS weight,
            c.start_ns,
            c.duration_ns
        FROM _calls AS c
        UNION ALL
        SELECT
            t.trace,
            0,
            CASE
                WHEN l.event_id IS NULL OR d.kind = 'communication' THEN 1
                ELSE 18446744073709551616::HUGEINT
            END,
            d.start_ns,
            d.duration_ns
        FROM device_events AS d
        INNER JOIN _traces AS t ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
        LEFT JOIN _launches AS l
            ON
                d.run = l.run AND d.worker = l.worker AND d.span = l.span
                AND d.launch_id = l.event_id
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        UNION ALL
        SELECT t.trace, 0, 1, h.start_ns, h.duration_ns
        FROM host_events AS h
        INNER JOIN _traces AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        WHERE
            (
                is_profiler_work(h.category, h.name)
                OR ends_with(h.name, ' (dynamo_timed)')
                OR starts_with(h.name, 'gloo:')
                OR starts_with(h.name, 'mpi:')
            )
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        UNION ALL
        SELECT s.trace, s.slot, 0, s.start_ns, s.duration_ns
        FROM _steps AS s
        SEMI JOIN _traces AS t ON s.trace = t.trace
    ),

    _times AS (
        SELECT
            i.key AS trace,
            sum(i.duration_ns) AS optimizer_ns,
            coalesce(sum(i.duration_ns) FILTER (WHERE i.weight < 18446744073709551616), 0)
                AS idle_ns
        FROM interval_totals('_intervals', least_slot := 1) AS i
        WHERE
            i.weight >= 18446744073709551616
            OR (i.weight > 0 AND i.weight % 4294967296 = 0)
        GROUP BY i.key
    ),

    _names AS (
        SELECT n.trace, arg_max(n.name, (n.call_ns, n.name)) AS name
        FROM (
            SELECT
                c.trace,
                regexp_extract(c.name, '^Optimizer\.step#(.*)\.step$', 1) AS name,
                sum(c.duration_ns) AS call_ns
            FROM _calls AS c
            GROUP BY c.trace, c.name
        ) AS n
        GROUP BY n.trace
    ),

    _implementations AS (
        SELECT
            i.trace,
            CASE
                WHEN bool_or(starts_with(i.name, 'aten::_fused_')) THEN 'fused'
                WHEN bool_or(starts_with(i.name, 'aten::_foreach_')) THEN 'foreach'
                WHEN bool_or(starts_with(i.name, 'aten::')) THEN 'for-loop'
            END AS implementation
        FROM _inside AS i
        GROUP BY i.trace
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.steps,
        n.name,
        u.optimizer_ns / 1000.0 AS optimizer_us,
        u.idle_ns / 1000.0 AS idle_us,
        p.implementation
    FROM _times AS u
    INNER JOIN _traces AS t ON u.trace = t.trace
    INNER JOIN _names AS n ON u.trace = n.trace
    LEFT JOIN _implementations AS p ON u.trace = p.trace;
