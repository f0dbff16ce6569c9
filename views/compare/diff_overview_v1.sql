-- view: diff_overview
-- version: 1
-- since: 0.1
-- summary: Two runs at a glance: devices, step length, utilization and memory.
-- grain: one row
-- distributes: warehouse
-- combines: trace_figures(figures := ['step_us', 'gpu_utilization_pct', 'est_sm_efficiency_pct', 'peak_memory_bytes', 'mean_memory_bytes', 'peak_host_memory_bytes', 'mean_host_memory_bytes']); step_breakdown_v1(); used_devices(); devices
-- order: baseline_step_us
-- empty: Neither run has a complete step, or an event with a duration outside of steps: record for longer, and {record events}.
-- uses: delta, delta_pct, device_models, diff_steps_v1, ratio, trace_figures, used_devices
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2
-- reading: A step is nearly half as long, and this is not noise. The traces have no devices.
--
-- For a run with several traces, a figure is the mean over its workers of the mean over the spans of each
-- worker, over the traces that record the figure. A figure that no trace records is NULL. Device figures are
-- means over the devices of a trace. Differences are experiment - baseline.
--
-- Step lengths, step_p_value and step_significant are those of diff_steps for category 'total'. The last two say
-- whether the change in step length is more than noise.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL averages all.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL averages all.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL averages all.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL averages all.
--   alpha              DOUBLE   -     0.05     A p-value below this level is significant.
-- columns
--   name                               type     unit   meaning
--   baseline_devices                   VARCHAR  -      Devices that ran something in the baseline, with the number of each model; NULL if there are none.
--   experiment_devices                 VARCHAR  -      Devices that ran something in the experiment, with the number of each model; NULL if there are none.
--   baseline_device_memory_bytes       DOUBLE   bytes  Memory size of a device of the baseline.
--   experiment_device_memory_bytes     DOUBLE   bytes  Memory size of a device of the experiment.
--   baseline_workers                   BIGINT   -      Number of workers of the baseline.
--   experiment_workers                 BIGINT   -      Number of workers of the experiment.
--   baseline_steps                     BIGINT   -      Number of compared steps of the baseline.
--   experiment_steps                   BIGINT   -      Number of compared steps of the experiment.
--   baseline_step_us                   DOUBLE   us     Mean length of a step, as in step_breakdown, in the baseline.
--   experiment_step_us                 DOUBLE   us     The same in the experiment.
--   delta_step_us                      DOUBLE   us     Difference in mean step length.
--   delta_step_us_pct                  DOUBLE   pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_step_median_us            DOUBLE   us     Median over the steps of the baseline.
--   experiment_step_median_us          DOUBLE   us     Median over the steps of the experiment.
--   baseline_step_iqr_us               DOUBLE   us     Interquartile range over the steps of the baseline.
--   experiment_step_iqr_us             DOUBLE   us     Interquartile range over the steps of the experiment.
--   step_p_value                       DOUBLE   -      Probability of a difference this large by chance; NULL if a run has fewer than 2 steps.
--   step_significant                   BOOLEAN  -      Whether the p-value is below alpha; NULL if there are too few steps to tell.
--   baseline_gpu_utilization_pct       DOUBLE   pct    Share of the time in which a kernel ran, as in gpu_summary, in the baseline.
--   experiment_gpu_utilization_pct     DOUBLE   pct    The same in the experiment.
--   delta_gpu_utilization_pct          DOUBLE   pct    Difference in utilization.
--   delta_gpu_utilization_pct_pct      DOUBLE   pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_est_sm_efficiency_pct     DOUBLE   pct    Share of the multiprocessors in use, as in gpu_summary, in the baseline.
--   experiment_est_sm_efficiency_pct   DOUBLE   pct    The same in the experiment.
--   delta_est_sm_efficiency_pct        DOUBLE   pct    Difference in efficiency.
--   delta_est_sm_efficiency_pct_pct    DOUBLE   pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_peak_memory_bytes         DOUBLE   bytes  Peak of the memory allocated on a device other than the host, in the baseline.
--   experiment_peak_memory_bytes       DOUBLE   bytes  The same in the experiment.
--   delta_peak_memory_bytes            DOUBLE   bytes  Difference in peak memory.
--   delta_peak_memory_bytes_pct        DOUBLE   pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_mean_memory_bytes         DOUBLE   bytes  Memory allocated on a device, averaged over time, in the baseline.
--   experiment_mean_memory_bytes       DOUBLE   bytes  The same in the experiment.
--   delta_mean_memory_bytes            DOUBLE   bytes  Difference in mean memory.
--   delta_mean_memory_bytes_pct        DOUBLE   pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_peak_host_memory_bytes    DOUBLE   bytes  Peak of the memory allocated on the host, in the baseline.
--   experiment_peak_host_memory_bytes  DOUBLE   bytes  The same in the experiment.
--   delta_peak_host_memory_bytes       DOUBLE   bytes  Difference in peak memory of the host.
--   delta_peak_host_memory_bytes_pct   DOUBLE   pct    The difference as a share of the baseline; NULL if the baseline is 0.
--   baseline_mean_host_memory_bytes    DOUBLE   bytes  Memory allocated on the host, averaged over time, in the baseline.
--   experiment_mean_host_memory_bytes  DOUBLE   bytes  The same in the experiment.
--   delta_mean_host_memory_bytes       DOUBLE   bytes  Difference in mean memory of the host.
--   delta_mean_host_memory_bytes_pct   DOUBLE   pct    The difference as a share of the baseline; NULL if the baseline is 0.
CREATE MACRO diff_overview_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    alpha DOUBLE := 0.05
) AS TABLE
    WITH
    -- The names are compared here too; otherwise NULL would select every run.
    both_sides AS (
        SELECT 'baseline' AS side, b.worker, b.span, b.figure, b.value
        FROM
            trace_figures(baseline, baseline_worker, baseline_span, [
                'step_us',
                'gpu_utilization_pct',
                'est_sm_efficiency_pct',
                'peak_memory_bytes',
                'mean_memory_bytes',
                'peak_host_memory_bytes',
                'mean_host_memory_bytes'
            ]) AS b
        WHERE b.run = baseline
        UNION ALL
        SELECT 'experiment', e.worker, e.span, e.figure, e.value
        FROM
            trace_figures(experiment, experiment_worker, experiment_span, [
                'step_us',
                'gpu_utilization_pct',
                'est_sm_efficiency_pct',
                'peak_memory_bytes',
                'mean_memory_bytes',
                'peak_host_memory_bytes',
                'mean_host_memory_bytes'
            ]) AS e
        WHERE e.run = experiment
    ),

    workers_of_sides AS MATERIALIZED (
        SELECT s.side, s.worker, s.figure, avg(s.value) AS value
        FROM both_sides AS s
        GROUP BY s.side, s.worker, s.figure
    ),

    figures AS (
        SELECT
            count(DISTINCT w.worker) FILTER (WHERE w.side = 'baseline') AS baseline_workers,
            count(DISTINCT w.worker) FILTER (WHERE w.side = 'experiment') AS experiment_workers,
            avg(w.value) FILTER (WHERE w.side = 'baseline' AND w.figure = 'gpu_utilization_pct')
                AS baseline_gpu_utilization_pct,
            avg(w.value) FILTER (WHERE w.side = 'experiment' AND w.figure = 'gpu_utilization_pct')
                AS experiment_gpu_utilization_pct,
            avg(w.value) FILTER (WHERE w.side = 'baseline' AND w.figure = 'est_sm_efficiency_pct')
                AS baseline_est_sm_efficiency_pct,
            avg(w.value) FILTER (WHERE w.side = 'experiment' AND w.figure = 'est_sm_efficiency_pct')
                AS experiment_est_sm_efficiency_pct,
            avg(w.value) FILTER (WHERE w.side = 'baseline' AND w.figure = 'peak_memory_bytes')
                AS baseline_peak_memory_bytes,
            avg(w.value) FILTER (WHERE w.side = 'experiment' AND w.figure = 'peak_memory_bytes')
                AS experiment_peak_memory_bytes,
            avg(w.value) FILTER (WHERE w.side = 'baseline' AND w.figure = 'mean_memory_bytes')
                AS baseline_mean_memory_bytes,
            avg(w.value) FILTER (WHERE w.side = 'experiment' AND w.figure = 'mean_memory_bytes')
                AS experiment_mean_memory_bytes,
            avg(w.value) FILTER (WHERE w.side = 'baseline' AND w.figure = 'peak_host_memory_bytes')
                AS baseline_peak_host_memory_bytes,
            avg(w.value) FILTER (
                WHERE w.side = 'experiment' AND w.figure = 'peak_host_memory_bytes'
            )
                AS experiment_peak_host_memory_bytes,
            avg(w.value) FILTER (WHERE w.side = 'baseline' AND w.figure = 'mean_host_memory_bytes')
                AS baseline_mean_host_memory_bytes,
            avg(w.value) FILTER (
                WHERE w.side = 'experiment' AND w.figure = 'mean_host_memory_bytes'
            )
                AS experiment_mean_host_memory_bytes
        FROM workers_of_sides AS w
    ),

    used_devices AS (
        SELECT 'baseline' AS side, b.run, b.worker, b.device_id, m.name AS model
        FROM used_devices(baseline, baseline_worker, baseline_span) AS b
        LEFT JOIN device_models(baseline, baseline_worker, baseline_span) AS m
            ON b.run = m.run AND b.worker = m.worker AND b.span = m.span
        WHERE b.run = baseline AND b.device_id IS NOT NULL
        UNION
        SELECT 'experiment', e.run, e.worker, e.device_id, m.name
        FROM used_devices(experiment, experiment_worker, experiment_span) AS e
        LEFT JOIN device_models(experiment, experiment_worker, experiment_span) AS m
            ON e.run = m.run AND e.worker = m.worker AND e.span = m.span
        WHERE e.run = experiment AND e.device_id IS NOT NULL
    ),

    named_devices AS (
        SELECT
            u.side,
            u.worker,
            u.device_id,
            -- On ROCm the list may number the devices in another way than the events do.
            coalesce(nullif(any_value(d.name), ''), any_value(u.model), 'unnamed device') AS name,
            any_value(d.total_memory_bytes) AS memory_bytes
        FROM used_devices AS u
        LEFT JOIN devices AS d
            ON u.run = d.run AND u.worker = d.worker AND u.device_id = d.device_id
        GROUP BY u.side, u.worker, u.device_id
    ),

    counted_devices AS (
        SELECT
            n.side,
            count(*) || ' x ' || n.name AS words,
            count(n.memory_bytes) AS known,
            sum(n.memory_bytes)::DOUBLE AS memory_bytes
        FROM named_devices AS n
        GROUP BY n.side, n.name
    ),

    devices_of_sides AS (
        SELECT
            string_agg(c.words, ', ' ORDER BY c.words) FILTER (WHERE c.side = 'baseline')
                AS baseline,
            string_agg(c.words, ', ' ORDER BY c.words) FILTER (WHERE c.side = 'experiment')
                AS experiment,
            ratio(
                sum(c.memory_bytes) FILTER (WHERE c.side = 'baseline'),
                sum(c.known) FILTER (WHERE c.side = 'baseline')
            ) AS baseline_bytes,
            ratio(
                sum(c.memory_bytes) FILTER (WHERE c.side = 'experiment'),
                sum(c.known) FILTER (WHERE c.side = 'experiment')
            ) AS experiment_bytes
        FROM counted_devices AS c
    ),

    step_times AS (
        SELECT
            d.baseline_mean_us,
            d.experiment_mean_us,
            d.delta_mean_us,
            d.delta_mean_us_pct,
            d.baseline_steps,
            d.experiment_steps,
            d.baseline_median_us,
            d.experiment_median_us,
            d.baseline_iqr_us,
            d.experiment_iqr_us,
            d.p_value,
            d.significant
        FROM
            diff_steps_v1(
                baseline,
                experiment,
                baseline_worker := baseline_worker,
                experiment_worker := experiment_worker,
                baseline_span := baseline_span,
                experiment_span := experiment_span,
                alpha := alpha
            ) AS d
        WHERE d.category = 'total'
    )

    SELECT
        v.baseline AS baseline_devices,
        v.experiment AS experiment_devices,
        v.baseline_bytes AS baseline_device_memory_bytes,
        v.experiment_bytes AS experiment_device_memory_bytes,
        f.baseline_workers,
        f.experiment_workers,
        coalesce(t.baseline_steps, 0) AS baseline_steps,
        coalesce(t.experiment_steps, 0) AS experiment_steps,
        t.baseline_mean_us AS baseline_step_us,
        t.experiment_mean_us AS experiment_step_us,
        t.delta_mean_us AS delta_step_us,
        t.delta_mean_us_pct AS delta_step_us_pct,
        t.baseline_median_us AS baseline_step_median_us,
        t.experiment_median_us AS experiment_step_median_us,
        t.baseline_iqr_us AS baseline_step_iqr_us,
        t.experiment_iqr_us AS experiment_step_iqr_us,
        t.p_value AS step_p_value,
        t.significant AS step_significant,
        f.baseline_gpu_utilization_pct,
        f.experiment_gpu_utilization_pct,
        delta(f.baseline_gpu_utilization_pct, f.experiment_gpu_utilization_pct)
            AS delta_gpu_utilization_pct,
        delta_pct(f.baseline_gpu_utilization_pct, f.experiment_gpu_utilization_pct)
            AS delta_gpu_utilization_pct_pct,
        f.baseline_est_sm_efficiency_pct,
        f.experiment_est_sm_efficiency_pct,
        delta(f.baseline_est_sm_efficiency_pct, f.experiment_est_sm_efficiency_pct)
            AS delta_est_sm_efficiency_pct,
        delta_pct(f.baseline_est_sm_efficiency_pct, f.experiment_est_sm_efficiency_pct)
            AS delta_est_sm_efficiency_pct_pct,
        f.baseline_peak_memory_bytes,
        f.experiment_peak_memory_bytes,
        delta(f.baseline_peak_memory_bytes, f.experiment_peak_memory_bytes)
            AS delta_peak_memory_bytes,
        delta_pct(f.baseline_peak_memory_bytes, f.experiment_peak_memory_bytes)
            AS delta_peak_memory_bytes_pct,
        f.baseline_mean_memory_bytes,
        f.experiment_mean_memory_bytes,
        delta(f.baseline_mean_memory_bytes, f.experiment_mean_memory_bytes)
            AS delta_mean_memory_bytes,
        delta_pct(f.baseline_mean_memory_bytes, f.experiment_mean_memory_bytes)
            AS delta_mean_memory_bytes_pct,
        f.baseline_peak_host_memory_bytes,
        f.experiment_peak_host_memory_bytes,
        delta(f.baseline_peak_host_memory_bytes, f.experiment_peak_host_memory_bytes)
            AS delta_peak_host_memory_bytes,
        delta_pct(f.baseline_peak_host_memory_bytes, f.experiment_peak_host_memory_bytes)
            AS delta_peak_host_memory_bytes_pct,
        f.baseline_mean_host_memory_bytes,
        f.experiment_mean_host_memory_bytes,
        delta(f.baseline_mean_host_memory_bytes, f.experiment_mean_host_memory_bytes)
            AS delta_mean_host_memory_bytes,
        delta_pct(f.baseline_mean_host_memory_bytes, f.experiment_mean_host_memory_bytes)
            AS delta_mean_host_memory_bytes_pct
    FROM figures AS f
    CROSS JOIN devices_of_sides AS v
    LEFT JOIN step_times AS t ON TRUE
    WHERE f.baseline_workers > 0 OR f.experiment_workers > 0;
