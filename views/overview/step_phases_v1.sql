-- view: step_phases
-- version: 1
-- since: 0.2
-- summary: Phases of each training step: the interval before it, forward and backward, and the tail.
-- grain: one row per profiler step of a trace
-- distributes: trace
-- order: run, worker, span, step
-- carries: spark
-- needs: no_steps
-- empty: The trace has no numbered steps.
-- uses: first_id, is_wanted, trace_names
-- example: samples --run ddp_gloo
-- reading: Forward and backward take most of a step; the interval before them is the wait for data.
--
-- The phases are those of MindSpore's step trace. The interval ends where the forward pass starts, and
-- mostly is the wait for data. The tail begins where the backward pass ends: it is the optimizer, and
-- communication that the backward pass does not hide. The three add up to the step as recorded, on the host.
--
-- MindSpore on a GPU records where the forward pass starts and the backward pass ends. In other traces both are
-- found by the operators. The backward pass ends with the last row of autograd's engine, or the last operator
-- that names the thread of its forward operator. The forward pass starts with the first operator of the step
-- after the last wait for the data loader that ends before the backward pass starts. So operators that prepare
-- a step, such as those that set gradients to zero, belong to the forward pass if they come after the wait.
-- Phases are NULL in a step without a backward pass, such as one of inference.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   step                   BIGINT   key  Number of the step.
--   iteration_interval_us  DOUBLE   us   From the start of the step to that of the forward pass.
--   fp_and_bp_us           DOUBLE   us   From the start of the forward pass to the end of the backward pass.
--   tail_us                DOUBLE   us   From the end of the backward pass to that of the step.
--   total_us               DOUBLE   us   Length of the step as recorded.
--   known_by               VARCHAR  -    How the phases are known: 'recorded' or 'operators'; NULL if they are not.
--   is_tail                BOOLEAN  -    Whether the step was cut short by the end of the recording.
CREATE MACRO step_phases_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- Steps that start at once have the same place in time, and each a number of its own.
    numbered AS MATERIALIZED (
        SELECT
            n.*,
            dense_rank() OVER (ORDER BY n.first_id, n.start_ns) AS place,
            row_number() OVER (ORDER BY n.first_id, n.start_ns) AS number
        FROM (
            SELECT
                s.run,
                s.worker,
                s.span,
                s.step,
                s.event_id,
                s.start_ns,
                s.end_ns,
                s.is_tail,
                first_id(t.names, s.run, s.worker, s.span) AS first_id
            FROM steps AS s
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE s.step IS NOT NULL AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        ) AS n
    ),

    marks AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            CASE
                WHEN
                    starts_with(h.name, 'enumerate(DataLoader)#')
                    OR starts_with(h.name, 'enumerate(DataPipe)#')
                    THEN 'dataloader'
                WHEN
                    starts_with(h.name, 'autograd::engine::evaluate_function')
                    OR h.forward_thread_id > 0
                    THEN 'backward'
                ELSE 'operator'
            END AS role,
            NULL::BIGINT AS place
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (
                h.category = 'cpu_op'
                OR (h.category = 'user_annotation' AND starts_with(h.name, 'enumerate(Data'))
            )
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        UNION ALL
        SELECT n.first_id, n.start_ns, n.end_ns, NULL AS role, n.place
        FROM numbered AS n
    ),

    -- A step comes before the events that start with it. Sorted before the window, not by it: then the window
    -- needs no memory.
    in_order AS (
        SELECT m.first_id, m.start_ns, m.end_ns, m.role, m.place
        FROM marks AS m
        ORDER BY m.first_id ASC, m.start_ns ASC, m.place ASC NULLS LAST
    ),

    placed AS (
        SELECT
            o.first_id,
            o.start_ns,
            o.end_ns,
            o.role,
            max(o.place) OVER (ROWS UNBOUNDED PRECEDING) AS place  -- noqa: PRS, CP02
        FROM in_order AS o
    ),

    inside AS (
        SELECT
            n.number,
            p.start_ns,
            p.end_ns,
            p.role
        FROM placed AS p
        INNER JOIN numbered AS n ON p.place = n.place AND p.first_id = n.first_id
        WHERE p.role IS NOT NULL AND p.start_ns < n.end_ns
    ),

    backwards AS (
        SELECT i.number, min(i.start_ns) AS start_ns, max(i.end_ns) AS end_ns
        FROM inside AS i
        WHERE i.role = 'backward'
        GROUP BY i.number
    ),

    loaded AS (
        SELECT b.number, b.end_ns, max(i.end_ns) AS loaded_ns
        FROM backwards AS b
        LEFT JOIN inside AS i
            ON b.number = i.number AND i.role = 'dataloader' AND i.end_ns <= b.start_ns
        GROUP BY b.number, b.end_ns
    ),

    found AS (
        SELECT l.number, min(i.start_ns) AS fp_ns, l.end_ns AS bp_ns
        FROM loaded AS l
        INNER JOIN inside AS i ON l.number = i.number
        WHERE i.role <> 'dataloader' AND i.start_ns >= coalesce(l.loaded_ns, i.start_ns)
        GROUP BY l.number, l.end_ns
    ),

    recorded AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            try_cast(h.args ->> '$.fp_start_ns' AS BIGINT) AS fp_ns,
            try_cast(h.args ->> '$.bp_end_ns' AS BIGINT) AS bp_ns
        FROM host_events AS h
        WHERE
            h.raw_category = 'step_trace' AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    known AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.step,
            n.event_id,
            n.start_ns,
            n.end_ns,
            n.is_tail,
            coalesce(r.fp_ns, f.fp_ns) AS fp_ns,
            least(coalesce(r.bp_ns, f.bp_ns), n.end_ns) AS bp_ns,
            CASE
                WHEN r.fp_ns IS NOT NULL THEN 'recorded' WHEN f.fp_ns IS NOT NULL THEN 'operators'
            END AS known_by
        FROM numbered AS n
        LEFT JOIN recorded AS r
            ON
                n.run = r.run AND n.worker = r.worker AND n.span = r.span
                AND n.event_id = r.event_id
        LEFT JOIN found AS f ON n.number = f.number
    )

    SELECT
        k.run,
        k.worker,
        k.span,
        k.step,
        (k.fp_ns - k.start_ns) / 1000.0 AS iteration_interval_us,
        (k.bp_ns - k.fp_ns) / 1000.0 AS fp_and_bp_us,
        CASE WHEN k.known_by IS NOT NULL THEN (k.end_ns - k.bp_ns) / 1000.0 END AS tail_us,
        (k.end_ns - k.start_ns) / 1000.0 AS total_us,
        k.known_by,
        k.is_tail
    FROM known AS k
    ORDER BY k.run, k.worker, k.span, k.start_ns, k.event_id;
