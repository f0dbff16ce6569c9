-- view: diff_operators
-- version: 1
-- since: 0.1
-- summary: Time of each operator in two runs, the difference, and whether it is within the noise.
-- distributes: warehouse
-- combines: operator_stats_v1(group_by := group_by, per_span := TRUE) WHERE block IS NULL; operator_steps(group_by := group_by) WHERE block IS NULL; steps
-- order: abs(delta_device_self_us) DESC, abs(delta_host_self_us) DESC, name, input_dims, call_stack
-- empty: Neither run has operators that group_by '{group_by}' lists: {record operators}.
-- notes: replay_notes
-- uses: block_parts, checked_between, delta, delta_pct, operator_steps, operators_of_side, step_changes, steps_of_sides, trace_weights
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2 --limit 6
-- reading: In the second run two processes load the data: drawing and shrinking images moved out of the training process. The other differences are small.
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
--   baseline_replayed_us                   DOUBLE   us    Part of baseline_device_self_us that graphs replayed.
--   experiment_replayed_us                 DOUBLE   us    The same in the experiment.
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
CREATE MACRO diff_operators_v1(
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
            operators_of_side(
                'parts', 'baseline', baseline, baseline_worker, baseline_span, group_by, block
            ) AS b
        UNION ALL
        SELECT e.*
        FROM
            operators_of_side(
                'parts',
                'experiment',
                experiment,
                experiment_worker,
                experiment_span,
                group_by,
                block
            ) AS e
    ),

    device_stats AS (
        SELECT s.side, s.worker, s.span
        FROM stats AS s
        WHERE s.device_self_us IS NOT NULL
    ),

    summed AS (
        SELECT
            s.name,
            s.input_dims,
            s.call_stack,
            sum(s.calls * w.weight) FILTER (WHERE s.side = 'baseline')
                AS baseline_calls,
            sum(s.calls * w.weight) FILTER (WHERE s.side = 'experiment')
                AS experiment_calls,
            sum(s.host_self_us * w.weight) FILTER (WHERE s.side = 'baseline')
                AS baseline_host_self_us,
            sum(s.host_self_us * w.weight) FILTER (WHERE s.side = 'experiment')
                AS experiment_host_self_us,
            sum(s.host_total_us * w.weight) FILTER (WHERE s.side = 'baseline')
                AS baseline_host_total_us,
            sum(s.host_total_us * w.weight) FILTER (WHERE s.side = 'experiment')
                AS experiment_host_total_us,
            sum(s.device_self_us * d.weight) FILTER (WHERE s.side = 'baseline')
                AS baseline_device_self_us,
            sum(s.device_self_us * d.weight) FILTER (WHERE s.side = 'experiment')
                AS experiment_device_self_us,
            sum(s.device_total_us * d.weight) FILTER (WHERE s.side = 'baseline')
                AS baseline_device_total_us,
            sum(s.device_total_us * d.weight) FILTER (WHERE s.side = 'experiment')
                AS experiment_device_total_us,
            sum(s.replayed_us * d.weight) FILTER (WHERE s.side = 'baseline')
                AS baseline_replayed_us,
            sum(s.replayed_us * d.weight) FILTER (WHERE s.side = 'experiment')
                AS experiment_replayed_us
        FROM stats AS s
        INNER JOIN trace_weights('stats') AS w
            ON s.side = w.side AND s.worker = w.worker AND s.span = w.span
        LEFT JOIN trace_weights('device_stats') AS d
            ON s.side = d.side AND s.worker = d.worker AND s.span = d.span
        GROUP BY ALL
    ),

    -- What the traces of each side record. In a block there may be nothing of what a trace records.
    recorded AS (
        SELECT s.side, s.device_self_us IS NOT NULL AS has_device
        FROM stats AS s
        UNION ALL
        SELECT DISTINCT t.side, h.plain_self_ns IS NOT NULL
        FROM (
            SELECT DISTINCT
                p.side,
                CASE p.side WHEN 'baseline' THEN baseline ELSE experiment END AS run,
                p.worker,
                p.span
            FROM parts AS p
        ) AS t
        INNER JOIN host_events AS h
            ON t.run = h.run AND t.worker = h.worker AND t.span = h.span
        WHERE
            block IS NOT NULL
            AND h.run IN (baseline, experiment)
            AND h.inner_self_ns IS NOT NULL
    ),

    -- What a side has of an operator that it never calls: 0, if it has anything to say.
    absent AS (
        SELECT
            CASE WHEN bool_or(r.side = 'baseline') THEN 0 END AS baseline_host,
            CASE WHEN bool_or(r.side = 'experiment') THEN 0 END AS experiment_host,
            CASE WHEN bool_or(r.side = 'baseline' AND r.has_device) THEN 0 END AS baseline_device,
            CASE WHEN bool_or(r.side = 'experiment' AND r.has_device) THEN 0 END
                AS experiment_device
        FROM recorded AS r
    ),

    paired AS MATERIALIZED (
        SELECT
            row_number() OVER () AS key,
            s.name,
            s.input_dims,
            s.call_stack,
            coalesce(s.baseline_calls, a.baseline_host) AS baseline_calls,
            coalesce(s.experiment_calls, a.experiment_host) AS experiment_calls,
            coalesce(s.baseline_host_self_us, a.baseline_host) AS baseline_host_self_us,
            coalesce(s.experiment_host_self_us, a.experiment_host) AS experiment_host_self_us,
            coalesce(s.baseline_host_total_us, a.baseline_host) AS baseline_host_total_us,
            coalesce(s.experiment_host_total_us, a.experiment_host) AS experiment_host_total_us,
            coalesce(s.baseline_device_self_us, a.baseline_device) AS baseline_device_self_us,
            coalesce(s.experiment_device_self_us, a.experiment_device)
                AS experiment_device_self_us,
            coalesce(s.baseline_device_total_us, a.baseline_device) AS baseline_device_total_us,
            coalesce(s.experiment_device_total_us, a.experiment_device)
                AS experiment_device_total_us,
            coalesce(s.baseline_replayed_us, a.baseline_device) AS baseline_replayed_us,
            coalesce(s.experiment_replayed_us, a.experiment_device) AS experiment_replayed_us
        FROM summed AS s
        CROSS JOIN absent AS a
    ),

    totals AS MATERIALIZED (
        SELECT 'baseline' AS side, b.*
        FROM operator_steps(baseline, baseline_worker, baseline_span, group_by) AS b
        WHERE b.run = baseline AND block IS NULL
        UNION ALL
        SELECT 'experiment', e.*
        FROM operator_steps(experiment, experiment_worker, experiment_span, group_by) AS e
        WHERE e.run = experiment AND block IS NULL
    ),

    trace_steps AS MATERIALIZED (
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

    keyed AS MATERIALIZED (
        SELECT d.key, t.side, t.worker, t.span, t.step, t.host_self_ns, t.device_self_ns
        FROM totals AS t
        INNER JOIN paired AS d
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
        delta(d.baseline_calls, d.experiment_calls) AS delta_calls,
        delta_pct(d.baseline_calls, d.experiment_calls) AS delta_calls_pct,
        d.baseline_host_self_us,
        d.experiment_host_self_us,
        delta(d.baseline_host_self_us, d.experiment_host_self_us) AS delta_host_self_us,
        delta_pct(d.baseline_host_self_us, d.experiment_host_self_us) AS delta_host_self_us_pct,
        d.baseline_host_total_us,
        d.experiment_host_total_us,
        delta(d.baseline_host_total_us, d.experiment_host_total_us) AS delta_host_total_us,
        delta_pct(d.baseline_host_total_us, d.experiment_host_total_us) AS delta_host_total_us_pct,
        d.baseline_device_self_us,
        d.experiment_device_self_us,
        delta(d.baseline_device_self_us, d.experiment_device_self_us) AS delta_device_self_us,
        delta_pct(d.baseline_device_self_us, d.experiment_device_self_us)
            AS delta_device_self_us_pct,
        d.baseline_device_total_us,
        d.experiment_device_total_us,
        delta(d.baseline_device_total_us, d.experiment_device_total_us) AS delta_device_total_us,
        delta_pct(d.baseline_device_total_us, d.experiment_device_total_us)
            AS delta_device_total_us_pct,
        d.baseline_replayed_us,
        d.experiment_replayed_us,
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
            WHEN least(h.least_p_value, v.least_p_value) < checked_between('alpha', alpha, 0, 1)
                THEN least(h.p_value, v.p_value) < alpha
        END AS significant
    FROM paired AS d
    LEFT JOIN step_changes('host_figures', 'host_steps') AS h ON d.key = h.key
    LEFT JOIN step_changes('device_figures', 'device_steps') AS v ON d.key = v.key
    WHERE
        NOT only_significant
        OR least(h.p_value, v.p_value) < checked_between('alpha', alpha, 0, 1)
    ORDER BY
        abs(delta(d.baseline_device_self_us, d.experiment_device_self_us)) DESC NULLS LAST,
        abs(delta(d.baseline_host_self_us, d.experiment_host_self_us)) DESC NULLS LAST,
        d.name ASC, d.input_dims ASC, d.call_stack ASC;
