-- view: diff_kernels
-- version: 1
-- since: 0.1
-- summary: How long each kernel ran in two runs, and the difference.
-- distributes: warehouse
-- combines: kernel_stats_v1(group_by := group_by, per_span := TRUE) WHERE block IS NULL
-- order: abs(delta_total_us) DESC, name, operator, grid, block, registers_per_thread, shared_memory_bytes
-- empty: Neither run has kernels: record with ProfilerActivity.CUDA (or XPU, ...) among the activities.
-- uses: block_parts, delta_pct, kernel_stats_v1, kernels_in_parts, trace_weights
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
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL averages all.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL averages all.
--   group_by           VARCHAR  -     'name'   As in kernel_stats: 'name' or 'launch'.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL averages all.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL averages all.
--   block              VARCHAR  -     NULL     Path of a block of diff_modules: only what is launched in it, of the one trace that this takes of each run; NULL takes all.
-- columns
--   name                  type       unit   meaning
--   name                  VARCHAR    key    Name of the kernel.
--   operator              VARCHAR    key    Operator or annotation that launched it; NULL unless grouped by 'launch'.
--   grid                  INTEGER[]  key    Blocks in x, y and z; NULL unless grouped by 'launch'.
--   block                 INTEGER[]  key    Threads per block in x, y and z; NULL unless grouped by 'launch'.
--   registers_per_thread  INTEGER    key    Registers each thread uses; NULL unless grouped by 'launch'.
--   shared_memory_bytes   BIGINT     bytes  Shared memory each block uses; NULL unless grouped by 'launch'.
--   baseline_calls        DOUBLE     -      How often it ran in the baseline.
--   experiment_calls      DOUBLE     -      How often it ran in the experiment.
--   delta_calls           DOUBLE     -      Difference in calls.
--   delta_calls_pct       DOUBLE     pct    The same as a share of the baseline; NULL where that is 0.
--   baseline_total_us     DOUBLE     us     Sum of the durations in the baseline.
--   experiment_total_us   DOUBLE     us     The same in the experiment.
--   delta_total_us        DOUBLE     us     Difference in total time.
--   delta_total_us_pct    DOUBLE     pct    The same as a share of the baseline; NULL where that is 0.
--   baseline_mean_us      DOUBLE     us     Total time divided by calls in the baseline.
--   experiment_mean_us    DOUBLE     us     The same in the experiment.
--   delta_mean_us         DOUBLE     us     Difference in mean time.
--   delta_mean_us_pct     DOUBLE     pct    The same as a share of the baseline; NULL where that is 0.
CREATE MACRO diff_kernels_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    group_by VARCHAR := 'name',
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    block VARCHAR := NULL
) AS TABLE
    WITH
    parts AS MATERIALIZED (
        SELECT p.side, p.worker, p.span, p.start_ns, p.end_ns
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

    -- The names are compared here too: a NULL would otherwise take every run.
    stats AS MATERIALIZED (
        SELECT
            'baseline' AS side,
            b.worker,
            b.span,
            b.name,
            b.operator,
            b.grid,
            b.block,
            b.registers_per_thread,
            b.shared_memory_bytes,
            b.calls,
            b.total_us
        FROM
            kernel_stats_v1(
                run := baseline,
                worker := baseline_worker,
                span := baseline_span,
                group_by := group_by,
                per_span := TRUE
            ) AS b
        WHERE b.run = baseline AND block IS NULL
        UNION ALL
        SELECT
            'experiment',
            e.worker,
            e.span,
            e.name,
            e.operator,
            e.grid,
            e.block,
            e.registers_per_thread,
            e.shared_memory_bytes,
            e.calls,
            e.total_us
        FROM
            kernel_stats_v1(
                run := experiment,
                worker := experiment_worker,
                span := experiment_span,
                group_by := group_by,
                per_span := TRUE
            ) AS e
        WHERE e.run = experiment AND block IS NULL
        UNION ALL
        SELECT
            b.side,
            b.worker,
            b.span,
            b.name,
            b.operator,
            b.grid,
            b.block,
            b.registers_per_thread,
            b.shared_memory_bytes,
            b.calls,
            b.total_us
        FROM kernels_in_parts('parts', 'baseline', baseline, group_by) AS b
        WHERE block IS NOT NULL
        UNION ALL
        SELECT
            e.side,
            e.worker,
            e.span,
            e.name,
            e.operator,
            e.grid,
            e.block,
            e.registers_per_thread,
            e.shared_memory_bytes,
            e.calls,
            e.total_us
        FROM kernels_in_parts('parts', 'experiment', experiment, group_by) AS e
        WHERE block IS NOT NULL
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

    -- What a side has of a kernel that it never launches: 0, if it has any kernels.
    absent AS (
        SELECT
            CASE
                WHEN
                    bool_or(s.side = 'baseline')
                    OR (SELECT count(*) FROM parts AS p WHERE p.side = 'baseline') > 0
                    THEN 0
            END AS baseline,
            CASE
                WHEN
                    bool_or(s.side = 'experiment')
                    OR (SELECT count(*) FROM parts AS p WHERE p.side = 'experiment') > 0
                    THEN 0
            END AS experiment
        FROM stats AS s
    ),

    paired AS (
        SELECT
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
    )

    SELECT
        p.name,
        p.operator,
        p.grid,
        p.block,
        p.registers_per_thread,
        p.shared_memory_bytes,
        p.baseline_calls,
        p.experiment_calls,
        p.experiment_calls - p.baseline_calls AS delta_calls,
        delta_pct(p.baseline_calls, p.experiment_calls) AS delta_calls_pct,
        p.baseline_total_us,
        p.experiment_total_us,
        p.experiment_total_us - p.baseline_total_us AS delta_total_us,
        delta_pct(p.baseline_total_us, p.experiment_total_us) AS delta_total_us_pct,
        p.baseline_mean_us,
        p.experiment_mean_us,
        p.experiment_mean_us - p.baseline_mean_us AS delta_mean_us,
        delta_pct(p.baseline_mean_us, p.experiment_mean_us) AS delta_mean_us_pct
    FROM paired AS p
    ORDER BY
        abs(p.experiment_total_us - p.baseline_total_us) DESC NULLS LAST,
        p.name ASC,
        p.operator ASC,
        p.grid ASC,
        p.block ASC,
        p.registers_per_thread ASC,
        p.shared_memory_bytes ASC;
