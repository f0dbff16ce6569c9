-- view: attention_roofline
-- version: 1
-- since: 0.1
-- summary: Operations and bytes of attention in serving steps, and how close it is to the peak of the device.
-- grain: one row per serving step, operator and kernels of attention; per call with group_by 'call'
-- distributes: trace
-- order: run, worker, span, step, call, total_us DESC, kernels
-- empty: No serving step with attention was recorded; serving_steps lists the steps.
-- uses: attention_heads, checked_between, checked_choice, matrix_peaks, ratio, serving_windows, serving_work
-- example: drawn
--
-- Lengths come from the annotation of the step, heads from the inputs of the operator of attention. For
-- work of a graph that is the captured operator. Where it is unknown, give query_heads, kv_heads and head_dim. For
-- multi-head latent attention (MLA) give them, too: its inputs do not tell what its kernels compute with.
--
-- For prefill and decode, and per call of a layer:
--
--     pairs = sqsk - (sqsq - sq) / 2          pairs of query and key under a causal mask
--     flops = 2 * query_heads * (key_dim + value_dim) * pairs
--     bytes = query_bytes * sq * query_heads * (key_dim + value_dim)
--           + kv_bytes * sk * kv_heads * (key_dim + value_dim)
--
-- These are upper bounds: they assume that each query attends to its full context. A trace does not say
-- which layers have a sliding window. If a rate is above the peak of the device, that assumption must be
-- wrong, and the estimate is NULL; reason says so. With window_keys, a query attends to at most that many keys. A
-- layer may have a window although its rate is below the peak: group_by 'call' shows layers that differ.
--
-- Kernels of one call, such as those that split the keys and the one that sums up, count together. The kernels
-- of work without a known operator are one call if nothing else runs between them on their stream. Bytes do
-- not contain partial results. Annotations without lengths give no figures.
--
-- The peaks are those of known_gpus, with the tensor cores' for 16-bit numbers. peak_tflops and peak_gbps
-- replace them.
--
-- params
--   name           type     unit   default  meaning
--   run, worker, span
--   step           BIGINT   -      NULL     Number of a step to report; NULL reports all.
--   group_by       VARCHAR  -      'step'   'step' adds up the calls with the same operator and kernels; 'call' lists each.
--   window_keys    BIGINT   -      NULL     Number of keys that a query attends to at most; NULL for the full context.
--   window_kernel  VARCHAR  -      NULL     Regular expression of the kernels that have the window; NULL for all.
--   query_heads    BIGINT   -      NULL     Heads of the queries on this device; NULL takes them from the operator.
--   kv_heads       BIGINT   -      NULL     Heads of keys and values, likewise.
--   head_dim       BIGINT   -      NULL     Size of a head, likewise.
--   kv_bytes       BIGINT   bytes  NULL     Size of an element of the cache; NULL takes it from the operator, or 2.
--   peak_tflops    DOUBLE   -      NULL     Peak of the device, 10^12 operations per second.
--   peak_gbps      DOUBLE   gbps   NULL     Memory bandwidth of the device.
-- columns
--   run, worker, span
--   name             type     unit   meaning
--   step             BIGINT   key    Step, as in serving_steps.
--   phase            VARCHAR  -      Its phase.
--   call             BIGINT   key    Number of the call in the step, from 1; NULL unless grouped by call.
--   operator         VARCHAR  key    Operator of attention; NULL if unknown.
--   calls            BIGINT   -      Number of calls.
--   call_us          DOUBLE   us     Mean time of a call on the device.
--   flops            DOUBLE   -      Operations per call.
--   bytes            DOUBLE   bytes  Bytes of queries, results, keys and values per call.
--   achieved_tflops  DOUBLE   -      10^12 operations per second.
--   achieved_gbps    DOUBLE   gbps   10^9 bytes per second.
--   bound            VARCHAR  -      'compute' or 'memory': what takes longer at the peaks.
--   achieved_pct     DOUBLE   pct    Time at the peaks as a share of the time taken.
--   total_us         DOUBLE   us     Time of all calls of the row.
--   query_heads      BIGINT   -      Heads of the queries.
--   kv_heads         BIGINT   -      Heads of keys and values.
--   key_dim          BIGINT   -      Size of a head of queries and keys.
--   prefill_pairs    DOUBLE   -      Pairs of query and key of the prefilled requests.
--   decode_pairs     DOUBLE   -      The same of generating requests.
--   prefill_flops    DOUBLE   -      Operations per call for the prefilled requests.
--   decode_flops     DOUBLE   -      The same for generating requests.
--   prefill_bytes    DOUBLE   bytes  Bytes per call for the prefilled requests.
--   decode_bytes     DOUBLE   bytes  The same for generating requests.
--   peak_tflops      DOUBLE   -      Peak of the device.
--   peak_gbps        DOUBLE   gbps   Memory bandwidth of the device.
--   estimate         VARCHAR  -      What the figures assume; NULL without figures.
--   reason           VARCHAR  -      Why figures are NULL.
--   kernels          VARCHAR  key    Names of the kernels of a call.
CREATE MACRO attention_roofline_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    step BIGINT := NULL,
    group_by VARCHAR := 'step',
    window_keys BIGINT := NULL,
    window_kernel VARCHAR := NULL,
    query_heads BIGINT := NULL,
    kv_heads BIGINT := NULL,
    head_dim BIGINT := NULL,
    kv_bytes BIGINT := NULL,
    peak_tflops DOUBLE := NULL,
    peak_gbps DOUBLE := NULL
) AS TABLE
    WITH
    windows AS MATERIALIZED (
        SELECT w.*
        FROM serving_windows(run, worker, span) AS w
        WHERE
            (step IS NULL OR w.step = step)
            AND (
                SELECT c.is_allowed
                FROM checked_choice('group_by', group_by, ['step', 'call']) AS c
            )
            -- Engines write a window of -1 for none, which is NULL here.
            AND least(
                checked_between('window_keys', window_keys, 0, NULL),
                checked_between('query_heads', query_heads, 0, NULL),
                checked_between('kv_heads', kv_heads, 0, NULL),
                checked_between('head_dim', head_dim, 0, NULL),
                checked_between('kv_bytes', kv_bytes, 0, NULL)
            ) IS DISTINCT FROM 0
    ),

    -- Sorted before the window, not by it: then the window takes a tenth of the time.
    in_order AS (
        SELECT w.*
        FROM serving_work(run, worker, span) AS w
        SEMI JOIN windows AS s ON w.step_id = s.id
        ORDER BY w.step_id, w.device_id, w.stream_id, w.start_ns, w.id
    ),

    -- Work of unknown calls of attention in a row on a stream has the same number of other work before it.
    numbered AS (
        SELECT
            o.*,
            sum(CASE WHEN o.family <> 'attention' OR o.call IS NOT NULL THEN 1 ELSE 0 END)
                OVER (ROWS UNBOUNDED PRECEDING) AS stretch  -- noqa: PRS, CP02
        FROM in_order AS o
    ),

    attention AS MATERIALIZED (
        SELECT
            n.*,
            coalesce(n.call, concat_ws(' ', 'stretch', n.device_id, n.stream_id, n.stretch))
                AS layer_call
        FROM numbered AS n
        WHERE n.family = 'attention'
    ),

    layer_calls AS (
        SELECT
            a.step_id,
            row_number() OVER (PARTITION BY a.step_id ORDER BY min(a.start_ns)) AS call,
            any_value(a.operator) AS operator,
            any_value(a.input_dims) AS input_dims,
            any_value(a.input_types) AS input_types,
            string_agg(DISTINCT a.name, ' + ' ORDER BY a.name) AS kernels,
            sum(a.duration_ns) AS duration_ns
        FROM attention AS a
        GROUP BY a.step_id, a.layer_call
    ),

    grouped AS MATERIALIZED (
        SELECT
            l.step_id,
            CASE WHEN group_by = 'call' THEN l.call END AS call,
            l.operator,
            l.input_dims,
            l.input_types,
            l.kernels,
            coalesce(window_keys IS NOT NULL AND (
                window_kernel IS NULL OR regexp_matches(l.kernels, window_kernel)
            ), FALSE) AS has_window,
            count(*) AS calls,
            sum(l.duration_ns)::DOUBLE AS duration_ns
        FROM layer_calls AS l
        GROUP BY ALL
    ),

    -- With a window, a request reads the keys of the window before its first new token, and its own. Numbers that
    -- are not known stay unknown: least would take the other one.
    sized AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.phase,
            s.note,
            g.call,
            g.operator,
            g.kernels,
            g.calls,
            g.duration_ns,
            g.has_window,
            coalesce(query_heads, h.query_heads) AS query_heads,
            coalesce(kv_heads, h.kv_heads) AS kv_heads,
            coalesce(head_dim, h.key_dim) AS key_dim,
            coalesce(head_dim, h.value_dim) AS value_dim,
            coalesce(h.query_bytes, 2) AS query_bytes,
            coalesce(kv_bytes, h.kv_bytes, 2) AS kv_bytes,
            CASE
                WHEN g.has_window AND s.prefill_pairs IS NOT NULL
                    THEN least(s.prefill_pairs, s.prefill_tokens::DOUBLE * window_keys)
                ELSE s.prefill_pairs
            END AS prefill_pairs,
            CASE
                WHEN g.has_window AND s.decode_pairs IS NOT NULL
                    THEN least(s.decode_pairs, s.decode_tokens::DOUBLE * window_keys)
                ELSE s.decode_pairs
            END AS decode_pairs,
            coalesce(s.prefill_tokens, 0) AS prefill_tokens,
            coalesce(s.decode_tokens, 0) AS decode_tokens,
            CASE
                WHEN g.has_window AND s.prefill_context IS NOT NULL
                    THEN
                        least(
                            s.prefill_context,
                            s.prefill_tokens + s.prefill_requests * (window_keys - 1)
                        )
                ELSE s.prefill_context
            END AS prefill_context,
            CASE
                WHEN g.has_window AND s.decode_context IS NOT NULL
                    THEN
                        least(
                            s.decode_context,
                            s.decode_tokens + s.decode_requests * (window_keys - 1)
                        )
                ELSE s.decode_context
            END AS decode_context,
            coalesce(
                checked_between('peak_tflops', peak_tflops, 0, NULL), p.matrix_tflops
            ) AS peak_tflops,
            coalesce(checked_between('peak_gbps', peak_gbps, 0, NULL), p.memory_gbps) AS peak_gbps
        FROM grouped AS g
        INNER JOIN windows AS s ON g.step_id = s.id
        LEFT JOIN attention_heads('grouped') AS h
            ON
                g.input_dims = h.input_dims AND g.input_types = h.input_types
                AND NOT regexp_matches(g.operator, '(:|_|flash)mla(_|$)')
        LEFT JOIN matrix_peaks(run, worker, span) AS p
            ON s.run = p.run AND s.worker = p.worker AND s.span = p.span
    ),

    modelled AS (
        SELECT
            z.*,
            2.0 * z.query_heads * (z.key_dim + z.value_dim) * z.prefill_pairs AS prefill_flops,
            2.0 * z.query_heads * (z.key_dim + z.value_dim) * z.decode_pairs AS decode_flops,
            (z.key_dim + z.value_dim)::DOUBLE * (
                z.query_bytes * z.prefill_tokens * z.query_heads
                + z.kv_bytes * coalesce(
                    z.prefill_context, CASE WHEN z.prefill_pairs = 0 THEN 0 END
                ) * z.kv_heads
            ) AS prefill_bytes,
            (z.key_dim + z.value_dim)::DOUBLE * (
                z.query_bytes * z.decode_tokens * z.query_heads
                + z.kv_bytes * coalesce(
                    z.decode_context, CASE WHEN z.decode_pairs = 0 THEN 0 END
                ) * z.kv_heads
            ) AS decode_bytes
        FROM sized AS z
    ),

    -- Operations per nanosecond are 10^9 operations per second.
    rated AS (
        SELECT
            m.*,
            ratio(m.duration_ns, m.calls) AS call_ns,
            m.prefill_flops + m.decode_flops AS flops,
            m.prefill_bytes + m.decode_bytes AS bytes,
            ratio((m.prefill_flops + m.decode_flops) * m.calls, m.duration_ns) / 1000 AS tflops,
            ratio((m.prefill_bytes + m.decode_bytes) * m.calls, m.duration_ns) AS gbps,
            CASE
                WHEN m.has_window
                    THEN
                        ', even with a window of ' || window_keys
                        || ': give window_keys a lower value'
                ELSE ': full context is wrong here, give window_keys'
            END AS advice
        FROM modelled AS m
    ),

    judged AS (
        SELECT
            r.*,
            CASE
                WHEN r.note IS NOT NULL THEN r.note
                WHEN r.prefill_pairs IS NULL OR r.decode_pairs IS NULL
                    THEN 'the annotation has no lengths'
                WHEN r.query_heads IS NULL OR r.kv_heads IS NULL OR r.key_dim IS NULL
                    THEN
                        CASE
                            WHEN r.operator IS NULL
                                THEN 'the operator is unknown: ingest the capture, or '
                            ELSE 'the inputs of the operator do not tell its heads: '
                        END || 'give query_heads, kv_heads and head_dim'
                WHEN r.tflops > r.peak_tflops
                    THEN
                        format('{:.0f} TFLOP/s is above the peak of the device', r.tflops)
                        || r.advice
                WHEN r.gbps > r.peak_gbps
                    THEN
                        format('{:.0f} GB/s is above the peak of the device', r.gbps)
                        || r.advice
            END AS reason
        FROM rated AS r
    )

    SELECT
        j.run,
        j.worker,
        j.span,
        j.step,
        j.phase,
        j.call,
        j.operator,
        j.calls,
        j.call_ns / 1000 AS call_us,
        CASE WHEN j.reason IS NULL THEN j.flops END AS flops,
        CASE WHEN j.reason IS NULL THEN j.bytes END AS bytes,
        CASE WHEN j.reason IS NULL THEN j.tflops END AS achieved_tflops,
        CASE WHEN j.reason IS NULL THEN j.gbps END AS achieved_gbps,
        CASE
            WHEN j.reason IS NOT NULL OR j.peak_tflops IS NULL OR j.peak_gbps IS NULL THEN NULL
            WHEN j.tflops / j.peak_tflops > j.gbps / j.peak_gbps THEN 'compute'
            ELSE 'memory'
        END AS bound,
        CASE
            WHEN j.reason IS NULL AND j.peak_tflops IS NOT NULL AND j.peak_gbps IS NOT NULL
                THEN 100 * greatest(j.tflops / j.peak_tflops, j.gbps / j.peak_gbps)
        END AS achieved_pct,
        j.duration_ns / 1000 AS total_us,
        j.query_heads,
        j.kv_heads,
        j.key_dim,
        j.prefill_pairs,
        j.decode_pairs,
        CASE WHEN j.reason IS NULL THEN j.prefill_flops END AS prefill_flops,
        CASE WHEN j.reason IS NULL THEN j.decode_flops END AS decode_flops,
        CASE WHEN j.reason IS NULL THEN j.prefill_bytes END AS prefill_bytes,
        CASE WHEN j.reason IS NULL THEN j.decode_bytes END AS decode_bytes,
        j.peak_tflops,
        j.peak_gbps,
        CASE
            WHEN j.reason IS NOT NULL THEN NULL
            WHEN j.has_window THEN 'upper bound, window of ' || window_keys
            ELSE 'upper bound, full context assumed'
        END AS estimate,
        j.reason,
        j.kernels
    FROM judged AS j
    ORDER BY
        j.run ASC, j.worker ASC, j.span ASC, j.step ASC, j.call ASC, j.duration_ns DESC,
        j.kernels ASC;
