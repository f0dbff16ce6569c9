-- view: critical_path_summary
-- version: 1
-- since: 0.1
-- summary: Share of each kind of work and waiting in the critical path of the steps.
-- grain: one row per kind of bound on the critical path; with per_step, one row per step and kind
-- distributes: trace
-- order: run, worker, span, step, duration_us DESC, bound
-- empty: No event with a duration was recorded: {record events}.
-- uses: critical_segments, is_wanted
-- example: samples --run ddp_gloo --worker rank0
-- reading: Two things bound the mean step of rank 0: its operators, and waiting for data.
--
-- The figures are means over the steps. A step without a kind counts as 0 for it, so the kinds add up to
-- the mean step. A step that the end of the recording cut short is left out.
--
-- If you make the work of one kind faster, the step becomes faster by at most the share of that kind.
--
-- params
--   run, worker, span
--   name      type     unit  default  meaning
--   step      BIGINT   -     NULL     Number of a step to report.
--   per_step  BOOLEAN  -     FALSE    TRUE returns rows for each step; FALSE the mean, unless a step is given.
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   step         BIGINT   key   Number of the step; NULL for the mean, and where the trace has no steps.
--   bound        VARCHAR  key   Kind of work or waiting, as in critical_path.
--   pieces       DOUBLE   -     Number of pieces of the path.
--   duration_us  DOUBLE   us    Total length of the pieces.
--   share_pct    DOUBLE   pct   Share of the step.
--   steps        BIGINT   -     Number of steps over which the row is averaged.
CREATE MACRO critical_path_summary_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    step BIGINT := NULL,
    per_step BOOLEAN := FALSE
) AS TABLE
    WITH
    numbered AS (
        SELECT s.run, s.worker, s.span, s.step, count(*) AS steps
        FROM steps AS s
        WHERE
            s.extended_end_ns > s.extended_start_ns
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND (step IS NULL OR s.step = step)
            AND (per_step OR step IS NOT NULL OR NOT s.is_tail)
        GROUP BY s.run, s.worker, s.span, s.step
    ),

    counted AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            CASE WHEN per_step OR step IS NOT NULL THEN n.step END AS step,
            sum(n.steps)::BIGINT AS steps
        FROM numbered AS n
        GROUP BY ALL
    ),

    bounds AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            CASE WHEN per_step OR step IS NOT NULL THEN p.step END AS step,
            p.bound,
            count(*) AS pieces,
            sum(p.duration_ns) AS duration_ns
        FROM critical_segments(run, worker, span, step) AS p
        INNER JOIN numbered AS n
            ON
                p.run = n.run AND p.worker = n.worker AND p.span = n.span
                AND p.step IS NOT DISTINCT FROM n.step
        GROUP BY ALL
    )

    SELECT
        b.run,
        b.worker,
        b.span,
        b.step,
        b.bound,
        b.pieces::DOUBLE / c.steps AS pieces,
        b.duration_ns / 1000.0 / c.steps AS duration_us,
        100.0 * b.duration_ns
        / sum(b.duration_ns) OVER (PARTITION BY b.run, b.worker, b.span, b.step) AS share_pct,
        c.steps
    FROM bounds AS b
    INNER JOIN counted AS c
        ON
            b.run = c.run AND b.worker = c.worker AND b.span = c.span
            AND b.step IS NOT DISTINCT FROM c.step
    ORDER BY
        b.run ASC, b.worker ASC, b.span ASC, b.step ASC,
        b.duration_ns / c.steps DESC, b.bound ASC;
