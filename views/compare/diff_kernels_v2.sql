-- view: diff_kernels
-- version: 2
-- since: 0.1
-- summary: How long each kernel ran in two runs, the difference, and whether it is more than steps spread anyway.
-- distributes: warehouse
-- combines: kernel_stats_v1(group_by := group_by, per_span := TRUE) WHERE block IS NULL; kernel_steps(group_by := group_by) WHERE block IS NULL; steps
-- order: abs(delta_total_us) DESC, name, operator, grid, block, registers_per_thread, shared_memory_bytes
-- empty: Neither run has kernels: record with ProfilerActivity.CUDA (or XPU, ...) among the activities.
-- uses: diff_kernels_v1, kernel_steps, step_changes
-- example: drawn --baseline old --experiment new
--
-- The figures are those of kernel_stats. A run with several traces counts with the mean over its
-- workers of the mean over the spans of each worker, taken over the traces that have kernels. A
-- kernel that does not occur in one of those traces counts as 0 calls and 0 us of it, and so does
-- one that a run never launches: both are measured, but such a run has no mean duration of it. A
-- run without any kernels, or that does not exist, has NULL.
--
-- Differences are experiment - baseline. The largest difference in total time comes first, in
-- either direction.
--
-- Whether a difference is more than chance is tested on the steps, as diff_steps does it: on how long
-- the kernel ran in all in what a step launched, which is 0 in a step without it. A step that
-- recording cut short is left out. Of a hundred kernels that did not change five come out as
-- significant at 0.05: look at the largest first, or ask for a smaller alpha.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL averages all.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL averages all.
--   group_by           VARCHAR  -     'name'   As in kernel_stats: 'name' or 'launch'.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL averages all.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL averages all.
--   only_significant   BOOLEAN  -     FALSE    Only what changed significantly.
--   alpha              DOUBLE   -     0.05     Level below which a p-value is significant.
--   block              VARCHAR  -     NULL     Path of a block of diff_modules: only what is launched in it, of the one trace that this takes of each run, without a test; NULL takes all.
-- columns
--   name                             type       unit   meaning
--   name                             VARCHAR    key    Name of the kernel.
--   operator                         VARCHAR    key    Operator or annotation that launched it; NULL unless grouped by 'launch'.
--   grid                             INTEGER[]  key    Blocks in x, y and z; NULL unless grouped by 'launch'.
--   block                            INTEGER[]  key    Threads per block in x, y and z; NULL unless grouped by 'launch'.
--   registers_per_thread             INTEGER    key    Registers each thread uses; NULL unless grouped by 'launch'.
--   shared_memory_bytes              BIGINT     bytes  Shared memory each block uses; NULL unless grouped by 'launch'.
--   baseline_calls                   DOUBLE     -      How often it ran in the baseline.
--   experiment_calls                 DOUBLE     -      How often it ran in the experiment.
--   delta_calls                      DOUBLE     -      Difference in calls.
--   delta_calls_pct                  DOUBLE     pct    The same as a share of the baseline; NULL where that is 0.
--   baseline_total_us                DOUBLE     us     Sum of the durations in the baseline.
--   experiment_total_us              DOUBLE     us     The same in the experiment.
--   delta_total_us                   DOUBLE     us     Difference in total time.
--   delta_total_us_pct               DOUBLE     pct    The same as a share of the baseline; NULL where that is 0.
--   baseline_mean_us                 DOUBLE     us     Total time divided by calls in the baseline.
--   experiment_mean_us               DOUBLE     us     The same in the experiment.
--   delta_mean_us                    DOUBLE     us     Difference in mean time.
--   delta_mean_us_pct                DOUBLE     pct    The same as a share of the baseline; NULL where that is 0.
--   baseline_steps                   BIGINT     -      Steps of the baseline.
--   experiment_steps                 BIGINT     -      Steps of the experiment.
--   baseline_total_step_median_us    DOUBLE     us     Its time per step of the baseline: half the steps have more.
--   experiment_total_step_median_us  DOUBLE     us     Its time per step of the experiment: half the steps have more.
--   baseline_total_step_iqr_us       DOUBLE     us     Spread of that: from the first quartile to the third.
--   experiment_total_step_iqr_us     DOUBLE     us     Spread of that: from the first quartile to the third.
--   total_p_value                    DOUBLE     -      Probability of a difference as clear by chance; NULL where a side has fewer than 2 steps.
--   significant                      BOOLEAN    -      Whether the p-value is below alpha; NULL where so few steps could not tell.
CREATE MACRO diff_kernels_v2(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    group_by VARCHAR := 'name',
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    only_significant BOOLEAN := FALSE,
    alpha DOUBLE := 0.05,
    block VARCHAR := NULL
) AS TABLE
    WITH
    differences AS MATERIALIZED (
        SELECT
            row_number() OVER () AS key,
            d.name,
            d.operator,
            d.grid,
            d.block,
            d.registers_per_thread,
            d.shared_memory_bytes,
            d.baseline_calls,
            d.experiment_calls,
            d.delta_calls,
            d.delta_calls_pct,
            d.baseline_total_us,
            d.experiment_total_us,
            d.delta_total_us,
            d.delta_total_us_pct,
            d.baseline_mean_us,
            d.experiment_mean_us,
            d.delta_mean_us,
            d.delta_mean_us_pct
        FROM
            diff_kernels_v1(
                baseline,
                experiment,
                baseline_worker := baseline_worker,
                experiment_worker := experiment_worker,
                group_by := group_by,
                baseline_span := baseline_span,
                experiment_span := experiment_span,
                block := block
            ) AS d
    ),

    totals AS MATERIALIZED (
        SELECT
            'baseline' AS side,
            b.worker,
            b.span,
            b.step,
            b.name,
            b.operator,
            b.grid,
            b.block,
            b.registers_per_thread,
            b.shared_memory_bytes,
            b.total_ns
        FROM kernel_steps(baseline, baseline_worker, baseline_span, group_by) AS b
        WHERE b.run = baseline AND block IS NULL
        UNION ALL
        SELECT
            'experiment',
            e.worker,
            e.span,
            e.step,
            e.name,
            e.operator,
            e.grid,
            e.block,
            e.registers_per_thread,
            e.shared_memory_bytes,
            e.total_ns
        FROM kernel_steps(experiment, experiment_worker, experiment_span, group_by) AS e
        WHERE e.run = experiment AND block IS NULL
    ),

    figures AS MATERIALIZED (
        SELECT d.key, t.side, t.worker, t.span, t.step, t.total_ns AS value_ns
        FROM totals AS t
        INNER JOIN differences AS d
            ON
                t.name = d.name
                AND t.operator IS NOT DISTINCT FROM d.operator
                AND t.grid IS NOT DISTINCT FROM d.grid
                AND t.block IS NOT DISTINCT FROM d.block
                AND t.registers_per_thread IS NOT DISTINCT FROM d.registers_per_thread
                AND t.shared_memory_bytes IS NOT DISTINCT FROM d.shared_memory_bytes
    ),

    trace_steps AS (
        SELECT 'baseline' AS side, b.worker, b.span, b.step
        FROM steps AS b
        WHERE
            b.run = baseline
            AND block IS NULL
            AND NOT b.is_tail
            AND (baseline_worker IS NULL OR b.worker = baseline_worker)
            AND (baseline_span IS NULL OR b.span = baseline_span)
        UNION ALL
        SELECT 'experiment', e.worker, e.span, e.step
        FROM steps AS e
        WHERE
            e.run = experiment
            AND block IS NULL
            AND NOT e.is_tail
            AND (experiment_worker IS NULL OR e.worker = experiment_worker)
            AND (experiment_span IS NULL OR e.span = experiment_span)
    ),

    kernel_traces AS (
        SELECT s.side, s.worker, s.span, s.step
        FROM trace_steps AS s
        SEMI JOIN figures AS f ON s.side = f.side AND s.worker = f.worker AND s.span = f.span
    )

    SELECT
        d.name,
        d.operator,
        d.grid,
        d.block,
        d.registers_per_thread,
        d.shared_memory_bytes,
        d.baseline_calls,
        d.experiment_calls,
        d.delta_calls,
        d.delta_calls_pct,
        d.baseline_total_us,
        d.experiment_total_us,
        d.delta_total_us,
        d.delta_total_us_pct,
        d.baseline_mean_us,
        d.experiment_mean_us,
        d.delta_mean_us,
        d.delta_mean_us_pct,
        coalesce(c.baseline_steps, 0) AS baseline_steps,
        coalesce(c.experiment_steps, 0) AS experiment_steps,
        c.baseline_median_us AS baseline_total_step_median_us,
        c.experiment_median_us AS experiment_total_step_median_us,
        c.baseline_iqr_us AS baseline_total_step_iqr_us,
        c.experiment_iqr_us AS experiment_total_step_iqr_us,
        c.p_value AS total_p_value,
        CASE WHEN c.least_p_value < alpha THEN c.p_value < alpha END AS significant
    FROM differences AS d
    LEFT JOIN step_changes('figures', 'kernel_traces') AS c ON d.key = c.key
    WHERE NOT only_significant OR c.p_value < alpha
    ORDER BY
        abs(d.delta_total_us) DESC NULLS LAST,
        d.name ASC,
        d.operator ASC,
        d.grid ASC,
        d.block ASC,
        d.registers_per_thread ASC,
        d.shared_memory_bytes ASC;
