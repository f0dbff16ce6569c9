-- view: diff_steps
-- version: 1
-- since: 0.1
-- summary: Where the time of a step went in two runs, the difference, and whether it is more than steps spread anyway.
-- grain: one row per category
-- distributes: warehouse
-- combines: step_breakdown_v1()
-- order: abs(delta_mean_us) DESC, list_position(['kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other', 'total'], category)
-- empty: Neither run has an event that lasts: record with ProfilerActivity.CPU among the activities.
-- uses: delta_pct, step_breakdown_v1, step_changes
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2
-- reading: Loading data left the step, and operators took longer, for three processes share the cores. Whether the step as a whole became shorter six steps on either side cannot tell.
--
-- The categories are those of step_breakdown; the eight of them add up to 'total'. Steps that recording
-- cut short are left out. A run with several traces counts with the mean over its workers of the mean
-- over the spans of each worker, taken over the traces that record the category. A trace without
-- steps is one step.
--
-- Differences are experiment - baseline, and the largest comes first, in either direction.
--
-- Medians and spreads are of the steps of a run, each with the mean over its workers. p_value is how
-- often chance alone would give steps as different as these: the test of Mann and Whitney, which goes
-- by ranks, so that one slow step decides nothing and no distribution is supposed. It supposes that the
-- steps do not depend on each other: two recordings of one job on two machines, or on a machine that
-- is busy with other things, differ significantly too. With three steps on either side no difference
-- is clear enough for 0.05; four are enough.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL averages all.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL averages all.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL averages all.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL averages all.
--   only_significant   BOOLEAN  -     FALSE    Only what changed significantly.
--   alpha              DOUBLE   -     0.05     Level below which a p-value is significant.
-- columns
--   name                  type     unit  meaning
--   category              VARCHAR  key   'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other' or 'total'.
--   baseline_mean_us      DOUBLE   us    Time per step that the category owns in the baseline; NULL where it does not record it.
--   experiment_mean_us    DOUBLE   us    The same in the experiment.
--   delta_mean_us         DOUBLE   us    Difference in time per step.
--   delta_mean_us_pct     DOUBLE   pct   The same as a share of the baseline; NULL where that is 0.
--   baseline_steps        BIGINT   -     Steps of the baseline.
--   experiment_steps      BIGINT   -     Steps of the experiment.
--   baseline_median_us    DOUBLE   us    Half the steps of the baseline spend more.
--   experiment_median_us  DOUBLE   us    Half the steps of the experiment spend more.
--   baseline_iqr_us       DOUBLE   us    Spread of the baseline: from its first quartile to its third.
--   experiment_iqr_us     DOUBLE   us    Spread of the experiment.
--   p_value               DOUBLE   -     Probability of a difference as clear by chance; NULL where a side has fewer than 2 steps.
--   significant           BOOLEAN  -     Whether the p-value is below alpha; NULL where so few steps could not tell.
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
    -- The names are compared here too: a NULL would otherwise take every run.
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
        WHERE b.run = baseline AND NOT b.is_tail
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
        WHERE e.run = experiment AND NOT e.is_tail
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
        m.experiment_us - m.baseline_us AS delta_mean_us,
        delta_pct(m.baseline_us, m.experiment_us) AS delta_mean_us_pct,
        c.baseline_steps,
        c.experiment_steps,
        c.baseline_median_us,
        c.experiment_median_us,
        c.baseline_iqr_us,
        c.experiment_iqr_us,
        c.p_value,
        CASE WHEN c.least_p_value < alpha THEN c.p_value < alpha END AS significant
    FROM means AS m
    INNER JOIN step_changes('figures', 'figures') AS c ON m.key = c.key
    WHERE NOT only_significant OR c.p_value < alpha
    ORDER BY abs(m.experiment_us - m.baseline_us) DESC NULLS LAST, m.key ASC;
