-- view: diff_verdict
-- version: 1
-- since: 0.1
-- summary: Two runs in a sentence: faster or slower, whether that is noise, and what explains it; then the figures behind it.
-- grain: one row per sentence, figure or category of a step
-- distributes: warehouse
-- combines: trace_figures(figures := ['step_us', 'gpu_utilization_pct', 'est_sm_efficiency_pct', 'peak_memory_bytes', 'mean_memory_bytes', 'peak_host_memory_bytes', 'mean_host_memory_bytes']); step_breakdown_v1(); device_words(); used_devices(); devices; steps; traces; graph_launches()
-- order: list_position(['headline', 'figure', 'change'], part), position
-- uses: as_bytes, as_digits, as_percent, as_time, delta, delta_pct, device_words, graph_launches, is_wanted, percentage, recording_hint, diff_overview_v1, diff_steps_v1
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2
-- reading: A step is a tenth shorter, which may be noise. The data loader takes less time, and operators take more.
--
-- `tracewh diff` and the page of `tracewh report --baseline` begin with these rows. There are three parts:
--
-- - headline: one sentence. It says how much faster or slower a step is, whether that is significant, and
--   which category of the step explains it. If that category changed by more than the step did, the sentence
--   says how much it changed, and how much of that the other categories take back. A few slow steps can make the
--   mean longer although most steps are faster. If that is significant, the sentence says both.
-- - figure: the mean step, utilization, SM efficiency and peak memory, as far as a run recorded them.
-- - change: the categories of diff_steps that changed, the largest change first. share_pct is the part of the
--   difference in step time that a category explains; the shares add up to 100.
--
-- If no run has steps, the sentence compares the recordings as a whole. If only one run has steps, there is
-- nothing to compare: the sentence says so, and there is no change.
--
-- Differences are experiment - baseline. The difference of two percentages is in points, see delta_unit.
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
--   name              type     unit  meaning
--   part              VARCHAR  key   'headline', 'figure' or 'change'.
--   position          INTEGER  key   Place within the part, from 1.
--   name              VARCHAR  -     Figure of diff_overview, e.g. 'step_us', or category of diff_steps, e.g. 'dataloader'.
--   title             VARCHAR  -     The same in words; NULL for the headline.
--   baseline_value    DOUBLE   -     The value in the baseline, in the unit of column unit; NULL if it is not recorded.
--   experiment_value  DOUBLE   -     The same in the experiment.
--   delta_value       DOUBLE   -     Difference, in the unit of column delta_unit.
--   delta_pct         DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0, and for figures in percent.
--   share_pct         DOUBLE   pct   Share of the difference in step time that a category explains; NULL otherwise.
--   unit              VARCHAR  -     'us', 'pct' or 'bytes'.
--   delta_unit        VARCHAR  -     The same, but 'points' for the difference of two percentages.
--   p_value           DOUBLE   -     Probability of a difference this large by chance, as in diff_steps; NULL if it is not tested, or if a run has fewer than 2 steps.
--   certainty         VARCHAR  -     'significant', 'not significant' or 'too few steps to tell'; NULL if it is not tested.
--   text              VARCHAR  -     The sentence, or the row in words.
--   detail            VARCHAR  -     Step times, number of steps and p-value of the headline, and the devices if they differ; NULL otherwise.
--   view              VARCHAR  -     The view that has the evidence.
CREATE MACRO diff_verdict_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    alpha DOUBLE := 0.05
) AS TABLE
    WITH
    overview AS MATERIALIZED (
        SELECT *
        FROM
            diff_overview_v1(
                baseline,
                experiment,
                baseline_worker := baseline_worker,
                experiment_worker := experiment_worker,
                baseline_span := baseline_span,
                experiment_span := experiment_span,
                alpha := alpha
            )
    ),

    step_times AS MATERIALIZED (
        SELECT
            d.category,
            d.baseline_mean_us AS baseline_us,
            d.experiment_mean_us AS experiment_us,
            -- A step of a run without a device spends no time in work of a device. A recording in which nothing
            -- takes time is not compared.
            CASE
                WHEN d.category <> 'total'
                    THEN delta(coalesce(d.baseline_mean_us, 0), coalesce(d.experiment_mean_us, 0))
                WHEN least(d.baseline_mean_us, d.experiment_mean_us) > 0 THEN d.delta_mean_us
            END AS delta_us,
            d.delta_mean_us_pct AS delta_us_pct,
            delta_pct(d.baseline_median_us, d.experiment_median_us) AS median_pct,
            d.baseline_steps,
            d.experiment_steps,
            d.p_value,
            CASE
                WHEN d.delta_mean_us IS NULL THEN NULL
                WHEN d.significant IS NULL THEN 'too few steps to tell'
                WHEN d.significant THEN 'significant'
                ELSE 'not significant'
            END AS certainty
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
    ),

    recorded_steps AS (
        SELECT
            count(*) FILTER (
                WHERE
                s.run = baseline
                AND is_wanted(s.run, s.worker, s.span, baseline, baseline_worker, baseline_span)
            ) > 0 AS in_baseline,
            count(*) FILTER (
                WHERE
                s.run = experiment
                AND is_wanted(
                    s.run, s.worker, s.span, experiment, experiment_worker, experiment_span
                )
            ) > 0 AS in_experiment
        FROM steps AS s
        WHERE s.step IS NOT NULL
    ),

    sources AS (
        SELECT
            min(t.source) FILTER (
                WHERE
                t.run = baseline
                AND is_wanted(t.run, t.worker, t.span, baseline, baseline_worker, baseline_span)
            ) AS baseline_source,
            min(t.source) FILTER (
                WHERE
                t.run = experiment
                AND is_wanted(
                    t.run, t.worker, t.span, experiment, experiment_worker, experiment_span
                )
            ) AS experiment_source
        FROM traces AS t
    ),

    total AS MATERIALIZED (
        SELECT
            r.in_baseline,
            r.in_experiment,
            r.in_baseline = r.in_experiment AND s.delta_us IS NOT NULL AS is_comparable,
            recording_hint(
                CASE WHEN r.in_baseline THEN o.experiment_source ELSE o.baseline_source END, 'steps'
            ) AS hint,
            nullif(s.baseline_us, 0) AS baseline_us,
            nullif(s.experiment_us, 0) AS experiment_us,
            CASE WHEN r.in_baseline = r.in_experiment THEN s.delta_us END AS delta_us,
            CASE
                WHEN r.in_baseline = r.in_experiment AND s.delta_us IS NOT NULL
                    THEN s.delta_us_pct
            END AS delta_us_pct,
            s.median_pct,
            s.baseline_steps,
            s.experiment_steps,
            CASE WHEN r.in_baseline AND r.in_experiment THEN s.p_value END AS p_value,
            CASE WHEN r.in_baseline AND r.in_experiment THEN s.certainty END AS certainty
        FROM recorded_steps AS r
        CROSS JOIN sources AS o
        LEFT JOIN step_times AS s ON s.category = 'total'
    ),

    phrases AS (
        SELECT p.category, p.title, p.subject, p.is_plural
        FROM (
            VALUES
            ('kernel', 'kernels', 'kernels', TRUE),
            ('memcpy', 'copies', 'copies', TRUE),
            ('memset', 'memsets', 'memsets', TRUE),
            ('communication', 'communication', 'communication', FALSE),
            ('runtime', 'runtime calls', 'runtime calls', TRUE),
            ('dataloader', 'data loader', 'the data loader', FALSE),
            ('cpu_exec', 'operators', 'operators', TRUE),
            ('other', 'nothing recorded', 'time in which nothing was recorded', FALSE)
        ) AS p (category, title, subject, is_plural)
    ),

    changes AS MATERIALIZED (
        SELECT
            s.category,
            p.title,
            p.subject,
            p.is_plural,
            s.baseline_us,
            s.experiment_us,
            s.delta_us,
            s.delta_us_pct,
            percentage(s.delta_us, t.delta_us) AS share_pct,
            s.p_value,
            CASE WHEN t.certainty IS NOT NULL THEN s.certainty END AS certainty,
            row_number() OVER (ORDER BY abs(s.delta_us) DESC, s.category ASC) AS position
        FROM step_times AS s
        INNER JOIN phrases AS p ON s.category = p.category
        CROSS JOIN total AS t
        WHERE
            s.delta_us <> 0 AND t.delta_us IS NOT NULL
            -- In traces of other programs no event is of a category, and "nothing recorded" would be false.
            AND NOT (
                s.category = 'other'
                AND s.baseline_us = t.baseline_us AND s.experiment_us = t.experiment_us
            )
    ),

    -- The category that changed most in the direction in which the step changed.
    cause AS (
        SELECT c.*
        FROM changes AS c
        WHERE c.share_pct > 0
        ORDER BY c.position
        LIMIT 1
    ),

    sentences AS (
        SELECT
            t.*,
            CASE
                WHEN c.share_pct > 100.5
                    THEN
                        c.subject || CASE WHEN c.is_plural THEN ' take ' ELSE ' takes ' END
                        || as_time(abs(c.delta_us))
                        || CASE WHEN c.delta_us < 0 THEN ' less' ELSE ' more' END
                        || ', everything else takes ' || as_time(abs(t.delta_us - c.delta_us))
                        || CASE WHEN c.delta_us < 0 THEN ' more' ELSE ' less' END
                ELSE
                    c.subject || CASE WHEN c.is_plural THEN ' explain ' ELSE ' explains ' END
                    || CASE
                        WHEN c.share_pct >= 99.5 THEN 'all'
                        ELSE as_percent(c.share_pct)
                    END
                    || ' of it'
            END AS reason,
            CASE
                WHEN t.experiment_us >= 2.995 * t.baseline_us
                    THEN as_digits(t.experiment_us / t.baseline_us) || ' times as long'
                WHEN
                    t.in_baseline AND t.experiment_us > 0
                    AND t.baseline_us >= 2.995 * t.experiment_us
                    THEN as_digits(t.baseline_us / t.experiment_us) || ' times as fast'
                WHEN t.in_baseline
                    THEN
                        as_percent(abs(t.delta_us_pct))
                        || CASE WHEN t.delta_us < 0 THEN ' faster' ELSE ' slower' END
                ELSE
                    as_percent(abs(t.delta_us_pct))
                    || CASE WHEN t.delta_us < 0 THEN ' shorter' ELSE ' longer' END
            END AS amount
        FROM total AS t
        LEFT JOIN cause AS c ON TRUE
    ),

    headline AS (
        SELECT
            s.*,
            CASE
                WHEN s.baseline_us IS NULL AND s.experiment_us IS NULL
                    THEN
                        'Not comparable: neither run has '
                        || CASE
                            WHEN s.in_baseline OR s.in_experiment THEN 'a complete step.'
                            ELSE 'an event that takes time.'
                        END
                WHEN s.baseline_us IS NULL OR s.experiment_us IS NULL
                    THEN
                        'Not comparable: the '
                        || CASE WHEN s.baseline_us IS NULL THEN 'baseline' ELSE 'experiment' END
                        || ' does not have '
                        || CASE
                            WHEN
                                (s.baseline_us IS NULL AND s.in_baseline)
                                OR (s.experiment_us IS NULL AND s.in_experiment)
                                THEN 'a complete step.'
                            ELSE 'an event that takes time.'
                        END
                WHEN NOT s.is_comparable
                    THEN
                        'Not comparable: the '
                        || CASE WHEN s.in_baseline THEN 'experiment' ELSE 'baseline' END
                        || ' has no steps. '
                        || upper(left(s.hint, 1))
                        || substr(s.hint, 2)
                        || '.'
                WHEN NOT s.in_baseline
                    THEN
                        CASE
                            WHEN s.delta_us = 0
                                THEN 'The recording is as long as that of the baseline'
                            ELSE concat_ws('; ', 'The recording is ' || s.amount, s.reason)
                        END
                        || '. Without steps, nothing tells whether that is noise.'
                WHEN s.delta_us = 0 THEN 'A step takes as long as in the baseline.'
                -- Ranks tell about most steps, and a few slow ones are most of a mean.
                WHEN s.certainty = 'significant' AND s.delta_us * s.median_pct < 0
                    THEN
                        concat_ws(
                            '; ',
                            s.amount || ' per step on average',
                            s.reason,
                            'but the median step is ' || as_percent(abs(s.median_pct))
                            || CASE WHEN s.median_pct < 0 THEN ' faster' ELSE ' slower' END
                            || ', significant.'
                        )
                ELSE
                    concat_ws(
                        '; ',
                        s.amount || ' per step'
                        || CASE s.certainty
                            WHEN 'significant' THEN ', significant'
                            WHEN 'not significant' THEN ', but within run-to-run noise'
                            ELSE ''
                        END,
                        s.reason
                    )
                    || CASE
                        WHEN s.certainty = 'too few steps to tell'
                            THEN
                                '. '
                                || CASE
                                    WHEN s.baseline_steps = 1 AND s.experiment_steps = 1
                                        THEN 'One step in each run is'
                                    ELSE
                                        s.baseline_steps || ' and ' || s.experiment_steps
                                        || ' steps are'
                                END
                                || ' too few to tell whether that is noise'
                        ELSE ''
                    END
                    || '.'
            END AS text,
            CASE
                WHEN s.delta_us IS NOT NULL
                    THEN
                        concat_ws(
                            ', ',
                            as_time(s.baseline_us) || ' to ' || as_time(s.experiment_us)
                            || CASE WHEN s.in_baseline THEN ' per step' ELSE '' END,
                            CASE
                                WHEN s.in_baseline
                                    THEN
                                        CASE
                                            WHEN s.baseline_steps = 1 AND s.experiment_steps = 1
                                                THEN 'one step each'
                                            ELSE
                                                s.baseline_steps
                                                || ' and '
                                                || s.experiment_steps
                                                || ' steps'
                                        END
                            END,
                            'p = ' || format('{:.2g}', s.p_value),
                            CASE
                                WHEN o.baseline_devices IS DISTINCT FROM o.experiment_devices
                                    THEN
                                        'on '
                                        || coalesce(o.baseline_devices, 'no device')
                                        || ' and on '
                                        || coalesce(o.experiment_devices, 'no device')
                            END
                        )
            END AS detail
        FROM sentences AS s
        LEFT JOIN overview AS o ON TRUE
    ),

    -- The kind of the devices of both runs, if it is one.
    device AS (
        SELECT CASE WHEN count(DISTINCT d.device) = 1 THEN min(d.device) ELSE 'Device' END AS word
        FROM (
            SELECT b.device
            FROM device_words(baseline, baseline_worker, baseline_span) AS b
            UNION ALL
            SELECT e.device
            FROM device_words(experiment, experiment_worker, experiment_span) AS e
        ) AS d
        WHERE d.device <> 'device'
    ),

    -- What kernels of a graph use was allocated at its capture, and is not recorded when it is replayed.
    graphs_of_sides AS (
        SELECT count(*) > 0 AS are_replayed
        FROM (
            SELECT b.event_id
            FROM graph_launches(baseline, baseline_worker, baseline_span) AS b
            UNION ALL
            SELECT e.event_id
            FROM graph_launches(experiment, experiment_worker, experiment_span) AS e
        ) AS l
    ),

    figures AS (
        SELECT
            unnest([
                {
                    'position': 1,
                    'name': 'step_us',
                    'title': CASE
                        WHEN t.in_baseline OR t.in_experiment THEN 'Step time' ELSE 'Recording'
                    END,
                    'unit': 'us',
                    'baseline_value': o.baseline_step_us,
                    'experiment_value': o.experiment_step_us
                },
                {
                    'position': 2,
                    'name': 'gpu_utilization_pct',
                    'title': d.word || ' utilization',
                    'unit': 'pct',
                    'baseline_value': o.baseline_gpu_utilization_pct,
                    'experiment_value': o.experiment_gpu_utilization_pct
                },
                {
                    'position': 3,
                    'name': 'est_sm_efficiency_pct',
                    'title': 'SM efficiency',
                    'unit': 'pct',
                    'baseline_value': o.baseline_est_sm_efficiency_pct,
                    'experiment_value': o.experiment_est_sm_efficiency_pct
                },
                {
                    'position': 4,
                    'name': 'peak_memory_bytes',
                    'title': CASE
                        WHEN g.are_replayed THEN 'Peak memory outside graphs' ELSE 'Peak memory'
                    END,
                    'unit': 'bytes',
                    'baseline_value': o.baseline_peak_memory_bytes,
                    'experiment_value': o.experiment_peak_memory_bytes
                },
                {
                    'position': 5,
                    'name': 'peak_host_memory_bytes',
                    'title': 'Peak host memory',
                    'unit': 'bytes',
                    'baseline_value': o.baseline_peak_host_memory_bytes,
                    'experiment_value': o.experiment_peak_host_memory_bytes
                }
            ], recursive := TRUE)
        FROM overview AS o
        CROSS JOIN total AS t
        CROSS JOIN device AS d
        CROSS JOIN graphs_of_sides AS g
    ),

    entries AS (
        SELECT
            'headline' AS part,
            1 AS position,
            'step_us' AS name,
            NULL AS title,
            h.baseline_us AS baseline_value,
            h.experiment_us AS experiment_value,
            h.delta_us AS delta_value,
            h.delta_us_pct AS delta_pct,
            NULL AS share_pct,
            'us' AS unit,
            h.p_value,
            h.certainty,
            h.text,
            h.detail,
            'diff_steps' AS view
        FROM headline AS h
        UNION ALL
        SELECT
            'figure',
            f.position,
            f.name,
            f.title,
            f.baseline_value,
            f.experiment_value,
            CASE
                WHEN f.name <> 'step_us' OR t.is_comparable
                    THEN delta(f.baseline_value, f.experiment_value)
            END,
            CASE
                WHEN f.unit <> 'pct' AND (f.name <> 'step_us' OR t.is_comparable)
                    THEN delta_pct(f.baseline_value, f.experiment_value)
            END,
            NULL,
            f.unit,
            CASE WHEN f.name = 'step_us' THEN t.p_value END,
            CASE WHEN f.name = 'step_us' THEN t.certainty END,
            NULL,
            NULL,
            'diff_overview'
        FROM figures AS f
        CROSS JOIN total AS t
        WHERE f.baseline_value IS NOT NULL OR f.experiment_value IS NOT NULL
        UNION ALL
        SELECT
            'change',
            c.position,
            c.category,
            c.title,
            c.baseline_us,
            c.experiment_us,
            c.delta_us,
            c.delta_us_pct,
            c.share_pct,
            'us',
            CASE WHEN c.certainty IS NOT NULL THEN c.p_value END,
            c.certainty,
            NULL,
            NULL,
            'diff_steps'
        FROM changes AS c
    )

    SELECT
        e.part,
        e.position::INTEGER AS position,
        e.name,
        e.title,
        e.baseline_value,
        e.experiment_value,
        e.delta_value,
        e.delta_pct,
        e.share_pct,
        e.unit,
        CASE WHEN e.unit = 'pct' THEN 'points' ELSE e.unit END AS delta_unit,
        e.p_value,
        e.certainty,
        coalesce(
            e.text,
            e.title || ': '
            || CASE e.unit
                WHEN 'us'
                    THEN
                        coalesce(as_time(e.baseline_value), 'not recorded') || ' to '
                        || coalesce(as_time(e.experiment_value), 'not recorded')
                WHEN 'pct'
                    THEN
                        coalesce(as_percent(e.baseline_value), 'not recorded') || ' to '
                        || coalesce(as_percent(e.experiment_value), 'not recorded')
                ELSE
                    coalesce(as_bytes(e.baseline_value), 'not recorded') || ' to '
                    || coalesce(as_bytes(e.experiment_value), 'not recorded')
            END
        ) AS text,
        e.detail,
        e.view
    FROM entries AS e
    ORDER BY list_position(['headline', 'figure', 'change'], e.part), e.position;
