-- view: critical_path_summary
-- version: 1
-- since: 0.1
-- summary: What bounds each step: its critical path by kind of work and waiting.
-- grain: one row per step and kind of bound on its critical path
-- distributes: trace
-- order: run, worker, span, step, duration_us DESC, bound
-- uses: critical_path_v1
-- example: samples --run ddp_gloo --step 3
--
-- Making faster what a kind of bound names makes the step faster by at most its share.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step to report; NULL reports all.
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   step         BIGINT   key   Number of the step; NULL where the trace has no steps.
--   bound        VARCHAR  key   Kind of work or waiting, as in critical_path.
--   pieces       BIGINT   -     Pieces of the path.
--   duration_us  DOUBLE   us    How long they are.
--   share_pct    DOUBLE   pct   Share of the step.
CREATE MACRO critical_path_summary_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    bounds AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.step,
            p.bound,
            count(*) AS pieces,
            sum(p.duration_us) AS duration_us
        FROM critical_path_v1(run := run, worker := worker, span := span, step := step) AS p
        GROUP BY p.run, p.worker, p.span, p.step, p.bound
    )

    SELECT
        b.run,
        b.worker,
        b.span,
        b.step,
        b.bound,
        b.pieces,
        b.duration_us,
        100 * b.duration_us
        / sum(b.duration_us) OVER (PARTITION BY b.run, b.worker, b.span, b.step) AS share_pct
    FROM bounds AS b
    ORDER BY b.run ASC, b.worker ASC, b.span ASC, b.step ASC, b.duration_us DESC, b.bound ASC;
