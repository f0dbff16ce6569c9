-- view: diff_kernels
-- version: 1
-- since: 0.1
-- summary: Time of each kernel in two runs, the difference, and whether it is within the noise.
-- distributes: warehouse
-- combines: kernel_stats_v1(group_by := group_by, per_span := TRUE) WHERE block IS NULL; kernel_steps(group_by := group_by) WHERE block IS NULL; steps
-- order: abs(delta_total_us) DESC, name, operator, grid, block, registers_per_thread, shared_memory_bytes
-- empty: Neither run has kernels: {record device}.
-- notes: replay_notes
-- uses: block_parts, checked_between, delta, delta_pct, kernel_steps, kernels_of_side, step_changes, steps_of_sides, trace_weights
-- example: samples --baseline gpt_eager --experiment gpt_compiled --limit 4
-- reading: torch.compile fuses the work of the first two kernels into others. Of the next two it leaves the longest calls.
--
-- The figures are those of kernel_stats. For a run with several traces they are the mean over its
-- workers of the mean over the spans of each worker, over the traces that have kernels. If a kernel does
-- not occur in one of these traces, or in the whole run, it counts as 0 calls and 0 us there: both are
-- measured values. Such a run has no mean duration of the kernel. A run without any kernels, or that does
-- not exist, has NULL.
--
-- Differences are experiment - baseline. The largest difference in total time, positive or negative, comes
-- first.
--
-- Whether a difference is more than noise is tested on the steps, as in diff_steps. The tested value is
-- the total time of the kernel in the work that a step launched; it is 0 in a step without the kernel. Steps
-- that the end of the recording cut short are left out. At an alpha of 0.05, five of a hundred unchanged
-- kernels are reported as significant: look at the largest differences first, or use a smaller alpha.
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
--   only_significant   BOOLEAN  -     FALSE    TRUE reports only significant changes.
--   alpha              DOUBLE   -     0.05     A p-value below this level is significant.
--   block              VARCHAR  -     NULL     Path of a block of diff_modules: only what is launched in it, in the one trace of each run that diff_modules compares, without a test; NULL reports all.
-- columns
--   name                             type       unit   meaning
--   name                             VARCHAR    key    Name of the kernel.
--   operator                         VARCHAR    key    Operator or annotation that launched it; NULL unless grouped by 'launch'.
--   grid                             INTEGER[]  key    Blocks in x, y and z; NULL unless grouped by 'launch'.
--   block                            INTEGER[]  key    Threads per block in x, y and z; NULL unless grouped by 'launch'.
--   registers_per_thread             INTEGER    key    Registers per thread; NULL unless grouped by 'launch'.
--   shared_memory_bytes              BIGINT     bytes  Shared memory per block; NULL unless grouped by 'launch'.
--   baseline_calls                   DOUBLE     -      Number of times it ran in the baseline.
--   experiment_calls                 DOUBLE     -      Number of times it ran in the experiment.
--   delta_calls                      DOUBLE     -      Difference in calls.
--   delta_calls_pct                  DOUBLE     pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_total_us                DOUBLE     us     Sum of the durations in the baseline.
--   experiment_total_us              DOUBLE     us     The same in the experiment.
--   delta_total_us                   DOUBLE     us     Difference in total time.
--   delta_total_us_pct               DOUBLE     pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_mean_us                 DOUBLE     us     Total time divided by calls in the baseline.
--   experiment_mean_us               DOUBLE     us     The same in the experiment.
--   delta_mean_us                    DOUBLE     us     Difference in mean time.
--   delta_mean_us_pct                DOUBLE     pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_steps                   BIGINT     -      Number of steps of the baseline.
--   experiment_steps                 BIGINT     -      Number of steps of the experiment.
--   baseline_total_step_median_us    DOUBLE     us     Median of its time per step of the baseline.
--   experiment_total_step_median_us  DOUBLE     us     Median of its time per step of the experiment.
--   baseline_total_step_iqr_us       DOUBLE     us     Interquartile range of its time per step of the baseline.
--   experiment_total_step_iqr_us     DOUBLE     us     Interquartile range of its time per step of the experiment.
--   total_p_value                    DOUBLE     -      Probability of a difference this large by chance; NULL if a run has fewer than 2 steps.
--   significant                      BOOLEAN    -      Whether the p-value is below alpha; NULL if there are too few steps to tell.
CREATE MACRO diff_kernels_v1(
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
    parts AS MATERIALIZED (
        SELECT p.side, p.path, p.worker, p.span, p.start_ns, p.end_ns
        FROM
            block_parts(
                baseline,
                experiment,
                baseline_worker,
                experiment_worker,
                baseline_span,
                experiment_span,
                block
            ) AS p
    ),

    stats AS MATERIALIZED (
        SELECT b.*
        FROM
            kernels_of_side(
                'parts', 'baseline', baseline, baseline_worker, baseline_span, group_by, block
            ) AS b
        UNION ALL
        SELECT e.*
        FROM
            kernels_of_side(
                'parts',
                'experiment',
                experiment,
                experiment_worker,
                experiment_span,
                group_by,
                block
            ) AS e
    ),

    summed AS (
        SELECT
            s.name,
            s.operator,
            s.grid,
            s.block,
            s.registers_per_thread,
            s.shared_memory_bytes,
            sum(s.calls * w.weight) FILTER (WHERE s.side = 'baseline') AS baseline_calls,
            sum(s.calls * w.weight) FILTER (WHERE s.side = 'experiment') AS experiment_calls,
            sum(s.total_us * w.weight) FILTER (WHERE s.side = 'baseline') AS baseline_total_us,
            sum(s.total_us * w.weight) FILTER (WHERE s.side = 'experiment') AS experiment_total_us
        FROM stats AS s
        INNER JOIN trace_weights('stats') AS w
            ON s.side = w.side AND s.worker = w.worker AND s.span = w.span
        GROUP BY ALL
    ),

    -- The sides with traces that have kernels. In a block there may be none of them.
    recorded AS (
        SELECT s.side
        FROM stats AS s
        UNION ALL
        SELECT DISTINCT t.side
        FROM (
            SELECT DISTINCT
                p.side,
                CASE p.side WHEN 'baseline' THEN baseline ELSE experiment END AS run,
                p.worker,
                p.span
            FROM parts AS p
        ) AS t
        INNER JOIN device_events AS d
            ON t.run = d.run AND t.worker = d.worker AND t.span = d.span
        WHERE
            block IS NOT NULL
            AND d.run IN (baseline, experiment)
            AND d.kind IN ('compute', 'communication')
    ),

    -- What a side has of a kernel that it never launches: 0, if it has any kernels.
    absent AS (
        SELECT
            CASE WHEN bool_or(r.side = 'baseline') THEN 0 END AS baseline,
            CASE WHEN bool_or(r.side = 'experiment') THEN 0 END AS experiment
        FROM recorded AS r
    ),

    paired AS MATERIALIZED (
        SELECT
            row_number() OVER () AS key,
            s.name,
            s.operator,
            s.grid,
            s.block,
            s.registers_per_thread,
            s.shared_memory_bytes,
            coalesce(s.baseline_calls, a.baseline) AS baseline_calls,
            coalesce(s.experiment_calls, a.experiment) AS experiment_calls,
            coalesce(s.baseline_total_us, a.baseline) AS baseline_total_us,
            coalesce(s.experiment_total_us, a.experiment) AS experiment_total_us,
            s.baseline_total_us / s.baseline_calls AS baseline_mean_us,
            s.experiment_total_us / s.experiment_calls AS experiment_mean_us
        FROM summed AS s
        CROSS JOIN absent AS a
    ),

    totals AS MATERIALIZED (
        SELECT 'baseline' AS side, b.*
        FROM kernel_steps(baseline, baseline_worker, baseline_span, group_by) AS b
        WHERE b.run = baseline AND block IS NULL
        UNION ALL
        SELECT 'experiment', e.*
        FROM kernel_steps(experiment, experiment_worker, experiment_span, group_by) AS e
        WHERE e.run = experiment AND block IS NULL
    ),

    figures AS MATERIALIZED (
        SELECT d.key, t.side, t.worker, t.span, t.step, t.total_ns AS value_ns
        FROM totals AS t
        INNER JOIN paired AS d
            ON
                t.name = d.name
                AND t.operator IS NOT DISTINCT FROM d.operator
                AND t.grid IS NOT DISTINCT FROM d.grid
                AND t.block IS NOT DISTINCT FROM d.block
                AND t.registers_per_thread IS NOT DISTINCT FROM d.registers_per_thread
                AND t.shared_memory_bytes IS NOT DISTINCT FROM d.shared_memory_bytes
    ),

    trace_steps AS (
        SELECT s.side, s.worker, s.span, s.step
        FROM
            steps_of_sides(
                baseline,
                experiment,
                baseline_worker,
                experiment_worker,
                baseline_span,
                experiment_span,
                block
            ) AS s
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
        delta(d.baseline_calls, d.experiment_calls) AS delta_calls,
        delta_pct(d.baseline_calls, d.experiment_calls) AS delta_calls_pct,
        d.baseline_total_us,
        d.experiment_total_us,
        delta(d.baseline_total_us, d.experiment_total_us) AS delta_total_us,
        delta_pct(d.baseline_total_us, d.experiment_total_us) AS delta_total_us_pct,
        d.baseline_mean_us,
        d.experiment_mean_us,
        delta(d.baseline_mean_us, d.experiment_mean_us) AS delta_mean_us,
        delta_pct(d.baseline_mean_us, d.experiment_mean_us) AS delta_mean_us_pct,
        coalesce(c.baseline_steps, 0) AS baseline_steps,
        coalesce(c.experiment_steps, 0) AS experiment_steps,
        c.baseline_median_us AS baseline_total_step_median_us,
        c.experiment_median_us AS experiment_total_step_median_us,
        c.baseline_iqr_us AS baseline_total_step_iqr_us,
        c.experiment_iqr_us AS experiment_total_step_iqr_us,
        c.p_value AS total_p_value,
        CASE
            WHEN c.least_p_value < checked_between('alpha', alpha, 0, 1) THEN c.p_value < alpha
        END AS significant
    FROM paired AS d
    LEFT JOIN step_changes('figures', 'kernel_traces') AS c ON d.key = c.key
    WHERE NOT only_significant OR c.p_value < checked_between('alpha', alpha, 0, 1)
    ORDER BY
        abs(delta(d.baseline_total_us, d.experiment_total_us)) DESC NULLS LAST,
        d.name ASC,
        d.operator ASC,
        d.grid ASC,
        d.block ASC,
        d.registers_per_thread ASC,
        d.shared_memory_bytes ASC;
