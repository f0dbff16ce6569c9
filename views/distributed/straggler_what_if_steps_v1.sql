-- view: straggler_what_if_steps
-- version: 1
-- since: 0.2
-- summary: How much faster each step of a pipeline-parallel job would be if all equal work took equally long.
-- grain: one row per step
-- distributes: trace
-- order: run, worker, span, step
-- empty: No trace of the run has pipeline operations: ingest a table of them, for example from the timers of Megatron-LM. If all ranks were traced on GPUs and have annotations such as PP:0F0, which torch.distributed.pipelining writes for schedules with several stages per rank, the view pipeline_operation_table gives the table.
-- notes: straggler_notes
-- uses: ratio, straggler_scenarios
-- example: drawn
--
-- What is simulated, and what the figures mean, is what straggler_what_if says. The ideal step is the same
-- for all steps, because it has one time per type of operation for the whole job.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   step            BIGINT  key  Step.
--   slowdown        DOUBLE  -    The step without delay divided by the ideal step.
--   wasted_pct      DOUBLE  pct  Share of the machines' time that stragglers waste.
--   delay_slowdown  DOUBLE  -    The recorded step divided by the step without delay.
--   recorded_s      DOUBLE  s    The step as recorded, from the earliest start of an operation to the latest end.
--   no_delay_s      DOUBLE  s    The step without delay.
--   ideal_s         DOUBLE  s    The ideal step.
CREATE MACRO straggler_what_if_steps_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    times AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            max(s.span_s) FILTER (WHERE s.kind = 'recorded') AS recorded_s,
            max(s.span_s) FILTER (WHERE s.kind = 'no delay') AS no_delay_s,
            max(s.optimizer_s) FILTER (WHERE s.kind = 'no delay') AS no_delay_optimizer_s,
            max(s.span_s) FILTER (WHERE s.kind = 'ideal') AS ideal_s,
            max(s.optimizer_s) FILTER (WHERE s.kind = 'ideal') AS ideal_optimizer_s
        FROM straggler_scenarios(run, worker, span, FALSE, FALSE) AS s
        GROUP BY s.run, s.worker, s.span, s.step
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.step,
        ratio(t.no_delay_s, t.ideal_optimizer_s) AS slowdown,
        100 * (1 - ratio(t.ideal_optimizer_s, t.no_delay_s)) AS wasted_pct,
        ratio(t.recorded_s, t.no_delay_optimizer_s) AS delay_slowdown,
        t.recorded_s,
        t.no_delay_s,
        t.ideal_s
    FROM times AS t
    ORDER BY t.run, t.worker, t.span, t.step;
