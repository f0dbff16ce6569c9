-- block: serving_verdict
-- since: 0.1
-- summary: What the verdict says of the serving steps of a trace.
-- grain: one row per trace with serving steps
-- uses: as_percent, as_time, device_words, percentage, ratio, serving_steps_v1
--
-- The steps that count most are those that decode, else those that mix prefill and decode, those that only
-- prefill, and those of diffusion.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name           type     unit  meaning
--   step_name      VARCHAR  -     What such a step is called, e.g. 'decode step'.
--   steps          BIGINT   -     Number of these steps.
--   other_steps    BIGINT   -     Number of steps of other kinds in the trace.
--   p50_us         DOUBLE   us    Median time of one.
--   p90_us         DOUBLE   us    90 % of them take no longer.
--   mean_us        DOUBLE   us    Mean time of all steps of the trace.
--   mean_busy_us   DOUBLE   us    Mean time in all steps of the trace in which the device worked.
--   min_us         DOUBLE   us    Time of the shortest step of the trace.
--   max_us         DOUBLE   us    Time of the longest step of the trace.
--   starved_us     DOUBLE   us    Mean time without launched work.
--   attention_pct  DOUBLE   pct   Share of attention in the device work.
--   busy_pct       DOUBLE   pct   Share of the time of the steps in which the device worked.
--   sentence       VARCHAR  -     Time, batch, and what limits these steps.
--   wait_says      VARCHAR  -     Waits for work that is not in the trace, as text; NULL without long ones.
--   rate_says      VARCHAR  -     Tokens per second, as text; NULL if unknown.
--   work_says      VARCHAR  -     Shares of other device work, as text.
CREATE MACRO serving_verdict(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _steps AS MATERIALIZED (
        SELECT
            s.*,
            list_position(['decode', 'mixed', 'prefill', 'diffusion', 'idle'], s.phase) AS place,
            count(*) OVER trace AS all_steps,
            avg(s.step_us) OVER trace AS mean_us,
            avg(coalesce(s.step_busy_us, 0)) OVER trace AS mean_busy_us,
            min(s.step_us) OVER trace AS min_us,
            max(s.step_us) OVER trace AS max_us
        FROM serving_steps_v1(run := run, worker := worker, span := span) AS s
        WINDOW trace AS (PARTITION BY s.run, s.worker, s.span)
    ),

    _main AS (
        SELECT s.*
        FROM _steps AS s
        QUALIFY
            coalesce(s.place, 9)
            = min(coalesce(s.place, 9)) OVER (PARTITION BY s.run, s.worker, s.span)
    ),

    _figures AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            coalesce(any_value(m.phase) || ' step', 'graph launch') AS step_name,
            any_value(m.phase) AS phase,
            count(*) AS steps,
            any_value(m.all_steps) - count(*) AS other_steps,
            quantile_cont(m.step_us, 0.5) AS p50_us,
            quantile_cont(m.step_us, 0.9) AS p90_us,
            any_value(m.mean_us) AS mean_us,
            any_value(m.mean_busy_us) AS mean_busy_us,
            any_value(m.min_us) AS min_us,
            any_value(m.max_us) AS max_us,
            median(m.requests) AS batch,
            median(m.prefill_requests) AS prefills,
            median(m.decode_requests) AS decodes,
            ratio(
                1e6 * sum(m.tokens) FILTER (WHERE coalesce(m.period_us, m.busy_us) > 0),
                sum(coalesce(m.period_us, m.busy_us)) FILTER (WHERE m.tokens IS NOT NULL)
            ) AS tokens_per_second,
            avg(m.starved_us + coalesce(m.late_us, 0)) AS starved_us,
            -- A period holds the waits in it. Other steps are measured without them.
            ratio(sum(m.unrecorded_us) FILTER (WHERE m.step_basis = 'period'), count(*))
                AS waiting_us,
            ratio(sum(m.unrecorded_us) FILTER (WHERE m.step_basis <> 'period'), count(*))
                AS left_out_us,
            percentage(sum(m.attention_us), sum(m.device_us)) AS attention_pct,
            ratio(sum(m.gemm_pct * m.device_us), sum(m.device_us)) AS gemm_pct,
            ratio(sum(m.moe_pct * m.device_us), sum(m.device_us)) AS moe_pct,
            ratio(sum(m.kv_cache_pct * m.device_us), sum(m.device_us)) AS kv_cache_pct,
            percentage(sum(m.step_busy_us), sum(m.step_us)) AS busy_pct,
            mode(m.limited_by ORDER BY m.limited_by) AS limited_by
        FROM _main AS m
        GROUP BY m.run, m.worker, m.span
    ),

    _rates AS (
        SELECT
            f.*,
            CASE
                WHEN f.tokens_per_second >= 100
                    THEN format('{:,}', f.tokens_per_second::BIGINT) || ' tokens per second'
                WHEN f.tokens_per_second > 0
                    THEN format('{:.3g}', f.tokens_per_second) || ' tokens per second'
            END AS rate_says
        FROM _figures AS f
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.step_name,
        r.steps,
        r.other_steps,
        r.p50_us,
        r.p90_us,
        r.mean_us,
        r.mean_busy_us,
        r.min_us,
        r.max_us,
        r.starved_us,
        r.attention_pct,
        r.busy_pct,
        as_time(r.p50_us) || ' per ' || r.step_name
        || CASE
            WHEN r.prefills > 0 AND r.decodes > 0
                THEN
                    format(
                        ' of {:.0f} prefill{} and {:.0f} decode{}',
                        r.prefills, CASE WHEN r.prefills = 1 THEN '' ELSE 's' END,
                        r.decodes, CASE WHEN r.decodes = 1 THEN '' ELSE 's' END
                    )
            WHEN r.batch > 0 THEN format(' at batch {:.0f}', r.batch)
            ELSE ''
        END
        || CASE r.limited_by
            WHEN 'host'
                THEN
                    ': the host limits it, the ' || n.device || ' is ' || as_percent(r.busy_pct)
                    || ' busy'
            WHEN 'unrecorded work' THEN ': work that is not in this trace limits it'
            WHEN 'device'
                THEN
                    ': the ' || n.device || ' limits it'
                    || coalesce(', ' || as_percent(r.busy_pct) || ' busy', '')
            ELSE ''
        END
        || '.' AS sentence,
        CASE
            WHEN greatest(r.waiting_us, r.left_out_us) >= 0.01 * r.p50_us
                THEN
                    concat_ws(
                        ' and ',
                        CASE
                            WHEN r.waiting_us >= 0.01 * r.p50_us
                                THEN 'with ' || as_time(r.waiting_us)
                        END,
                        CASE
                            WHEN r.left_out_us >= 0.01 * r.p50_us
                                THEN 'without ' || as_time(r.left_out_us)
                        END
                    ) || ' of waits for work that is not in the trace'
        END AS wait_says,
        r.rate_says,
        concat_ws(
            ', ',
            CASE WHEN r.gemm_pct > 0 THEN 'GEMM ' || as_percent(r.gemm_pct) END,
            CASE WHEN r.moe_pct > 0 THEN 'MoE ' || as_percent(r.moe_pct) END,
            CASE WHEN r.kv_cache_pct > 0 THEN 'KV cache ' || as_percent(r.kv_cache_pct) END
        ) AS work_says
    FROM _rates AS r
    INNER JOIN device_words(run, worker, span) AS n
        ON r.run = n.run AND r.worker = n.worker AND r.span = n.span;
