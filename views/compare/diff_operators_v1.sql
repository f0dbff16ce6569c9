-- view: diff_operators
-- version: 1
-- since: 0.1
-- summary: What each operator cost in two runs, and the difference.
-- distributes: warehouse
-- combines: operator_stats_v1(group_by := group_by, per_span := TRUE) WHERE block IS NULL
-- order: abs(delta_device_self_us) DESC, abs(delta_host_self_us) DESC, name, input_dims, call_stack
-- empty: Neither run has operators that group_by '{group_by}' lists: record with ProfilerActivity.CPU among the activities.
-- uses: block_parts, delta_pct, operator_stats_v1, operators_in_parts, trace_weights
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2 --limit 6
-- reading: Two processes load the data in the second run: drawing and shrinking pictures left the training process. The rest is noise of short recordings.
--
-- The figures are those of operator_stats. A run with several traces counts with the mean over its
-- workers of the mean over the spans of each worker; a trace in which an operator does not occur
-- counts as 0 calls and 0 us of it, and so does a run in which it does not occur: both are
-- measured. A run without any operators, or that does not exist, has NULL instead, and device
-- figures are averaged over the traces that link device work to operators, NULL where none does.
--
-- Differences are experiment - baseline. The largest difference in device self time comes first,
-- in either direction, or that in host self time where there is no device time.
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
--   block              VARCHAR  -     NULL     Path of a block of diff_modules: only what is called in it, of the one trace that this takes of each run; NULL takes all.
-- columns
--   name                        type     unit  meaning
--   name                        VARCHAR  key   Name of the operator.
--   input_dims                  JSON     key   Shape of each input; NULL unless grouped by it.
--   call_stack                  VARCHAR  key   Python frames, innermost first; NULL unless grouped by it.
--   baseline_calls              DOUBLE   -     Number of calls in the baseline.
--   experiment_calls            DOUBLE   -     Number of calls in the experiment.
--   delta_calls                 DOUBLE   -     Difference in calls.
--   delta_calls_pct             DOUBLE   pct   The same as a share of the baseline; NULL where that is 0.
--   baseline_host_self_us       DOUBLE   us    Host time of the operator itself in the baseline.
--   experiment_host_self_us     DOUBLE   us    The same in the experiment.
--   delta_host_self_us          DOUBLE   us    Difference in host self time.
--   delta_host_self_us_pct      DOUBLE   pct   The same as a share of the baseline; NULL where that is 0.
--   baseline_host_total_us      DOUBLE   us    Host time from start to end in the baseline.
--   experiment_host_total_us    DOUBLE   us    The same in the experiment.
--   delta_host_total_us         DOUBLE   us    Difference in host total time.
--   delta_host_total_us_pct     DOUBLE   pct   The same as a share of the baseline; NULL where that is 0.
--   baseline_device_self_us     DOUBLE   us    Device work that it launched itself in the baseline.
--   experiment_device_self_us   DOUBLE   us    The same in the experiment.
--   delta_device_self_us        DOUBLE   us    Difference in device self time.
--   delta_device_self_us_pct    DOUBLE   pct   The same as a share of the baseline; NULL where that is 0.
--   baseline_device_total_us    DOUBLE   us    Device work of it and the operators below it in the baseline.
--   experiment_device_total_us  DOUBLE   us    The same in the experiment.
--   delta_device_total_us       DOUBLE   us    Difference in device total time.
--   delta_device_total_us_pct   DOUBLE   pct   The same as a share of the baseline; NULL where that is 0.
CREATE MACRO diff_operators_v1(
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
            b.input_dims,
            b.call_stack,
            b.calls,
            b.host_self_us,
            b.host_total_us,
            b.device_self_us,
            b.device_total_us
        FROM
            operator_stats_v1(
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
            e.input_dims,
            e.call_stack,
            e.calls,
            e.host_self_us,
            e.host_total_us,
            e.device_self_us,
            e.device_total_us
        FROM
            operator_stats_v1(
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
            b.input_dims,
            b.call_stack,
            b.calls,
            b.host_self_us,
            b.host_total_us,
            b.device_self_us,
            b.device_total_us
        FROM operators_in_parts('parts', 'baseline', baseline, group_by) AS b
        WHERE block IS NOT NULL
        UNION ALL
        SELECT
            e.side,
            e.worker,
            e.span,
            e.name,
            e.input_dims,
            e.call_stack,
            e.calls,
            e.host_self_us,
            e.host_total_us,
            e.device_self_us,
            e.device_total_us
        FROM operators_in_parts('parts', 'experiment', experiment, group_by) AS e
        WHERE block IS NOT NULL
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
                AS experiment_device_total_us
        FROM stats AS s
        INNER JOIN trace_weights('stats') AS w
            ON s.side = w.side AND s.worker = w.worker AND s.span = w.span
        LEFT JOIN trace_weights('device_stats') AS d
            ON s.side = d.side AND s.worker = d.worker AND s.span = d.span
        GROUP BY ALL
    ),

    -- What a side has of an operator that it never calls: 0, if it has anything to say.
    absent AS (
        SELECT
            CASE
                WHEN
                    bool_or(s.side = 'baseline')
                    OR (SELECT count(*) FROM parts AS p WHERE p.side = 'baseline') > 0
                    THEN 0
            END AS baseline_host,
            CASE
                WHEN
                    bool_or(s.side = 'experiment')
                    OR (SELECT count(*) FROM parts AS p WHERE p.side = 'experiment') > 0
                    THEN 0
            END AS experiment_host,
            CASE WHEN bool_or(s.side = 'baseline' AND s.device_self_us IS NOT NULL) THEN 0 END
                AS baseline_device,
            CASE WHEN bool_or(s.side = 'experiment' AND s.device_self_us IS NOT NULL) THEN 0 END
                AS experiment_device
        FROM stats AS s
    ),

    paired AS (
        SELECT
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
                AS experiment_device_total_us
        FROM summed AS s
        CROSS JOIN absent AS a
    )

    SELECT
        p.name,
        p.input_dims,
        p.call_stack,
        p.baseline_calls,
        p.experiment_calls,
        p.experiment_calls - p.baseline_calls AS delta_calls,
        delta_pct(p.baseline_calls, p.experiment_calls) AS delta_calls_pct,
        p.baseline_host_self_us,
        p.experiment_host_self_us,
        p.experiment_host_self_us - p.baseline_host_self_us AS delta_host_self_us,
        delta_pct(p.baseline_host_self_us, p.experiment_host_self_us) AS delta_host_self_us_pct,
        p.baseline_host_total_us,
        p.experiment_host_total_us,
        p.experiment_host_total_us - p.baseline_host_total_us AS delta_host_total_us,
        delta_pct(p.baseline_host_total_us, p.experiment_host_total_us) AS delta_host_total_us_pct,
        p.baseline_device_self_us,
        p.experiment_device_self_us,
        p.experiment_device_self_us - p.baseline_device_self_us AS delta_device_self_us,
        delta_pct(p.baseline_device_self_us, p.experiment_device_self_us)
            AS delta_device_self_us_pct,
        p.baseline_device_total_us,
        p.experiment_device_total_us,
        p.experiment_device_total_us - p.baseline_device_total_us AS delta_device_total_us,
        delta_pct(p.baseline_device_total_us, p.experiment_device_total_us)
            AS delta_device_total_us_pct
    FROM paired AS p
    ORDER BY
        abs(p.experiment_device_self_us - p.baseline_device_self_us) DESC NULLS LAST,
        abs(p.experiment_host_self_us - p.baseline_host_self_us) DESC NULLS LAST,
        p.name ASC, p.input_dims ASC, p.call_stack ASC;
