-- view: comm_overlap
-- version: 1
-- since: 0.1
-- summary: Share of the communication that computation hides, per step and for the whole trace.
-- grain: one row per step of a trace, and one row with a NULL step for the whole trace
-- distributes: trace
-- order: run, worker, span, step NULLS FIRST
-- carries: spark
-- empty: No operators, annotations or kernels were recorded: {record operators}; if the job uses a device, {record device}.
-- notes: overlap_notes
-- uses: is_wanted, percentage
-- example: samples --run ddp_gpu_gloo
-- reading: Kernels hide 0.4 % of the communication of rank0. communication_us is what could be saved. On the CPU alone this view says little, because everything around a collective counts as computation.
--
-- The four durations do not overlap, and add up to the length of the step, or of the trace. Communication is
-- collectives where they run: the kernels of NCCL, on any stream of any device, and the rows of Gloo
-- and MPI on the host. Host rows that only launch a collective on a device do not count, unless the trace
-- has no kernels. Computation is all kernels that are not collectives. If a trace has no kernels, as with
-- gloo on the CPU, computation is the operators and annotations on the host, including those that enclose
-- a collective, but without waiting for the data loader.
--
-- overlap_us and communication_us together are the time in which a collective is active in step_breakdown,
-- before kernels, copies and memsets take precedence. communication_us of step_breakdown is
-- communication_us here without the time in which only copies or memsets ran beside the collective. If all
-- collectives run on one device, the sum is also the time of all kinds with 'communication' in
-- kernel_type_breakdown, and overlap_us that of the kinds that also have 'compute'. That view adds up
-- devices; this one treats them as one.
--
-- Steps are extended to the device work that they launched, as in step_breakdown. Work that extends beyond
-- the ends of a step is cut. The whole trace is not limited to its steps.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step to report; NULL reports all, and the whole trace.
-- columns
--   run, worker, span
--   name              type    unit  meaning
--   step              BIGINT  key   Number of the step; NULL in the row of the whole trace.
--   computation_us    DOUBLE  us    Computation ran, and no communication.
--   overlap_us        DOUBLE  us    Both ran.
--   communication_us  DOUBLE  us    Communication ran, and no computation: the cost of communication.
--   other_us          DOUBLE  us    Neither ran.
--   overlap_pct       DOUBLE  pct   Share of all communication that computation hides; NULL without communication.
CREATE MACRO comm_overlap_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    -- The device computes if the trace has kernels, otherwise the host does.
    activity AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.step_event_id,
            CASE
                WHEN bool_or(a.kernel OR a.device_communication) OVER of_trace THEN a.kernel
                ELSE a.cpu_exec
            END AS computes,
            a.device_communication OR a.host_communication AS communicates,
            a.duration_ns
        FROM step_activity AS a
        WHERE is_wanted(a.run, a.worker, a.span, run, worker, span)
        WINDOW of_trace AS (PARTITION BY a.run, a.worker, a.span)
    ),

    costs AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.step_event_id,
            coalesce(sum(a.duration_ns) FILTER (WHERE a.computes AND NOT a.communicates), 0)
                AS computation_ns,
            coalesce(sum(a.duration_ns) FILTER (WHERE a.computes AND a.communicates), 0)
                AS overlap_ns,
            coalesce(sum(a.duration_ns) FILTER (WHERE a.communicates AND NOT a.computes), 0)
                AS communication_ns
        FROM activity AS a
        WHERE a.computes OR a.communicates
        GROUP BY ALL
    ),

    -- These are also the traces to report.
    whole_traces AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            sum(c.computation_ns) AS computation_ns,
            sum(c.overlap_ns) AS overlap_ns,
            sum(c.communication_ns) AS communication_ns
        FROM costs AS c
        GROUP BY ALL
    ),

    -- What is reported: the steps, and each whole trace, whose one step may have no number.
    spans AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.extended_start_ns AS start_ns,
            s.extended_end_ns - s.extended_start_ns AS duration_ns,
            coalesce(c.computation_ns, 0) AS computation_ns,
            coalesce(c.overlap_ns, 0) AS overlap_ns,
            coalesce(c.communication_ns, 0) AS communication_ns
        FROM steps AS s
        SEMI JOIN whole_traces AS w
            ON s.run = w.run AND s.worker = w.worker AND s.span = w.span
        LEFT JOIN costs AS c
            ON
                s.run = c.run AND s.worker = c.worker AND s.span = c.span
                AND s.event_id = c.step_event_id
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND s.step IS NOT NULL
            AND (step IS NULL OR s.step = step)
        UNION ALL
        SELECT
            w.run,
            w.worker,
            w.span,
            NULL,
            t.start_ns,
            t.end_ns - t.start_ns,
            w.computation_ns,
            w.overlap_ns,
            w.communication_ns
        FROM whole_traces AS w
        LEFT JOIN traces AS t ON w.run = t.run AND w.worker = t.worker AND w.span = t.span
        WHERE step IS NULL
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.step,
        p.computation_ns / 1000.0 AS computation_us,
        p.overlap_ns / 1000.0 AS overlap_us,
        p.communication_ns / 1000.0 AS communication_us,
        (p.duration_ns - p.computation_ns - p.overlap_ns - p.communication_ns) / 1000.0 AS other_us,
        percentage(p.overlap_ns, p.overlap_ns + p.communication_ns) AS overlap_pct
    FROM spans AS p
    ORDER BY p.run, p.worker, p.span, p.step NULLS FIRST, p.start_ns;
