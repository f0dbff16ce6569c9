-- view: straggler_workers
-- version: 1
-- since: 0.2
-- summary: How much each worker of a pipeline-parallel job slows it down: the heat map of data-parallel ranks and stages.
-- grain: one row per data-parallel rank and stage
-- distributes: trace
-- order: run, worker, span, slowdown DESC NULLS LAST, rank
-- empty: No trace of the run has pipeline operations: ingest a table of them, for example from the timers of Megatron-LM. If all ranks were traced on GPUs and have annotations such as PP:0F0, which torch.distributed.pipelining writes for schedules with several stages per rank, the view pipeline_operation_table gives the table.
-- notes: straggler_notes
-- uses: is_wanted, ratio, straggler_scenarios
-- example: drawn
--
-- The slowdown of a worker is the lesser of those of its data-parallel rank and of its stage, as
-- straggler_what_if_parts has them. So a worker is slow only if both are, and one bad machine stands out.
-- The slowest workers are 3 % of all, rounded up; of equally slow ones those of lower rank. It is they
-- that m_w of straggler_what_if makes ideal. If the job is slowed down by less than 1.03, the figures are NULL.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   dp_rank           BIGINT   key  Data-parallel rank.
--   stage             BIGINT   key  Pipeline stage.
--   rank              BIGINT   -    Global rank.
--   slowdown          DOUBLE   -    Slowdown by the worker.
--   is_among_slowest  BOOLEAN  -    Whether it is one of the slowest workers.
CREATE MACRO straggler_workers_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    means AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.kind,
            s.part,
            avg(s.span_s) AS span_s,
            avg(s.optimizer_s) AS optimizer_s
        FROM straggler_scenarios(run, worker, span, FALSE, FALSE) AS s
        GROUP BY s.run, s.worker, s.span, s.kind, s.part
    ),

    workers AS (
        SELECT DISTINCT
            o.run,
            o.worker,
            o.span,
            o.dp_rank,
            o.stage,
            o."rank"
        FROM pipeline_operations AS o
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
    ),

    slowdowns AS (
        SELECT
            w.*,
            CASE
                WHEN ratio(n.span_s, i.optimizer_s) >= 1.03
                    THEN
                        least(
                            ratio(d.optimizer_s, i.optimizer_s), ratio(s.optimizer_s, i.optimizer_s)
                        )
            END AS slowdown
        FROM workers AS w
        INNER JOIN means AS d
            ON
                w.run = d.run AND w.worker = d.worker AND w.span = d.span
                AND d.kind = 'dp_rank' AND w.dp_rank::VARCHAR = d.part
        INNER JOIN means AS s
            ON
                w.run = s.run AND w.worker = s.worker AND w.span = s.span
                AND s.kind = 'stage' AND w.stage::VARCHAR = s.part
        INNER JOIN means AS n
            ON w.run = n.run AND w.worker = n.worker AND w.span = n.span AND n.kind = 'no delay'
        INNER JOIN means AS i
            ON w.run = i.run AND w.worker = i.worker AND w.span = i.span AND i.kind = 'ideal'
    ),

    placed AS (
        SELECT
            s.*,
            row_number() OVER (
                PARTITION BY s.run, s.worker, s.span ORDER BY s.slowdown DESC, s."rank" ASC
            ) AS place,
            count(*) OVER (PARTITION BY s.run, s.worker, s.span) AS workers
        FROM slowdowns AS s
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.dp_rank,
        p.stage,
        p."rank",
        p.slowdown,
        CASE WHEN p.slowdown IS NOT NULL THEN p.place <= (3 * p.workers + 99) // 100 END
            AS is_among_slowest
    FROM placed AS p
    ORDER BY
        p.run ASC, p.worker ASC, p.span ASC, p.slowdown DESC NULLS LAST, p."rank" ASC;
