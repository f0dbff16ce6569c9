-- view: straggler_what_if_parts
-- version: 1
-- since: 0.2
-- summary: How much each type of operation, data-parallel rank and stage of a pipeline-parallel job slows it down.
-- grain: one row per part over all steps, and one per part and step
-- distributes: trace
-- order: run, worker, span, list_position(['operation', 'dp_rank', 'stage', 'delay_operation', 'delay_dp_rank', 'delay_stage'], kind), step NULLS FIRST, slowdown DESC NULLS LAST, part
-- empty: No trace of the run has pipeline operations: ingest a table of them, for example from the timers of Megatron-LM. If all ranks were traced on GPUs and have annotations such as PP:0F0, which torch.distributed.pipelining writes for schedules with several stages per rank, the view pipeline_operation_table gives the table.
-- notes: straggler_notes
-- uses: ratio, straggler_delays, straggler_scenarios
-- example: drawn
--
-- The slowdown of a part is the step of the ideal job in which only the operations of the part keep their
-- recorded own times, divided by the ideal step. Steps are taken up to the last end of an optimizer, and means
-- of all steps are divided where step is NULL. What is simulated is what straggler_what_if says.
--
-- Sends and receives of a direction are one type: forward-pp-comm and backward-pp-comm. A slowdown below 1
-- means that the part is faster than the mean. If the job as a whole is slowed down by less than 1.03, there is
-- nothing to explain and the figures are NULL.
--
-- The kinds that begin with delay_ are about delays: the time that an operation starts later than it could. There all
-- operations keep their recorded own times, those of the part also their delays, and the step is divided by the one
-- without delay. The operations that begin a step are a part of their own, 'first-op'. These figures are NULL if
-- delay_slowdown of straggler_what_if is below 1.03.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   kind        VARCHAR  key  What the part is: 'operation', 'dp_rank' or 'stage', or the same after 'delay_'.
--   part        VARCHAR  key  Type of operation, data-parallel rank or stage.
--   step        BIGINT   key  Step; NULL for all steps.
--   slowdown    DOUBLE   -    Step with the recorded times of the part divided by the ideal step; of delays, by the step without delay.
--   wasted_pct  DOUBLE   pct  Share of the machines' time that the part wastes: 1 - 1/slowdown.
CREATE MACRO straggler_what_if_parts_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    scenarios AS MATERIALIZED (
        SELECT s.run, s.worker, s.span, s.step, s.kind, s.part, s.span_s, s.optimizer_s
        FROM straggler_scenarios(run, worker, span, TRUE, FALSE) AS s
        UNION ALL
        SELECT d.run, d.worker, d.span, d.step, d.kind, d.part, NULL, d.optimizer_s
        FROM straggler_delays(run, worker, span) AS d
        WHERE d.kind <> 'no delay'
    ),

    -- Each step counts for itself and for all steps.
    ideals AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            avg(s.optimizer_s) FILTER (WHERE s.kind = 'ideal') AS ideal_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'no delay') AS no_delay_s,
            avg(s.optimizer_s) FILTER (WHERE s.kind = 'no delay') AS undelayed_s,
            avg(s.span_s) FILTER (WHERE s.kind = 'recorded') AS recorded_s
        FROM scenarios AS s
        GROUP BY GROUPING SETS ((s.run, s.worker, s.span, s.step), (s.run, s.worker, s.span))
    ),

    parts AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.kind,
            s.part,
            s.step,
            avg(s.optimizer_s) AS optimizer_s
        FROM scenarios AS s
        WHERE s.part IS NOT NULL
        GROUP BY
            GROUPING SETS (
                (s.run, s.worker, s.span, s.kind, s.part, s.step),
                (s.run, s.worker, s.span, s.kind, s.part)
            )
    ),

    slowdowns AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.kind,
            p.part,
            p.step,
            CASE
                WHEN p.kind LIKE 'delay%'
                    THEN
                        CASE
                            WHEN ratio(a.recorded_s, a.undelayed_s) >= 1.03
                                THEN ratio(p.optimizer_s, i.undelayed_s)
                        END
                WHEN ratio(a.no_delay_s, a.ideal_s) >= 1.03 THEN ratio(p.optimizer_s, i.ideal_s)
            END AS slowdown
        FROM parts AS p
        INNER JOIN ideals AS i
            ON
                p.run = i.run AND p.worker = i.worker AND p.span = i.span
                AND p.step IS NOT DISTINCT FROM i.step
        INNER JOIN ideals AS a
            ON p.run = a.run AND p.worker = a.worker AND p.span = a.span AND a.step IS NULL
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.kind,
        s.part,
        s.step,
        s.slowdown,
        100 * (1 - ratio(1, s.slowdown)) AS wasted_pct
    FROM slowdowns AS s
    ORDER BY
        s.run ASC,
        s.worker ASC,
        s.span ASC,
        list_position(
            [
                'operation', 'dp_rank', 'stage', 'delay_operation', 'delay_dp_rank', 'delay_stage'
            ],
            s.kind
        ) ASC,
        s.step ASC NULLS FIRST,
        s.slowdown DESC NULLS LAST,
        s.part ASC;
