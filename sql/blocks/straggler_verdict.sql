-- block: straggler_verdict
-- since: 0.2
-- summary: What the verdict says of a pipeline-parallel job: what stragglers cost, and why.
-- grain: one row per trace with pipeline operations
-- uses: as_percent, as_time, straggler_what_if_v1
--
-- A cause is named if it explains half of the lost time or more. Below a slowdown of 1.03 none is.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   step_us   DOUBLE   us  Mean step as recorded.
--   sentence  VARCHAR  -   Time per step, what stragglers waste, and the cause.
CREATE MACRO straggler_verdict(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        w.run,
        w.worker,
        w.span,
        1000000 * w.recorded_s AS step_us,
        as_time(1000000 * w.recorded_s) || ' per step. '
        || CASE
            WHEN w.slowdown IS NULL
                THEN 'What stragglers cost is not known.' || coalesce(' ' || w.reason, '')
            WHEN w.slowdown < 1.03
                THEN
                    'Stragglers cost little: if all equal work took equally long, a step '
                    || 'would take '
                    || as_time(1000000 * w.ideal_s) || ' instead of '
                    || as_time(1000000 * w.no_delay_s) || '.'
            ELSE
                'Stragglers waste ' || as_percent(w.wasted_pct)
                || ' of it: if all equal work took equally long, a step would take '
                || as_time(1000000 * w.ideal_s) || ' instead of '
                || as_time(1000000 * w.no_delay_s) || '. '
                || CASE
                    WHEN w.m_w >= 0.5
                        THEN 'A few slow workers are the reason; straggler_workers names them.'
                    WHEN w.m_s >= 0.5
                        THEN 'The last stage is the reason: it has more work than the others.'
                    ELSE
                        'Neither the slowest workers nor the last stage explain half of it, '
                        || 'so the input may be uneven; see straggler_what_if_parts.'
                END
        END
        || CASE
            WHEN w.delay_slowdown > 1.05
                THEN
                    ' The table does not explain all: without delays between operations a step '
                    || 'would take ' || as_time(1000000 * w.no_delay_s) || '.'
            ELSE ''
        END AS sentence
    FROM straggler_what_if_v1(run := run, worker := worker, span := span) AS w;
