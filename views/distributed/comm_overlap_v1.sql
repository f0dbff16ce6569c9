-- view: comm_overlap
-- version: 1
-- since: 0.1
-- summary: How much of the communication computation hides, per step and over the whole trace.
-- grain: one row per step of a trace, and one with a NULL step for the whole trace
-- distributes: trace
-- order: run, worker, span, step NULLS FIRST
-- carries: spark
-- empty: Neither operators nor annotations nor kernels were recorded: record with ProfilerActivity.CPU, and with ProfilerActivity.CUDA (or XPU, ...) where the job uses a device.
-- uses: is_wanted, percentage
-- example: samples --run ddp_gloo
-- reading: On the CPU this says little, for what is around a collective counts as computation. On a GPU communication_us is what could be saved.
--
-- The four durations are disjoint and add up to the length of the step, or of the trace.
-- Communication is collectives where they run: the kernels of NCCL, on any stream of any device, and
-- the rows of Gloo and MPI on the host. The rows of the host that only launch a collective on a device
-- do not count, unless the trace has no kernels. Computation is the kernels that are no collectives.
-- Where a trace has no kernels, as with gloo on the CPU, it is the operators and annotations on the
-- host, those that enclose a collective among them, but not waiting for the data loader.
--
-- overlap_us and communication_us add up to the time in which the roles of step_breakdown have a
-- collective, before kernels, copies and fills take their instants from it: communication_us there is
-- communication_us here without the instants at which only copies or fills ran beside it. Where all
-- collectives run on one device, the sum is also what kernel_type_breakdown has with 'communication' in
-- its kind, and overlap_us what it has with 'compute' too. It adds up devices; here they are one.
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
    -- What computes is the device where the trace has kernels, else the host.
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

    -- Also says which traces have anything to report.
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
