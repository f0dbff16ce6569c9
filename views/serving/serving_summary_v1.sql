-- view: serving_summary
-- version: 1
-- since: 0.1
-- summary: Serving steps by phase and batch size: how long they take, tokens per second, and what limits them.
-- grain: one row per trace, phase and number of requests; without the number with group_by 'phase'
-- distributes: trace
-- order: run, worker, span, phase, requests
-- empty: No annotation of vLLM, SGLang, ATOM or xDiT and no graph launch outside of training was recorded.
-- uses: checked_choice, percentage, ratio, serving_steps_v1
-- example: drawn
--
-- Times and shares are those of serving_steps. Percentiles interpolate between two steps. Shares are of the
-- sum over the steps of the row, and tokens per second are all tokens in the time of all steps, so that long
-- steps count for more.
--
-- params
--   name      type     unit  default  meaning
--   run, worker, span
--   group_by  VARCHAR  -     'batch'  'batch' has a row per phase and number of requests, 'phase' one per phase.
-- columns
--   run, worker, span
--   name                      type     unit  meaning
--   phase                     VARCHAR  key   As in serving_steps.
--   requests                  BIGINT   key   Number of requests in a step; NULL if unknown, and by phase.
--   steps                     BIGINT   -     Number of steps.
--   p50_us                    DOUBLE   us    Median of step_us.
--   p90_us                    DOUBLE   us    90 % of the steps take no longer.
--   p99_us                    DOUBLE   us    99 % of the steps take no longer.
--   mean_us                   DOUBLE   us    Mean of step_us.
--   tokens_per_second         DOUBLE   -     New tokens per second, of steps with a number of tokens.
--   busy_pct                  DOUBLE   pct   Share of step_us in which the device ran work that is in the trace.
--   starved_us                DOUBLE   us    Mean time per step in which the device had no launched work, between steps included.
--   unrecorded_us             DOUBLE   us    Mean time per step in which it worked on something that is not in the trace.
--   attention_pct             DOUBLE   pct   Share of attention in the device work.
--   gemm_pct                  DOUBLE   pct   Share of matrix products outside of experts.
--   moe_pct                   DOUBLE   pct   Share of experts.
--   communication_pct         DOUBLE   pct   Share of collectives.
--   exposed_communication_us  DOUBLE   us    Mean time per step in which only collectives ran.
--   graph_pct                 DOUBLE   pct   Share of what graphs replayed.
--   graph_coverage_pct        DOUBLE   pct   Share of replayed time whose operator is known.
--   launch_us                 DOUBLE   us    Mean time per step in calls that launch.
--   blocking_us               DOUBLE   us    Mean time per step in calls that wait for the device.
--   tokens                    BIGINT   -     Number of new tokens of all steps.
--   prefill_tokens            BIGINT   -     Number of those that were prefilled.
--   decode_tokens             BIGINT   -     Number of those that were generated or tried.
--   limited_by                VARCHAR  -     What limits most steps, as in serving_steps.
--   tokens_basis              VARCHAR  -     'period', 'busy time', or 'mixed' if steps differ.
--   basis                     VARCHAR  -     What the steps are: 'annotation' or 'graph launch'.
CREATE MACRO serving_summary_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'batch'
) AS TABLE
    WITH
    served AS (
        SELECT
            s.*,
            CASE WHEN group_by = 'batch' THEN s.requests END AS batch,
            coalesce(s.period_us, s.busy_us) AS tokens_us
        FROM serving_steps_v1(run := run, worker := worker, span := span) AS s
        WHERE
            (
                SELECT c.is_allowed
                FROM checked_choice('group_by', group_by, ['batch', 'phase']) AS c
            )
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.phase,
        s.batch AS requests,
        count(*) AS steps,
        quantile_cont(s.step_us, 0.5) AS p50_us,
        quantile_cont(s.step_us, 0.9) AS p90_us,
        quantile_cont(s.step_us, 0.99) AS p99_us,
        avg(s.step_us) AS mean_us,
        ratio(
            1e6 * sum(s.tokens) FILTER (WHERE s.tokens_us > 0),
            sum(s.tokens_us) FILTER (WHERE s.tokens IS NOT NULL)
        ) AS tokens_per_second,
        percentage(coalesce(sum(s.step_busy_us), 0), sum(s.step_us)) AS busy_pct,
        avg(s.starved_us + coalesce(s.late_us, 0)) AS starved_us,
        avg(s.unrecorded_us) AS unrecorded_us,
        percentage(sum(s.attention_us), sum(s.device_us)) AS attention_pct,
        ratio(sum(s.gemm_pct * s.device_us), sum(s.device_us)) AS gemm_pct,
        ratio(sum(s.moe_pct * s.device_us), sum(s.device_us)) AS moe_pct,
        ratio(sum(s.communication_pct * s.device_us), sum(s.device_us)) AS communication_pct,
        avg(s.exposed_communication_us) AS exposed_communication_us,
        ratio(sum(s.graph_pct * s.device_us), sum(s.device_us)) AS graph_pct,
        ratio(
            sum(s.graph_coverage_pct * s.graph_pct * s.device_us),
            sum(s.graph_pct * s.device_us)
        ) AS graph_coverage_pct,
        avg(s.launch_us) AS launch_us,
        avg(s.blocking_us) AS blocking_us,
        sum(s.tokens)::BIGINT AS tokens,
        sum(s.prefill_tokens)::BIGINT AS prefill_tokens,
        sum(s.decode_tokens)::BIGINT AS decode_tokens,
        mode(s.limited_by ORDER BY s.limited_by) AS limited_by,
        CASE
            WHEN min(s.tokens_basis) = max(s.tokens_basis) THEN min(s.tokens_basis)
            WHEN min(s.tokens_basis) IS NOT NULL THEN 'mixed'
        END AS tokens_basis,
        any_value(s.basis) AS basis
    FROM served AS s
    GROUP BY s.run, s.worker, s.span, s.phase, s.batch
    ORDER BY s.run, s.worker, s.span, s.phase, s.batch;
