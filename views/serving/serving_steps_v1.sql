-- view: serving_steps
-- version: 1
-- since: 0.1
-- summary: Steps of a serving framework: requests, tokens, time on host and device, and what the device did.
-- grain: one row per serving step
-- distributes: trace
-- order: run, worker, span, step
-- empty: No annotation of vLLM, SGLang, ATOM or xDiT and no graph launch outside of training was recorded.
-- uses: first_id, idle_gaps, is_wanted, merged_intervals, percentage, ratio, replay_covered, serving_calls, serving_windows, serving_work, trace_names, unrecorded_waits
-- example: drawn
--
-- A step is an annotation that a serving framework writes around the forward pass of a batch: execute_... of
-- vLLM, step[...] of SGLang, prefill[...] and decode[...] of ATOM, execute_diffusion_... of xDiT. Of nested
-- annotations of one step the outermost one with lengths counts, else the outermost one. If a trace has
-- no such annotation and no ProfilerStep#, each launch of the graph that runs longest is a step, and basis says
-- so.
--
-- The device work of a step is what its thread launched in it, whenever it ran. The window reaches from the
-- start of the first to the end of the last of it. period_us is the time from the end of the work of the
-- step before, on the same device, to the end of this one: what users wait for a token. step_us is the
-- period if it is known. Else it is the window, without what came before a wait for work that is not in the
-- trace, and without a device the time on the host.
--
-- Gaps are time in the window without work of the step. What of a gap lies after the end of the step before
-- is divided at the start of the call that launched the next work: before it the device starved, because
-- the host came late; after it the work was queued. A device that runs other work of the trace then, such as
-- sampling between two steps, does not starve. unrecorded_us is the part of the queued time in which the device shows
-- no work for more than 1 ms: it worked on something that is not in the trace. So such a device is not idle.
--
-- Shares are of the sum of the durations of the step's device work. The operator tells what work computes,
-- for work of a graph the captured one, and else the name of the kernel.
--
-- Decoding more tokens than requests is speculative: the tokens are tried, and not all of them are kept.
--
-- params
--   run, worker, span
--   name   type     unit  default  meaning
--   step   BIGINT   -     NULL     Number of a step to report; NULL reports all.
--   phase  VARCHAR  -     NULL     Phase to report, e.g. 'decode'; NULL reports all.
-- columns
--   run, worker, span
--   name                      type     unit  meaning
--   step                      BIGINT   key   Number of the step in the trace, from 1; the step of other views if the trace has no ProfilerStep#.
--   phase                     VARCHAR  -     'prefill', 'decode', 'mixed', 'idle' or 'diffusion'; NULL if unknown.
--   requests                  BIGINT   -     Number of requests.
--   tokens                    BIGINT   -     Number of new tokens.
--   step_us                   DOUBLE   us    Time that the step took; step_basis says how it was measured.
--   tokens_per_second         DOUBLE   -     Tokens in step_us if that is a period, else in busy_us.
--   busy_us                   DOUBLE   us    Time in the window in which work of the step ran.
--   step_busy_us              DOUBLE   us    Time in step_us in which the device ran work that is in the trace, of this step or not.
--   starved_us                DOUBLE   us    Time of step_us in gaps in which the device had no launched work.
--   late_us                   DOUBLE   us    Time before the window in which the device had no launched work, after the work of the step before had ended; NULL without a period.
--   queued_us                 DOUBLE   us    Time in gaps after the next work was launched, including unrecorded_us.
--   unrecorded_us             DOUBLE   us    Time in which launched work waited for work that is not in the trace.
--   attention_pct             DOUBLE   pct   Share of attention, without writing the KV cache.
--   gemm_pct                  DOUBLE   pct   Share of matrix products outside of experts.
--   moe_pct                   DOUBLE   pct   Share of experts and their routing.
--   norm_pct                  DOUBLE   pct   Share of normalization.
--   communication_pct         DOUBLE   pct   Share of collectives.
--   kv_cache_pct              DOUBLE   pct   Share of writing the KV cache.
--   graph_pct                 DOUBLE   pct   Share of what graphs replayed.
--   graph_coverage_pct        DOUBLE   pct   Share of replayed time whose operator is known; NULL without replays.
--   prefill_requests          BIGINT   -     Number of requests that are prefilled.
--   decode_requests           BIGINT   -     Number of requests that generate tokens.
--   captured_requests         BIGINT   -     Number of requests that the graph was captured for, if known.
--   prefill_tokens            BIGINT   -     Number of new tokens that are prefilled.
--   decode_tokens             BIGINT   -     Number of tokens that are generated or tried.
--   prefill_context           BIGINT   -     Tokens that the prefilled requests attend to, cached and new.
--   decode_context            BIGINT   -     Tokens that the generating requests attend to.
--   host_us                   DOUBLE   us    Time of the annotation on the host.
--   device_window_us          DOUBLE   us    From the start of the first to the end of the last work.
--   period_us                 DOUBLE   us    From the end of the work of the step before; NULL for the first step on a device.
--   gap_us                    DOUBLE   us    Time in the window without work of the step.
--   exposed_communication_us  DOUBLE   us    Time in which collectives ran and nothing else.
--   device_us                 DOUBLE   us    Sum of the durations of the work.
--   attention_us              DOUBLE   us    The same of attention.
--   device_events             BIGINT   -     Number of kernels, copies and memsets.
--   launch_calls              BIGINT   -     Number of calls that launched, other than blocking ones.
--   launch_us                 DOUBLE   us    Time in these calls.
--   blocking_calls            BIGINT   -     Number of calls that wait for the device, such as cudaStreamSynchronize, and copies that return when done.
--   blocking_us               DOUBLE   us    Time in these calls.
--   blocking_call             VARCHAR  -     Name of the longest of them.
--   graph_launches            BIGINT   -     Number of graph launches.
--   compiled_graph_calls      BIGINT   -     Number of calls of a graph compiled by Inductor; in diffusion one per denoising step.
--   step_basis                VARCHAR  -     How step_us is measured: 'period', 'device window', 'after a wait' or 'host'.
--   tokens_basis              VARCHAR  -     Time that tokens_per_second divides by: 'period' or 'busy time'.
--   limited_by                VARCHAR  -     'host' if starved_us and late_us are more than 10 % of step_us, 'unrecorded work' if a wait for that is, else 'device'; NULL without device work.
--   basis                     VARCHAR  -     What the step is: 'annotation' or 'graph launch'.
--   name                      VARCHAR  -     Name of the annotation; of the launch call without one.
--   start_ns                  BIGINT   ns    Start on the host, nanoseconds since the epoch.
--   device_end_ns             BIGINT   ns    End of the device work.
--   note                      VARCHAR  -     Why lengths are NULL, if the annotation holds impossible ones.
CREATE MACRO serving_steps_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    step BIGINT := NULL,
    phase VARCHAR := NULL
) AS TABLE
    WITH
    windows AS MATERIALIZED (
        SELECT w.*, row_number() OVER (ORDER BY w.id) AS number
        FROM serving_windows(run, worker, span) AS w
    ),

    calls AS MATERIALIZED (FROM serving_calls('windows', run, worker, span)),

    work AS MATERIALIZED (FROM serving_work(run, worker, span)),

    spent AS (
        SELECT
            w.step_id,
            count(*) AS device_events,
            min(w.start_ns) AS start_ns,
            max(w.start_ns + w.duration_ns) AS end_ns,
            min(w.device_id) AS device_id,
            arg_min(w.called_ns, (w.start_ns, w.id)) AS first_called_ns,
            max(w.size) AS size,
            sum(w.duration_ns)::DOUBLE AS device_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.family = 'attention'), 0)
                AS attention_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.family = 'gemm'), 0) AS gemm_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.family = 'moe'), 0) AS moe_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.family = 'norm'), 0) AS norm_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.family = 'communication'), 0)
                AS communication_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.family = 'kv_cache'), 0)
                AS kv_cache_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.is_graph), 0)::DOUBLE AS graph_ns,
            coalesce(sum(w.duration_ns) FILTER (WHERE w.is_replayed), 0) AS attributed_ns
        FROM work AS w
        GROUP BY w.step_id
    ),

    waits AS (
        SELECT
            w.step_id,
            sum(u.end_ns - u.start_ns) FILTER (WHERE NOT u.is_first) AS unrecorded_ns,
            max(u.end_ns) AS last_ns
        FROM unrecorded_waits(run, worker, span) AS u
        CROSS JOIN trace_names(run, worker, span) AS t
        INNER JOIN work AS w
            ON first_id(t.names, u.run, u.worker, u.span) + u.event_id = w.id
        GROUP BY w.step_id
    ),

    -- A step whose work ends no later than that of an earlier one on its device has no period.
    begun AS (
        SELECT
            b.number,
            b.before_ns,
            b.lane,
            b.start_ns,
            b.end_ns,
            b.first_called_ns,
            CASE
                WHEN b.end_ns > b.before_ns THEN b.before_ns
                ELSE greatest(b.start_ns, coalesce(b.last_ns, 0))
            END AS from_ns
        FROM (
            SELECT
                w.number,
                s.start_ns,
                s.end_ns,
                s.first_called_ns,
                u.last_ns,
                dense_rank() OVER (ORDER BY w.run, w.worker, w.span, s.device_id) AS lane,
                max(s.end_ns) OVER (
                    PARTITION BY w.run, w.worker, w.span, s.device_id ORDER BY w.step
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS before_ns
            FROM windows AS w
            LEFT JOIN spent AS s ON w.id = s.step_id
            LEFT JOIN waits AS u ON w.id = u.step_id
        ) AS b
    ),

    -- Even numbers: all work of a step. Odd ones: without its collectives.
    by_step AS (
        SELECT 2 * s.number AS key, w.start_ns, w.duration_ns
        FROM work AS w
        INNER JOIN windows AS s ON w.step_id = s.id
        UNION ALL
        SELECT 2 * s.number + 1, w.start_ns, w.duration_ns
        FROM work AS w
        INNER JOIN windows AS s ON w.step_id = s.id
        WHERE w.family <> 'communication'
    ),

    busy AS (
        SELECT
            b.number,
            sum(m.duration_ns) FILTER (WHERE m.key % 2 = 0) AS busy_ns,
            sum(
                greatest(m.start_ns + m.duration_ns - greatest(m.start_ns, b.from_ns), 0)
            ) FILTER (WHERE m.key % 2 = 0) AS step_busy_ns,
            coalesce(sum(m.duration_ns) FILTER (WHERE m.key % 2 = 1), 0) AS computing_ns
        FROM merged_intervals('by_step') AS m
        INNER JOIN begun AS b ON m.key // 2 = b.number
        GROUP BY b.number
    ),

    placed AS (
        SELECT
            s.number AS key,
            row_number() OVER (ORDER BY w.id) AS event_id,
            w.called_ns - p.start_ns AS launch_id,
            w.start_ns - p.start_ns AS start_ns,
            w.start_ns - p.start_ns + w.duration_ns AS end_ns
        FROM work AS w
        INNER JOIN windows AS s ON w.step_id = s.id
        INNER JOIN spent AS p ON w.step_id = p.step_id
    ),

    -- launch_id is here the start of the call, counted like the other times.
    gaps AS MATERIALIZED (
        SELECT
            g.key AS number,
            b.start_ns + g.start_ns AS start_ns,
            b.start_ns + g.end_ns AS end_ns,
            b.start_ns + g.launch_id AS called_ns
        FROM idle_gaps('placed') AS g
        INNER JOIN begun AS b ON g.key = b.number
    ),

    -- Until before_ns the device worked on the step before.
    gap_times AS (
        SELECT
            g.number,
            sum(g.end_ns - g.start_ns) AS gap_ns,
            sum(
                greatest(
                    g.end_ns - greatest(g.start_ns, g.called_ns, coalesce(b.before_ns, 0)), 0
                )
            ) AS queued_ns
        FROM gaps AS g
        INNER JOIN begun AS b ON g.number = b.number
        GROUP BY g.number
    ),

    -- Time of a step in which no work of it runs, until the next launch and after it. A device that still runs
    -- the step before does not starve.
    pauses AS MATERIALIZED (
        SELECT
            p.number,
            p.lane,
            p.is_before,
            p.start_ns,
            p.end_ns,
            CASE
                WHEN p.is_hidden THEN p.start_ns
                ELSE greatest(p.start_ns, least(p.called_ns, p.end_ns))
            END AS called_ns,
            4 * row_number() OVER (ORDER BY p.number, p.start_ns) AS place
        FROM (
            SELECT
                b.number,
                b.lane,
                FALSE AS is_before,
                greatest(g.start_ns, b.from_ns) AS start_ns,
                g.end_ns,
                g.called_ns,
                coalesce(b.end_ns <= b.before_ns, FALSE) AS is_hidden
            FROM gaps AS g
            INNER JOIN begun AS b ON g.number = b.number
            UNION ALL
            SELECT b.number, b.lane, TRUE, b.before_ns, b.start_ns, b.first_called_ns, FALSE
            FROM begun AS b
            WHERE b.end_ns > b.before_ns
        ) AS p
        WHERE p.end_ns > p.start_ns
    ),

    instants AS (
        SELECT p.place, p.lane, p.start_ns AS before_ns, p.start_ns AS at_ns
        FROM pauses AS p
        UNION ALL
        SELECT p.place + 1, p.lane, p.start_ns, p.called_ns
        FROM pauses AS p
        UNION ALL
        SELECT p.place + 2, p.lane, p.called_ns, p.end_ns
        FROM pauses AS p
    ),

    -- Devices of steps, and all that ran on them.
    lanes AS (
        SELECT DISTINCT w.run, w.worker, w.span, s.device_id, b.lane
        FROM windows AS w
        INNER JOIN spent AS s ON w.id = s.step_id
        INNER JOIN begun AS b ON w.number = b.number
    ),

    recorded AS (
        SELECT
            0 AS scenario,
            l.lane,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns
        FROM device_events AS d
        INNER JOIN lanes AS l
            ON
                d.run = l.run AND d.worker = l.worker AND d.span = l.span
                AND d.device_id IS NOT DISTINCT FROM l.device_id
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    covered AS MATERIALIZED (FROM replay_covered('instants', 'recorded')),

    pause_times AS (
        SELECT
            p.number,
            sum(
                CASE
                    WHEN NOT p.is_before
                        THEN p.called_ns - p.start_ns - coalesce(c.covered_ns, 0)
                END
            ) AS starved_ns,
            sum(
                CASE
                    WHEN p.is_before THEN p.called_ns - p.start_ns - coalesce(c.covered_ns, 0)
                END
            ) AS late_ns,
            sum(coalesce(c.covered_ns, 0) + coalesce(q.covered_ns, 0)) AS others_ns
        FROM pauses AS p
        LEFT JOIN covered AS c ON p.place + 1 = c.place
        LEFT JOIN covered AS q ON p.place + 2 = q.place
        GROUP BY p.number
    ),

    called AS (
        SELECT
            c.step_id,
            count(*) FILTER (WHERE NOT c.blocks AND (c.is_launch OR l.call_id IS NOT NULL))
                AS launch_calls,
            sum(c.duration_ns) FILTER (
                WHERE NOT c.blocks AND (c.is_launch OR l.call_id IS NOT NULL)
            ) AS launch_ns,
            count(*) FILTER (WHERE c.blocks) AS blocking_calls,
            sum(c.duration_ns) FILTER (WHERE c.blocks) AS blocking_ns,
            arg_max(c.name, c.duration_ns) FILTER (WHERE c.blocks) AS blocking_call,
            count(*) FILTER (WHERE c.is_graph) AS graph_launches
        FROM calls AS c
        LEFT JOIN (SELECT DISTINCT w.call_id FROM work AS w) AS l ON c.id = l.call_id
        GROUP BY c.step_id
    ),

    compiled AS (
        SELECT w.id AS step_id, count(*) AS compiled_graph_calls
        FROM host_events AS h
        INNER JOIN windows AS w
            ON
                h.run = w.run AND h.worker = w.worker AND h.span = w.span
                AND h.start_ns >= w.start_ns AND h.start_ns < w.end_ns
        WHERE
            starts_with(h.name, '## Call CompiledFxGraph')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        GROUP BY w.id
    ),

    joined AS (
        SELECT
            w.*,
            s.device_events,
            s.start_ns AS device_start_ns,
            s.end_ns AS device_end_ns,
            s.end_ns - s.start_ns AS window_ns,
            n.before_ns,
            n.from_ns,
            s.size,
            s.device_ns,
            s.attention_ns,
            s.gemm_ns,
            s.moe_ns,
            s.norm_ns,
            s.communication_ns,
            s.kv_cache_ns,
            s.graph_ns,
            s.attributed_ns,
            b.busy_ns,
            b.step_busy_ns + coalesce(p.others_ns, 0) AS step_busy_ns,
            b.busy_ns - b.computing_ns AS exposed_ns,
            CASE WHEN s.step_id IS NOT NULL THEN coalesce(g.gap_ns, 0) END AS gap_ns,
            CASE WHEN s.step_id IS NOT NULL THEN coalesce(g.queued_ns, 0) END AS queued_ns,
            CASE WHEN s.step_id IS NOT NULL THEN coalesce(p.starved_ns, 0) END AS starved_ns,
            CASE WHEN s.end_ns > n.before_ns THEN coalesce(p.late_ns, 0) END AS late_ns,
            CASE WHEN s.step_id IS NOT NULL THEN coalesce(u.unrecorded_ns, 0) END
                AS unrecorded_ns,
            u.last_ns,
            coalesce(c.launch_calls, 0) AS launch_calls,
            coalesce(c.launch_ns, 0) AS launch_ns,
            coalesce(c.blocking_calls, 0) AS blocking_calls,
            coalesce(c.blocking_ns, 0) AS blocking_ns,
            c.blocking_call,
            coalesce(c.graph_launches, 0) AS graph_launches,
            coalesce(k.compiled_graph_calls, 0) AS compiled_graph_calls
        FROM windows AS w
        INNER JOIN begun AS n ON w.number = n.number
        LEFT JOIN spent AS s ON w.id = s.step_id
        LEFT JOIN busy AS b ON w.number = b.number
        LEFT JOIN gap_times AS g ON w.number = g.number
        LEFT JOIN pause_times AS p ON w.number = p.number
        LEFT JOIN waits AS u ON w.id = u.step_id
        LEFT JOIN called AS c ON w.id = c.step_id
        LEFT JOIN compiled AS k ON w.id = k.step_id
    ),

    timed AS (
        SELECT
            j.*,
            CASE WHEN j.device_end_ns > j.before_ns THEN j.device_end_ns - j.before_ns END
                AS period_ns
        FROM joined AS j
    ),

    measured AS (
        SELECT
            j.*,
            CASE
                WHEN j.period_ns IS NOT NULL THEN 'period'
                WHEN j.last_ns > j.device_start_ns THEN 'after a wait'
                WHEN j.window_ns IS NOT NULL THEN 'device window'
                ELSE 'host'
            END AS step_basis,
            CASE
                WHEN j.period_ns IS NOT NULL THEN j.period_ns
                WHEN j.window_ns IS NULL THEN j.end_ns - j.start_ns
                ELSE j.device_end_ns - j.from_ns
            END AS step_ns
        FROM timed AS j
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        m.step,
        m.phase,
        m.requests,
        m.tokens,
        m.step_ns / 1000.0 AS step_us,
        ratio(1e9 * m.tokens, coalesce(m.period_ns, m.busy_ns)) AS tokens_per_second,
        m.busy_ns / 1000.0 AS busy_us,
        m.step_busy_ns / 1000.0 AS step_busy_us,
        m.starved_ns / 1000.0 AS starved_us,
        m.late_ns / 1000.0 AS late_us,
        m.queued_ns / 1000.0 AS queued_us,
        m.unrecorded_ns / 1000.0 AS unrecorded_us,
        percentage(m.attention_ns, m.device_ns) AS attention_pct,
        percentage(m.gemm_ns, m.device_ns) AS gemm_pct,
        percentage(m.moe_ns, m.device_ns) AS moe_pct,
        percentage(m.norm_ns, m.device_ns) AS norm_pct,
        percentage(m.communication_ns, m.device_ns) AS communication_pct,
        percentage(m.kv_cache_ns, m.device_ns) AS kv_cache_pct,
        percentage(m.graph_ns, m.device_ns) AS graph_pct,
        percentage(m.attributed_ns, m.graph_ns) AS graph_coverage_pct,
        m.prefill_requests,
        m.decode_requests,
        -- A graph may be captured for a number of tokens, which only without speculation is that of requests.
        coalesce(
            m.captured_requests,
            CASE WHEN m.phase = 'decode' AND m.tokens = m.requests THEN m.size END
        ) AS captured_requests,
        m.prefill_tokens,
        m.decode_tokens,
        m.prefill_context,
        m.decode_context,
        (m.end_ns - m.start_ns) / 1000.0 AS host_us,
        m.window_ns / 1000.0 AS device_window_us,
        m.period_ns / 1000.0 AS period_us,
        m.gap_ns / 1000.0 AS gap_us,
        m.exposed_ns / 1000.0 AS exposed_communication_us,
        m.device_ns / 1000.0 AS device_us,
        m.attention_ns / 1000.0 AS attention_us,
        coalesce(m.device_events, 0) AS device_events,
        m.launch_calls,
        m.launch_ns / 1000.0 AS launch_us,
        m.blocking_calls,
        m.blocking_ns / 1000.0 AS blocking_us,
        m.blocking_call,
        m.graph_launches,
        m.compiled_graph_calls,
        m.step_basis,
        CASE
            WHEN m.tokens IS NULL THEN NULL
            WHEN m.period_ns IS NOT NULL THEN 'period'
            WHEN m.busy_ns IS NOT NULL THEN 'busy time'
        END AS tokens_basis,
        CASE
            WHEN m.device_events IS NULL THEN NULL
            WHEN m.starved_ns + coalesce(m.late_ns, 0) > 0.1 * m.step_ns THEN 'host'
            WHEN m.step_basis = 'period' AND m.unrecorded_ns > 0.1 * m.step_ns
                THEN 'unrecorded work'
            ELSE 'device'
        END AS limited_by,
        m.basis,
        m.name,
        m.start_ns,
        m.device_end_ns,
        m.note
    FROM measured AS m
    WHERE
        (step IS NULL OR m.step = step)
        AND (phase IS NULL OR m.phase = phase)
    ORDER BY m.run, m.worker, m.span, m.step;
