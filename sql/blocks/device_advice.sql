-- block: device_advice
-- since: 0.1
-- summary: Recommendations on devices and hosts that wait for each other.
-- grain: one row per trace and rule that fires
-- uses: device_words, is_wanted, long_gaps, ratio, utilization_series_v1
--
-- These are expert rules of Nsight Systems, with thresholds of our own. In Nsight Systems each gap and
-- each copy is a finding; here a rule reports the worst device.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   rule       VARCHAR  key  'device_gaps', 'low_utilization_periods', 'blocking_copies' or 'pageable_copies'.
--   severity   VARCHAR  -    'warning' or 'info'.
--   value      DOUBLE   -    The measured value, in percent.
--   threshold  DOUBLE   -    Threshold of the rule.
--   lost_us    DOUBLE   us   The measured time per mean step, as far as it lies in steps; NULL if steps are not stored.
--   message    VARCHAR  -    What was measured and what to change.
CREATE MACRO device_advice(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _windows AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            max(d.start_ns + d.duration_ns) - min(d.start_ns) AS window_ns
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span, d.device_id
    ),

    -- Of more than 500 us.
    _long AS MATERIALIZED (FROM long_gaps(run, worker, span, 500.001)),

    _gaps AS (
        SELECT
            w.run,
            w.worker,
            w.span,
            w.device_id,
            count(*) AS gaps,
            max(l.end_ns - l.start_ns - l.profiler_ns) / 1000.0 AS longest_us,
            100.0 * sum(l.end_ns - l.start_ns - l.profiler_ns) / any_value(w.window_ns) AS share_pct
        FROM _windows AS w
        INNER JOIN _long AS l
            ON
                w.run = l.run AND w.worker = l.worker AND w.span = l.span
                AND w.device_id IS NOT DISTINCT FROM l.device_id
        GROUP BY w.run, w.worker, w.span, w.device_id
    ),

    -- The profiler records for a while before the first kernel and after the last.
    _stretches AS MATERIALIZED (
        SELECT
            u.run,
            u.worker,
            u.span,
            u.device_id,
            u.start_ns,
            u.duration_us,
            u.value_pct,
            u.start_ns BETWEEN
            min(u.start_ns) FILTER (WHERE u.value_pct > 0) OVER device
            AND max(u.start_ns) FILTER (WHERE u.value_pct > 0) OVER device AS is_between
        FROM utilization_series_v1(run := run, worker := worker, span := span) AS u
        WINDOW device AS (PARTITION BY u.run, u.worker, u.span, u.device_id)
    ),

    _quiet AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.device_id,
            sum(s.value_pct * s.duration_us) / sum(s.duration_us) AS busy_pct,
            100.0 * sum(s.duration_us) FILTER (WHERE s.value_pct < 50) / sum(s.duration_us)
                AS share_pct
        FROM _stretches AS s
        WHERE s.is_between
        GROUP BY s.run, s.worker, s.span, s.device_id
    ),

    _steps AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.start_ns,
            s.end_ns,
            s.extended_start_ns,
            s.extended_end_ns,
            count(*) OVER trace AS steps,
            sum(s.extended_end_ns - s.extended_start_ns) OVER trace AS all_ns
        FROM steps AS s
        WHERE
            NOT s.is_tail
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        WINDOW trace AS (PARTITION BY s.run, s.worker, s.span)
    ),

    -- A gap between two steps makes neither of them longer.
    _lost AS (
        SELECT
            i.rule,
            i.run,
            i.worker,
            i.span,
            i.device_id,
            sum(
                i.lost_share * greatest(
                    least(i.end_ns, s.extended_end_ns) - greatest(i.start_ns, s.extended_start_ns),
                    0
                )
            ) / any_value(s.steps) / 1000 AS lost_us
        FROM (
            SELECT
                'device_gaps' AS rule,
                l.run,
                l.worker,
                l.span,
                l.device_id,
                l.start_ns,
                l.end_ns,
                1 - l.profiler_ns / (l.end_ns - l.start_ns) AS lost_share
            FROM _long AS l
            UNION ALL
            SELECT
                'low_utilization_periods',
                t.run,
                t.worker,
                t.span,
                t.device_id,
                t.start_ns,
                t.start_ns + (1000 * t.duration_us)::BIGINT,
                1
            FROM _stretches AS t
            WHERE t.is_between AND t.value_pct < 50
        ) AS i
        INNER JOIN _steps AS s ON i.run = s.run AND i.worker = s.worker AND i.span = s.span
        GROUP BY i.rule, i.run, i.worker, i.span, i.device_id
    ),

    _calls AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.name,
            h.duration_ns,
            h.op_id,
            s.steps,
            s.all_ns
        FROM host_events AS h
        INNER JOIN _steps AS s
            ON
                h.run = s.run AND h.worker = s.worker AND h.span = s.span
                AND h.start_ns >= s.start_ns AND h.start_ns < s.end_ns
        WHERE
            contains(h.name, 'emcpy')
            AND (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- Calls that return before the copy is done, and copies that do not involve the host, block nobody.
    _copies AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.steps,
            c.all_ns,
            CASE
                WHEN NOT contains(c.name, 'Async') OR regexp_matches(d.name, 'HtoD|DtoH')
                    THEN c.duration_ns
            END AS wait_ns,
            CASE WHEN contains(d.name, 'Pageable') THEN d.duration_ns END AS pageable_ns,
            CASE WHEN contains(d.name, 'Pageable') THEN d.bytes END AS pageable_bytes,
            concat_ws(' of ', coalesce(d.name, c.name), o.name) AS place
        FROM _calls AS c
        LEFT JOIN device_events AS d
            ON
                c.run = d.run AND c.worker = d.worker AND c.span = d.span
                AND c.event_id = d.launch_id AND d.kind = 'memcpy'
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        LEFT JOIN host_events AS o
            ON
                c.run = o.run AND c.worker = o.worker AND c.span = o.span
                AND c.op_id = o.event_id AND o.category = 'cpu_op'
                AND is_wanted(o.run, o.worker, o.span, run, worker, span)
    ),

    _copied AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            100.0 * sum(c.wait_ns) / any_value(c.all_ns) AS wait_pct,
            sum(c.wait_ns) / any_value(c.steps) / 1000 AS wait_us,
            arg_max(c.place, (c.wait_ns, c.place)) FILTER (WHERE c.wait_ns IS NOT NULL) AS place,
            100.0 * sum(c.pageable_ns) / any_value(c.all_ns) AS pageable_pct,
            sum(c.pageable_ns) / any_value(c.steps) / 1000 AS pageable_us,
            count(c.pageable_ns) AS pageable_copies,
            ratio(sum(c.pageable_bytes), sum(c.pageable_ns)) AS pageable_gbps
        FROM _copies AS c
        GROUP BY c.run, c.worker, c.span
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        'device_gaps' AS rule,
        'warning' AS severity,
        max(g.share_pct) AS value,
        10::DOUBLE AS threshold,
        arg_max(l.lost_us, (g.share_pct, -g.device_id)) AS lost_us,
        arg_max(format(
            '{} {} is idle for {:.1f} % of the time in gaps of more than 500 us '
            || '({}, the longest {:.1f} us): gpu_gaps shows what the host does in them; make it '
            || 'wait less, and prepare work ahead of time.',
            w.device, coalesce(g.device_id::VARCHAR, '?'), g.share_pct, g.gaps, g.longest_us
        ), (g.share_pct, -g.device_id)) AS message
    FROM _gaps AS g
    INNER JOIN device_words(run, worker, span) AS w
        ON g.run = w.run AND g.worker = w.worker AND g.span = w.span
    LEFT JOIN _lost AS l
        ON
            g.run = l.run AND g.worker = l.worker AND g.span = l.span
            AND g.device_id IS NOT DISTINCT FROM l.device_id AND l.rule = 'device_gaps'
    WHERE g.share_pct > 10
    GROUP BY g.run, g.worker, g.span
    UNION ALL
    SELECT
        q.run,
        q.worker,
        q.span,
        'low_utilization_periods',
        'info',
        max(q.share_pct),
        10,
        arg_max(l.lost_us, (q.share_pct, -q.device_id)),
        arg_max(format(
            '{} {} runs kernels for {:.1f} % of the time, but for less than half of it during '
            || '{:.1f} % of the recording: utilization_series shows when, and step_breakdown which '
            || 'steps differ.',
            w.device, coalesce(q.device_id::VARCHAR, '?'), q.busy_pct, q.share_pct
        ), (q.share_pct, -q.device_id))
    FROM _quiet AS q
    INNER JOIN device_words(run, worker, span) AS w
        ON q.run = w.run AND q.worker = w.worker AND q.span = w.span
    LEFT JOIN _lost AS l
        ON
            q.run = l.run AND q.worker = l.worker AND q.span = l.span
            AND q.device_id IS NOT DISTINCT FROM l.device_id
            AND l.rule = 'low_utilization_periods'
    WHERE q.busy_pct >= 50 AND q.share_pct > 10
    GROUP BY q.run, q.worker, q.span
    UNION ALL
    SELECT
        c.run,
        c.worker,
        c.span,
        'blocking_copies',
        'warning',
        c.wait_pct,
        5,
        c.wait_us,
        format(
            'For {:.1f} % of the mean step the host is in calls that copy between host and '
            || 'device, the longest for {}: pin the memory, copy with non_blocking=True, and read '
            || 'results less often.',
            c.wait_pct, c.place
        )
    FROM _copied AS c
    WHERE c.wait_pct > 5
    UNION ALL
    SELECT
        c.run,
        c.worker,
        c.span,
        'pageable_copies',
        'info',
        c.pageable_pct,
        1,
        c.pageable_us,
        format(
            'Copies between the device and pageable memory take {:.1f} % of the mean step '
            || '({}{}): pin the memory (pin_memory=True in DataLoader, Tensor.pin_memory), which '
            || 'makes them faster, and asynchronous with non_blocking=True.',
            c.pageable_pct, c.pageable_copies,
            coalesce(format(', at {:.1f} GB/s', c.pageable_gbps), '')
        )
    FROM _copied AS c
    WHERE c.pageable_pct > 1;
