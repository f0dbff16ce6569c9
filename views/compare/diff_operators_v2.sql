-- view: diff_operators
-- version: 2
-- since: 0.1
-- summary: Time of each operator in two runs, the difference, and whether it is within the noise.
-- distributes: warehouse
-- combines: operator_stats_v1(group_by := group_by, per_span := TRUE) WHERE block IS NULL; operator_steps(group_by := group_by) WHERE block IS NULL; steps
-- order: abs(delta_device_self_us) DESC, abs(delta_host_self_us) DESC, name, input_dims, call_stack
-- empty: Neither run has operators that group_by '{group_by}' lists: record with ProfilerActivity.CPU among the activities.
-- uses: diff_operators_v1, operator_steps, step_changes
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2 --limit 6
-- reading: In the second run two processes load the data: drawing and shrinking images moved out of the training process. The rest is noise of short recordings.
--
-- The figures are those of operator_stats. For a run with several traces they are the mean over its
-- workers of the mean over the spans of each worker. If an operator does not occur in one of the traces, or
-- in the whole run, it counts as 0 calls and 0 us there: both are measured values. A run without any
-- operators, or that does not exist, has NULL instead. Device figures are averaged over the traces that link
-- device work to operators, and NULL if none does.
--
-- Differences are experiment - baseline. The largest difference in device self time, positive or negative,
-- comes first; without device time, the largest difference in host self time.
--
-- Whether a difference is more than noise is tested on the steps, as in diff_steps. The tested value is
-- the time of all calls of the operator in a step together; it is 0 in a step without calls. Steps that the
-- end of the recording cut short are left out. At an alpha of 0.05, five of a hundred unchanged operators
-- are reported as significant: look at the largest differences first, or use a smaller alpha.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL averages all.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL averages all.
--   group_by           VARCHAR  -     'name'   As in operator_stats: 'name', 'input_shape', 'call_stack' or 'input_shape_call_stack'.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL averages all.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL averages all.
--   only_significant   BOOLEAN  -     FALSE    TRUE reports only significant changes.
--   alpha              DOUBLE   -     0.05     A p-value below this level is significant.
--   block              VARCHAR  -     NULL     Path of a block of diff_modules: only what is called in it, in the one trace of each run that diff_modules compares, without a test; NULL reports all.
-- columns
--   name                                   type     unit  meaning
--   name                                   VARCHAR  key   Name of the operator.
--   input_dims                             JSON     key   Shape of each input; NULL unless grouped by it.
--   call_stack                             VARCHAR  key   Python frames, innermost first; NULL unless grouped by it.
--   baseline_calls                         DOUBLE   -     Number of calls in the baseline.
--   experiment_calls                       DOUBLE   -     Number of calls in the experiment.
--   delta_calls                            DOUBLE   -     Difference in calls.
--   delta_calls_pct                        DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_host_self_us                  DOUBLE   us    Host time of the operator itself in the baseline.
--   experiment_host_self_us                DOUBLE   us    The same in the experiment.
--   delta_host_self_us                     DOUBLE   us    Difference in host self time.
--   delta_host_self_us_pct                 DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_host_total_us                 DOUBLE   us    Host time from start to end in the baseline.
--   experiment_host_total_us               DOUBLE   us    The same in the experiment.
--   delta_host_total_us                    DOUBLE   us    Difference in host total time.
--   delta_host_total_us_pct                DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_device_self_us                DOUBLE   us    Device work that it launched itself in the baseline.
--   experiment_device_self_us              DOUBLE   us    The same in the experiment.
--   delta_device_self_us                   DOUBLE   us    Difference in device self time.
--   delta_device_self_us_pct               DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_device_total_us               DOUBLE   us    Device work of it and the operators below it in the baseline.
--   experiment_device_total_us             DOUBLE   us    The same in the experiment.
--   delta_device_total_us                  DOUBLE   us    Difference in device total time.
--   delta_device_total_us_pct              DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_steps                         BIGINT   -     Number of steps of the baseline.
--   experiment_steps                       BIGINT   -     Number of steps of the experiment.
--   baseline_host_self_step_median_us      DOUBLE   us    Median of its host self time per step of the baseline.
--   experiment_host_self_step_median_us    DOUBLE   us    Median of its host self time per step of the experiment.
--   baseline_host_self_step_iqr_us         DOUBLE   us    Interquartile range of its host self time per step of the baseline.
--   experiment_host_self_step_iqr_us       DOUBLE   us    Interquartile range of its host self time per step of the experiment.
--   host_self_p_value                      DOUBLE   -     Probability of a difference this large by chance; NULL if a run has fewer than 2 steps.
--   baseline_device_self_step_median_us    DOUBLE   us    Median of its device self time per step of the baseline.
--   experiment_device_self_step_median_us  DOUBLE   us    Median of its device self time per step of the experiment.
--   baseline_device_self_step_iqr_us       DOUBLE   us    Interquartile range of its device self time per step of the baseline.
--   experiment_device_self_step_iqr_us     DOUBLE   us    Interquartile range of its device self time per step of the experiment.
--   device_self_p_value                    DOUBLE   -     Probability of a difference this large by chance; NULL if a run has fewer than 2 steps with device figures.
--   significant                            BOOLEAN  -     Whether a p-value is below alpha; NULL if there are too few steps to tell.
CREATE MACRO diff_operators_v2(
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
            d.input_dims,
            d.call_stack,
            d.baseline_calls,
            d.experiment_calls,
            d.delta_calls,
            d.delta_calls_pct,
            d.baseline_host_self_us,
            d.experiment_host_self_us,
            d.delta_host_self_us,
            d.delta_host_self_us_pct,
            d.baseline_host_total_us,
            d.experiment_host_total_us,
            d.delta_host_total_us,
            d.delta_host_total_us_pct,
            d.baseline_device_self_us,
            d.experiment_device_self_us,
            d.delta_device_self_us,
            d.delta_device_self_us_pct,
            d.baseline_device_total_us,
            d.experiment_device_total_us,
            d.delta_device_total_us,
            d.delta_device_total_us_pct
        FROM
            diff_operators_v1(
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
            b.input_dims,
            b.call_stack,
            b.host_self_ns,
            b.device_self_ns
        FROM operator_steps(baseline, baseline_worker, baseline_span, group_by) AS b
        WHERE b.run = baseline AND block IS NULL
        UNION ALL
        SELECT
            'experiment',
            e.worker,
            e.span,
            e.step,
            e.name,
            e.input_dims,
            e.call_stack,
            e.host_self_ns,
            e.device_self_ns
        FROM operator_steps(experiment, experiment_worker, experiment_span, group_by) AS e
        WHERE e.run = experiment AND block IS NULL
    ),

    trace_steps AS MATERIALIZED (
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

    keyed AS MATERIALIZED (
        SELECT d.key, t.side, t.worker, t.span, t.step, t.host_self_ns, t.device_self_ns
        FROM totals AS t
        INNER JOIN differences AS d
            ON
                t.name = d.name
                AND t.input_dims IS NOT DISTINCT FROM d.input_dims
                AND t.call_stack IS NOT DISTINCT FROM d.call_stack
    ),

    host_figures AS MATERIALIZED (
        SELECT k.key, k.side, k.worker, k.span, k.step, k.host_self_ns AS value_ns
        FROM keyed AS k
    ),

    host_steps AS (
        SELECT s.side, s.worker, s.span, s.step
        FROM trace_steps AS s
        SEMI JOIN keyed AS k ON s.side = k.side AND s.worker = k.worker AND s.span = k.span
    ),

    device_figures AS MATERIALIZED (
        SELECT k.key, k.side, k.worker, k.span, k.step, k.device_self_ns AS value_ns
        FROM keyed AS k
        WHERE k.device_self_ns IS NOT NULL
    ),

    device_steps AS (
        SELECT s.side, s.worker, s.span, s.step
        FROM trace_steps AS s
        SEMI JOIN device_figures AS f ON s.side = f.side AND s.worker = f.worker AND s.span = f.span
    )

    SELECT
        d.name,
        d.input_dims,
        d.call_stack,
        d.baseline_calls,
        d.experiment_calls,
        d.delta_calls,
        d.delta_calls_pct,
        d.baseline_host_self_us,
        d.experiment_host_self_us,
        d.delta_host_self_us,
        d.delta_host_self_us_pct,
        d.baseline_host_total_us,
        d.experiment_host_total_us,
        d.delta_host_total_us,
        d.delta_host_total_us_pct,
        d.baseline_device_self_us,
        d.experiment_device_self_us,
        d.delta_device_self_us,
        d.delta_device_self_us_pct,
        d.baseline_device_total_us,
        d.experiment_device_total_us,
        d.delta_device_total_us,
        d.delta_device_total_us_pct,
        coalesce(h.baseline_steps, 0) AS baseline_steps,
        coalesce(h.experiment_steps, 0) AS experiment_steps,
        h.baseline_median_us AS baseline_host_self_step_median_us,
        h.experiment_median_us AS experiment_host_self_step_median_us,
        h.baseline_iqr_us AS baseline_host_self_step_iqr_us,
        h.experiment_iqr_us AS experiment_host_self_step_iqr_us,
        h.p_value AS host_self_p_value,
        v.baseline_median_us AS baseline_device_self_step_median_us,
        v.experiment_median_us AS experiment_device_self_step_median_us,
        v.baseline_iqr_us AS baseline_device_self_step_iqr_us,
        v.experiment_iqr_us AS experiment_device_self_step_iqr_us,
        v.p_value AS device_self_p_value,
        CASE
            WHEN least(h.least_p_value, v.least_p_value) < alpha
                THEN least(h.p_value, v.p_value) < alpha
        END AS significant
    FROM differences AS d
    LEFT JOIN step_changes('host_figures', 'host_steps') AS h ON d.key = h.key
    LEFT JOIN step_changes('device_figures', 'device_steps') AS v ON d.key = v.key
    WHERE NOT only_significant OR least(h.p_value, v.p_value) < alpha
    ORDER BY
        abs(d.delta_device_self_us) DESC NULLS LAST,
        abs(d.delta_host_self_us) DESC NULLS LAST,
        d.name ASC, d.input_dims ASC, d.call_stack ASC;
