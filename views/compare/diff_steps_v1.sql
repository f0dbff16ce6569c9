-- view: diff_steps
-- version: 1
-- since: 0.1
-- summary: Time of a step by category in two runs, the difference, and whether it is within the noise.
-- grain: one row per category
-- distributes: warehouse
-- combines: step_breakdown_v1()
-- order: abs(delta_mean_us) DESC, list_position(['kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other', 'total'], category)
-- empty: Neither run has an event with a duration: {record events}.
-- uses: checked_between, delta, delta_pct, step_breakdown_v1, step_changes
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2
-- reading: A step is nearly half as long, because the data loader costs a seventh of what it did. The operators take as long as before.
--
-- The categories are those of step_breakdown; the eight of them add up to 'total'. Steps that the end of
-- the recording cut short are left out. For a run with several traces, a figure is the mean over its
-- workers of the mean over the spans of each worker, over the traces that record the category. A trace
-- without steps counts as one step, unless another trace of its run has steps: then it is left out.
--
-- Differences are experiment - baseline. The largest difference, positive or negative, comes first.
--
-- Medians and interquartile ranges are over the steps of a run, where each step is the mean over its workers.
-- p_value is the probability that chance alone gives steps as different as these. It comes from the test
-- of Mann and Whitney, which compares ranks: it assumes no distribution, and a single slow step decides
-- nothing. The test assumes that steps do not depend on each other. Two recordings of one job on
-- two machines, or on a machine that is busy with other things, differ significantly too. With three steps
-- per run, no difference is clear enough for 0.05; four steps are enough. Recordings without steps are not tested
-- against steps.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL averages all.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL averages all.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL averages all.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL averages all.
--   only_significant   BOOLEAN  -     FALSE    TRUE reports only significant changes.
--   alpha              DOUBLE   -     0.05     A p-value below this level is significant.
-- columns
--   name                  type     unit  meaning
--   category              VARCHAR  key   'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other' or 'total'.
--   baseline_mean_us      DOUBLE   us    Time per step of the category in the baseline; NULL if the baseline does not record it.
--   experiment_mean_us    DOUBLE   us    The same in the experiment.
--   delta_mean_us         DOUBLE   us    Difference in time per step.
--   delta_mean_us_pct     DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_steps        BIGINT   -     Number of steps of the baseline.
--   experiment_steps      BIGINT   -     Number of steps of the experiment.
--   baseline_median_us    DOUBLE   us    Median over the steps of the baseline.
--   experiment_median_us  DOUBLE   us    Median over the steps of the experiment.
--   baseline_iqr_us       DOUBLE   us    Interquartile range over the steps of the baseline.
--   experiment_iqr_us     DOUBLE   us    Interquartile range over the steps of the experiment.
--   p_value               DOUBLE   -     Probability of a difference this large by chance; NULL if a run has fewer than 2 steps.
--   significant           BOOLEAN  -     Whether the p-value is below alpha; NULL if there are too few steps to tell.
CREATE MACRO diff_steps_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    only_significant BOOLEAN := FALSE,
    alpha DOUBLE := 0.05
) AS TABLE
    WITH
    -- The names are compared here too; otherwise NULL would select every run.
    both_sides AS MATERIALIZED (
        SELECT
            'baseline' AS side,
            b.worker,
            b.span,
            b.step,
            unnest([
                b.kernel_us,
                b.memcpy_us,
                b.memset_us,
                b.communication_us,
                b.runtime_us,
                b.dataloader_us,
                b.cpu_exec_us,
                b.other_us,
                b.total_us
            ]) AS value_us,
            unnest(range(1, 10)) AS key
        FROM
            step_breakdown_v1(
                run := baseline, worker := baseline_worker, span := baseline_span
            ) AS b
        WHERE b.run = baseline
        QUALIFY
            NOT b.is_tail
            AND (b.step IS NOT NULL OR NOT bool_or(b.step IS NOT NULL) OVER ())
        UNION ALL
        SELECT
            'experiment',
            e.worker,
            e.span,
            e.step,
            unnest([
                e.kernel_us,
                e.memcpy_us,
                e.memset_us,
                e.communication_us,
                e.runtime_us,
                e.dataloader_us,
                e.cpu_exec_us,
                e.other_us,
                e.total_us
            ]),
            unnest(range(1, 10))
        FROM
            step_breakdown_v1(
                run := experiment, worker := experiment_worker, span := experiment_span
            ) AS e
        WHERE e.run = experiment
        QUALIFY
            NOT e.is_tail
            AND (e.step IS NOT NULL OR NOT bool_or(e.step IS NOT NULL) OVER ())
    ),

    traces_of_sides AS (
        SELECT s.side, s.worker, s.span, s.key, avg(s.value_us) AS mean_us
        FROM both_sides AS s
        GROUP BY s.side, s.worker, s.span, s.key
    ),

    workers_of_sides AS (
        SELECT t.side, t.worker, t.key, avg(t.mean_us) AS mean_us
        FROM traces_of_sides AS t
        GROUP BY t.side, t.worker, t.key
    ),

    means AS (
        SELECT
            w.key,
            avg(w.mean_us) FILTER (WHERE w.side = 'baseline') AS baseline_us,
            avg(w.mean_us) FILTER (WHERE w.side = 'experiment') AS experiment_us
        FROM workers_of_sides AS w
        GROUP BY w.key
    ),

    figures AS MATERIALIZED (
        SELECT
            s.key, s.side, s.worker, s.span, s.step, round(s.value_us * 1000)::BIGINT AS value_ns
        FROM both_sides AS s
    )

    SELECT
        [
            'kernel',
            'memcpy',
            'memset',
            'communication',
            'runtime',
            'dataloader',
            'cpu_exec',
            'other',
            'total'
        ][m.key] AS category,
        m.baseline_us AS baseline_mean_us,
        m.experiment_us AS experiment_mean_us,
        delta(m.baseline_us, m.experiment_us) AS delta_mean_us,
        delta_pct(m.baseline_us, m.experiment_us) AS delta_mean_us_pct,
        c.baseline_steps,
        c.experiment_steps,
        c.baseline_median_us,
        c.experiment_median_us,
        c.baseline_iqr_us,
        c.experiment_iqr_us,
        c.p_value,
        CASE
            WHEN c.least_p_value < checked_between('alpha', alpha, 0, 1) THEN c.p_value < alpha
        END AS significant
    FROM means AS m
    INNER JOIN step_changes('figures', 'figures') AS c ON m.key = c.key
    WHERE NOT only_significant OR c.p_value < checked_between('alpha', alpha, 0, 1)
    ORDER BY abs(delta(m.baseline_us, m.experiment_us)) DESC NULLS LAST, m.key ASC;
