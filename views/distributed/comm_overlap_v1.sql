-- view: comm_overlap
-- version: 1
-- since: 0.1
-- summary: How much of the communication computation hides, per step and over the whole trace.
-- grain: one row per step of a trace, and one with a NULL step for the whole trace
-- needs: no_operators no_device_events
-- uses: event_roles interval_sweep
--
-- The four durations are disjoint and add up to the length of the step, or of the trace. Where a
-- trace has kernels, communication is its collective kernels and computation is all others, on any
-- stream of any device; the host rows of collectives do not count, for they only wait. Where it has
-- none, as with gloo on the CPU, communication is the collectives on the host and computation is
-- the other operators and annotations there, those that enclose a collective among them.
--
-- Steps are extended to the device work that they launched, as in step_breakdown, and cut off what
-- runs over their ends; the whole trace is not cut to its steps.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step to report; NULL reports all, and the whole trace.
-- columns
--   run, worker, span
--   name              type    unit  meaning
--   step              BIGINT  key   Number of the step; NULL on the row of the whole trace.
--   computation_us    DOUBLE  us    Computation ran and no communication.
--   overlap_us        DOUBLE  us    Both ran.
--   communication_us  DOUBLE  us    Communication ran and no computation: what it costs.
--   other_us          DOUBLE  us    Neither ran.
--   overlap_pct       DOUBLE  pct   Part of all communication that computation hides; NULL without communication.
CREATE MACRO comm_overlap_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    trace_steps AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.extended_start_ns AS start_ns,
            s.extended_end_ns - s.extended_start_ns AS duration_ns,
            dense_rank() OVER (ORDER BY s.run, s.worker, s.span) AS trace,
            row_number() OVER (
                PARTITION BY s.run, s.worker, s.span ORDER BY s.extended_start_ns, s.event_id
            ) AS slot
        FROM steps AS s
        WHERE
            (run IS NULL OR s.run = run)
            AND (worker IS NULL OR s.worker = worker)
            AND (span IS NULL OR s.span = span)
    ),

    -- Numbers sort many times faster than three texts.
    numbered AS MATERIALIZED (
        SELECT DISTINCT t.run, t.worker, t.span, t.trace
        FROM trace_steps AS t
    ),

    roles AS MATERIALIZED (
        SELECT
            n.trace,
            r.role = 'communication' AS is_communication,
            r.on_device,
            r.start_ns,
            r.duration_ns
        FROM event_roles(run := run, worker := worker, span := span) AS r
        INNER JOIN numbered AS n
            ON r.run = n.run AND r.worker = n.worker AND r.span = n.span
        WHERE r.role IN ('kernel', 'cpu_exec', 'communication')
    ),

    sources AS (
        SELECT r.trace, bool_or(r.on_device) AS on_device
        FROM roles AS r
        GROUP BY r.trace
    ),

    -- What is reported: slot 0 is the whole trace, whose one step may have no number.
    spans AS (
        SELECT t.run, t.worker, t.span, t.trace, t.slot, t.step, t.start_ns, t.duration_ns
        FROM trace_steps AS t
        WHERE t.step IS NOT NULL AND (step IS NULL OR t.step = step)
        UNION ALL
        SELECT n.run, n.worker, n.span, n.trace, 0, NULL, r.start_ns, r.end_ns - r.start_ns
        FROM numbered AS n
        LEFT JOIN traces AS r ON n.run = r.run AND n.worker = r.worker AND n.span = r.span
        WHERE step IS NULL
    ),

    -- Two digits of 50 bits: how many computations run, and how many communications.
    intervals AS (
        SELECT
            r.trace AS key,
            0 AS slot,
            CASE WHEN r.is_communication THEN 1 ELSE 1::HUGEINT << 50 END AS weight,
            r.start_ns,
            r.duration_ns
        FROM roles AS r
        INNER JOIN sources AS c ON r.trace = c.trace AND r.on_device = c.on_device
        UNION ALL
        SELECT p.trace, p.slot, 0, p.start_ns, p.duration_ns
        FROM spans AS p
        WHERE p.slot > 0
    ),

    sums AS (
        SELECT
            w.key AS trace,
            w.slot,
            w.weight >= 1::HUGEINT << 50 AS computes,
            w.weight & ((1::HUGEINT << 50) - 1) > 0 AS communicates,
            sum(w.duration_ns) AS sum_ns
        FROM interval_sweep('intervals') AS w
        WHERE w.weight > 0
        GROUP BY ALL
    ),

    -- What runs in a step runs in the trace as well.
    placed AS (
        SELECT s.trace, s.slot, s.computes, s.communicates, s.sum_ns
        FROM sums AS s
        WHERE s.slot > 0
        UNION ALL
        SELECT s.trace, 0, s.computes, s.communicates, s.sum_ns
        FROM sums AS s
    ),

    costs AS (
        SELECT
            p.trace,
            p.slot,
            sum(p.sum_ns) FILTER (WHERE NOT p.communicates) AS computation_ns,
            sum(p.sum_ns) FILTER (WHERE p.computes AND p.communicates) AS overlap_ns,
            sum(p.sum_ns) FILTER (WHERE NOT p.computes) AS communication_ns,
            sum(p.sum_ns) AS busy_ns
        FROM placed AS p
        GROUP BY p.trace, p.slot
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.step,
        coalesce(c.computation_ns, 0) / 1000.0 AS computation_us,
        coalesce(c.overlap_ns, 0) / 1000.0 AS overlap_us,
        coalesce(c.communication_ns, 0) / 1000.0 AS communication_us,
        (p.duration_ns - coalesce(c.busy_ns, 0)) / 1000.0 AS other_us,
        100.0 * coalesce(c.overlap_ns, 0)
        / nullif(coalesce(c.overlap_ns, 0) + coalesce(c.communication_ns, 0), 0) AS overlap_pct
    FROM spans AS p
    INNER JOIN sources AS k ON p.trace = k.trace
    LEFT JOIN costs AS c ON p.trace = c.trace AND p.slot = c.slot
    ORDER BY p.run, p.worker, p.span, p.step NULLS FIRST, p.start_ns;
