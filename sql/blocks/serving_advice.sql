-- block: serving_advice
-- since: 0.1
-- summary: Recommendations on serving steps.
-- grain: one row per trace with serving steps and rule
-- uses: percentage, ratio, attention_roofline_v1, serving_steps_v1
--
-- Times are per mean step, as serving_steps measures steps. A device that works on something that is not in the trace
-- is not called idle.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name          type     unit  meaning
--   rule          VARCHAR  key   'unrecorded_work', 'late_launches', 'blocking_call', 'prefill_in_decode', 'padding' or 'attention_efficiency'.
--   fires         BOOLEAN  -     Whether the value passes the threshold.
--   severity      VARCHAR  -     'warning' or 'info'.
--   value         DOUBLE   -     The measured value, in percent.
--   threshold     DOUBLE   -     Threshold of the rule.
--   message       VARCHAR  -     What was measured and what to change.
--   cost_us       DOUBLE   us    Time per mean step; NULL if unknown.
--   confidence    VARCHAR  -     As in recommendations.
--   explained_by  VARCHAR  -     Rule that explains the time.
CREATE MACRO serving_advice(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _steps AS MATERIALIZED (
        FROM serving_steps_v1(run := run, worker := worker, span := span)
    ),

    _attention AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            sum(a.achieved_pct * a.total_us)
            / sum(a.total_us) FILTER (WHERE a.achieved_pct IS NOT NULL) AS achieved_pct,
            sum(a.total_us) FILTER (WHERE a.achieved_pct IS NOT NULL) AS known_us
        FROM attention_roofline_v1(run := run, worker := worker, span := span) AS a
        GROUP BY a.run, a.worker, a.span
    ),

    _facts AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            count(*) AS steps,
            avg(s.step_us) AS step_us,
            avg(coalesce(s.starved_us, 0) + coalesce(s.late_us, 0)) AS starved_us,
            avg(coalesce(s.unrecorded_us, 0)) AS unrecorded_us,
            -- A period holds the waits in it. Other steps are measured without them.
            percentage(
                sum(s.unrecorded_us),
                sum(
                    s.step_us
                    + CASE WHEN s.step_basis = 'period' THEN 0 ELSE coalesce(s.unrecorded_us, 0) END
                )
            ) AS unrecorded_pct,
            avg(s.blocking_us) AS blocking_us,
            arg_max(s.blocking_call, s.blocking_us) AS blocking_call,
            percentage(sum(s.attention_us), sum(s.device_us)) AS attention_pct,
            ratio(sum(s.graph_pct * s.device_us), sum(s.device_us)) AS graph_pct,
            avg(s.graph_launches) AS graph_launches,
            count(*) FILTER (WHERE s.phase = 'mixed') AS mixed_steps,
            avg(s.step_us) FILTER (WHERE s.phase = 'mixed') AS mixed_us,
            avg(s.prefill_tokens) FILTER (WHERE s.phase = 'mixed') AS mixed_tokens,
            avg(s.decode_requests) FILTER (WHERE s.phase = 'mixed') AS waiting_requests,
            avg(s.step_us) FILTER (WHERE s.phase = 'decode') AS decode_us,
            100 - percentage(
                sum(s.requests) FILTER (WHERE s.captured_requests IS NOT NULL),
                sum(s.captured_requests)
            ) AS padding_pct,
            ratio(
                sum((1 - s.requests / s.captured_requests) * (s.busy_us - s.attention_us)),
                count(*)
            ) AS padding_us
        FROM _steps AS s
        GROUP BY s.run, s.worker, s.span
    ),

    _rules AS (
        SELECT
            f.run,
            f.worker,
            f.span,
            unnest([
                {
                    'rule': 'unrecorded_work',
                    'fires': f.unrecorded_pct > 10,
                    'severity': 'info',
                    'value': f.unrecorded_pct,
                    'threshold': 10,
                    'message': format(
                        'Launched work waits {:.3g} ms per step for work that is not recorded '
                        || 'here, so the device is not idle then: record prefill and decode in one '
                        || 'file, and all processes that use the device.',
                        f.unrecorded_us / 1000
                    ),
                    'cost_us': NULL::DOUBLE,
                    'confidence': 'possible',
                    'explained_by': NULL::VARCHAR
                },
                {
                    'rule': 'late_launches',
                    'fires': f.starved_us > 0.1 * f.step_us,
                    'severity': 'warning',
                    'value': percentage(f.starved_us, f.step_us),
                    'threshold': 10,
                    'message': format(
                        'For {:.1f} % of the mean step the device has nothing to do, because the '
                        || 'host launches the next work late{}',
                        percentage(f.starved_us, f.step_us),
                        CASE
                            WHEN f.graph_pct >= 50 AND f.graph_launches <= 2
                                THEN
                                    ', although a graph runs most of it: prepare the next step '
                                    || 'during this one, with --async-scheduling of vLLM or the '
                                    || 'overlap scheduler of SGLang, and do less between steps.'
                            WHEN f.graph_pct > 0
                                THEN
                                    CASE
                                        WHEN f.graph_launches >= 1.5
                                            THEN
                                                format(
                                                    ', between {:.0f} graphs per step',
                                                    f.graph_launches
                                                )
                                        ELSE ', as graphs run only some of it'
                                    END
                                    || ': capture the whole step in one graph (FULL graphs in '
                                    || 'vLLM), and launch less outside of graphs.'
                            ELSE
                                ': capture the steps as graphs (without --enforce-eager in vLLM, '
                                || 'without --disable-cuda-graph in SGLang).'
                        END
                    ),
                    'cost_us': f.starved_us,
                    'confidence': 'estimated',
                    'explained_by': CASE
                        WHEN f.blocking_us >= f.starved_us THEN 'blocking_call'
                    END
                },
                {
                    'rule': 'blocking_call',
                    'fires': f.blocking_us >= f.starved_us AND f.starved_us > 0.01 * f.step_us,
                    'severity': 'warning',
                    'value': percentage(f.starved_us, f.step_us),
                    'threshold': 1,
                    'message': format(
                        'The host waits {:.3g} ms per step for the device, the longest in {}, and '
                        || 'launches the next work late after it, so the device has nothing to do '
                        || 'for {:.3g} ms: copy with non_blocking=True to pinned memory, and read '
                        || 'results one step later.',
                        f.blocking_us / 1000, f.blocking_call, f.starved_us / 1000
                    ),
                    'cost_us': f.starved_us,
                    'confidence': 'estimated',
                    'explained_by': NULL
                },
                {
                    'rule': 'prefill_in_decode',
                    'fires': f.mixed_steps > 0
                    AND (f.decode_us IS NULL OR f.mixed_us > 1.1 * f.decode_us),
                    'severity': 'info',
                    'value': percentage(f.mixed_steps, f.steps),
                    'threshold': 0,
                    'message': format(
                        '{} of {} step{} prefill{}{} while {} for {} next {}, for {:.3g} ms{}: '
                        || 'allow fewer tokens per step (--max-num-batched-tokens in vLLM, '
                        || '--chunked-prefill-size in SGLang), or run prefill and decode on '
                        || 'different devices.',
                        f.mixed_steps, f.steps, CASE WHEN f.steps = 1 THEN '' ELSE 's' END,
                        CASE WHEN f.mixed_steps = 1 THEN 's' ELSE '' END,
                        coalesce(format(
                            ' {:.0f} token{}',
                            f.mixed_tokens, CASE WHEN round(f.mixed_tokens) = 1 THEN '' ELSE 's' END
                        ), ''),
                        coalesce(format(
                            '{:.0f} request{}',
                            f.waiting_requests,
                            CASE WHEN round(f.waiting_requests) = 1 THEN ' waits' ELSE 's wait' END
                        ), 'other requests wait'),
                        CASE WHEN round(f.waiting_requests) = 1 THEN 'its' ELSE 'their' END,
                        CASE WHEN f.mixed_tokens IS NULL THEN 'token' ELSE 'one' END,
                        f.mixed_us / 1000,
                        coalesce(format(
                            ' instead of {:.3g} ms in a step that only decodes', f.decode_us / 1000
                        ), '')
                    ),
                    'cost_us': (f.mixed_us - f.decode_us) * f.mixed_steps / f.steps,
                    'confidence': CASE
                        WHEN f.decode_us IS NULL THEN 'possible' ELSE 'estimated'
                    END,
                    'explained_by': NULL
                },
                {
                    'rule': 'padding',
                    'fires': f.padding_pct > 20,
                    'severity': 'info',
                    'value': f.padding_pct,
                    'threshold': 20,
                    'message': format(
                        'Graphs were captured for more requests than there are, and {:.0f} % of '
                        || 'what they compute is padding: capture more sizes '
                        || '(--cuda-graph-sizes in vLLM, --cuda-graph-bs in SGLang).',
                        f.padding_pct
                    ),
                    'cost_us': f.padding_us,
                    'confidence': 'estimated',
                    'explained_by': NULL
                },
                {
                    'rule': 'attention_efficiency',
                    'fires': a.achieved_pct < 30 AND f.attention_pct > 20,
                    'severity': 'info',
                    'value': a.achieved_pct,
                    'threshold': 30,
                    'message': format(
                        'Attention takes {:.0f} % of the device work and reaches {:.1f} % of what '
                        || 'the device can do: try another attention backend, and see '
                        || 'attention_roofline.',
                        f.attention_pct, a.achieved_pct
                    ),
                    'cost_us': (1 - a.achieved_pct / 100) * a.known_us / f.steps,
                    'confidence': 'estimated',
                    'explained_by': NULL
                }
            ]) AS found
        FROM _facts AS f
        LEFT JOIN _attention AS a ON f.run = a.run AND f.worker = a.worker AND f.span = a.span
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.found.rule,
        coalesce(r.found.fires, FALSE) AS fires,
        r.found.severity,
        r.found.value::DOUBLE AS value,
        r.found.threshold::DOUBLE AS threshold,
        r.found.message,
        r.found.cost_us::DOUBLE AS cost_us,
        r.found.confidence,
        r.found.explained_by
    FROM _rules AS r;
