-- view: straggler_what_if
-- version: 1
-- since: 0.2
-- summary: How much faster a pipeline-parallel job would be if all equal work took equally long, and what slows it down.
-- grain: one row per trace with pipeline operations
-- distributes: trace
-- order: run, worker, span
-- empty: No trace of the run has pipeline operations: ingest a table of them, for example from the timers of Megatron-LM. If all ranks were traced on GPUs and have annotations such as PP:0F0, which torch.distributed.pipelining writes for schedules with several stages per rank, the view pipeline_operation_table gives the table.
-- uses: ratio, straggler_notes, straggler_scenarios
-- example: drawn
--
-- The steps are simulated: each operation starts as soon as what it waits for has ended, as pipeline_edges
-- and pipeline_groups have it, and takes its own time, which for communication is the transfer. No delay has
-- the recorded own times. In the ideal job all operations of a type take equally long. The slowdown S
-- is the quotient of the two mean step times. It is what stragglers cost, wherever they are: the share
-- 1 - 1/S of the machines' time is wasted.
--
-- delay_slowdown is the recorded step divided by the one without delay. It holds what the table does not
-- record, such as data loading. If it is far from 1, the other figures mean little.
--
-- m_w and m_s say how much of the lost time one would win back by making a few workers ideal: m_w the slowest
-- 3 % of the workers, m_s the last stage. m_w_add and m_s_add say how much of it the same workers cost if
-- only they keep their recorded times. Near 1, these workers are the reason. m_w near 1 means few bad
-- machines. m_s near 1 or above, and slow workers on the last stage only, mean that the stages are cut
-- unevenly. Neither, and equally slow workers everywhere, mean uneven input, for example sequences of different
-- lengths. The figures can be below 0 or above 1, because the ideal times are means: a stage that is faster than
-- the mean gets slower in the ideal job.
--
-- Definitions, types and thresholds are those of the paper "Understanding Stragglers in Large Model Training
-- Using What-if Analysis" (OSDI 2025). A job with one data-parallel rank and without sequence
-- parallelism is simulated without its all-gathers, reduce-scatters and separate all-reduces.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   steps           BIGINT   -     Number of steps.
--   slowdown        DOUBLE   -     S: the step without delay divided by the ideal step.
--   wasted_pct      DOUBLE   pct   Share of the machines' time that stragglers waste: 1 - 1/S.
--   delay_slowdown  DOUBLE   -     The recorded step divided by the step without delay.
--   recorded_s      DOUBLE   s     Mean step as recorded, from the earliest start of an operation to the latest end.
--   no_delay_s      DOUBLE   s     Mean step without delay.
--   ideal_s         DOUBLE   s     Mean step of the ideal job.
--   m_w             DOUBLE   -     Share of the lost time that ideal times of the slowest workers win back; NULL if the slowdown is below 1.03.
--   m_w_add         DOUBLE   -     Share of the lost time if only the slowest workers keep their recorded times; NULL likewise.
--   m_s             DOUBLE   -     Share of the lost time that ideal times of the last stage win back.
--   m_s_add         DOUBLE   -     Share of the lost time if only the last stage keeps its recorded times.
--   reason          VARCHAR  -     Why the job cannot be simulated; NULL if it can.
CREATE MACRO straggler_what_if_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    scenarios AS MATERIALIZED (
        FROM straggler_scenarios(run, worker, span, FALSE, TRUE)
    ),

    last_stages AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            max(s.part::BIGINT)::VARCHAR AS stage
        FROM scenarios AS s
        WHERE s.kind = 'stage'
        GROUP BY s.run, s.worker, s.span
    ),

    means AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            count(DISTINCT s.step) AS steps,
            avg(s.span_s) FILTER (WHERE s.kind = 'recorded') AS recorded_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'no delay') AS no_delay_s,
            avg(s.optimizer_s) FILTER (WHERE s.kind = 'no delay') AS no_delay_optimizer_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'ideal') AS ideal_s,
            avg(s.optimizer_s) FILTER (WHERE s.kind = 'ideal') AS ideal_optimizer_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'slowest ideal') AS slowest_ideal_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'slowest recorded') AS slowest_recorded_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'last stage ideal') AS stage_ideal_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'stage' AND s.part = a.stage) AS stage_recorded_s
        FROM scenarios AS s
        LEFT JOIN last_stages AS a ON s.run = a.run AND s.worker = a.worker AND s.span = a.span
        GROUP BY s.run, s.worker, s.span
    ),

    slowdowns AS (
        SELECT
            m.*,
            ratio(m.no_delay_s, m.ideal_optimizer_s) AS slowdown,
            m.no_delay_s - m.ideal_s AS lost_s
        FROM means AS m
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.steps,
        s.slowdown,
        100 * (1 - ratio(1, s.slowdown)) AS wasted_pct,
        ratio(s.recorded_s, s.no_delay_optimizer_s) AS delay_slowdown,
        s.recorded_s,
        s.no_delay_s,
        s.ideal_s,
        CASE WHEN s.slowdown >= 1.03 THEN ratio(s.no_delay_s - s.slowest_ideal_s, s.lost_s) END
            AS m_w,
        CASE WHEN s.slowdown >= 1.03 THEN ratio(s.slowest_recorded_s - s.ideal_s, s.lost_s) END
            AS m_w_add,
        ratio(s.no_delay_s - s.stage_ideal_s, s.lost_s) AS m_s,
        ratio(s.stage_recorded_s - s.ideal_s, s.lost_s) AS m_s_add,
        n.message AS reason
    FROM slowdowns AS s
    LEFT JOIN straggler_notes(run, worker, span) AS n
        ON s.run = n.run AND s.worker = n.worker AND s.span = n.span
    ORDER BY s.run, s.worker, s.span;
