-- view: operator_flops_summary
-- version: 1
-- since: 0.1
-- summary: FLOPs, bytes and throughput of matrix products, convolutions and attention, per operator and shape.
-- grain: one row per operator, input shapes, element type and work per call
-- distributes: worker
-- order: device_us DESC, total_flops DESC, run, worker, span, name, dtype, input_dims, flops, bytes
-- needs: no_operators, no_shapes
-- empty: No call is a matrix product, a convolution or a fused attention with recorded shapes; other operators are not listed.
-- notes: replay_notes
-- uses: operator_flops_v1, ratio
-- example: samples --run resnet_workers_0 --span 1 --limit 6
--
-- The rows of operator_flops, summed over calls that do the same work. Calls with the same shapes but
-- other options, such as stride or causal, have a row of their own if they do a different amount of work.
--
-- params
--   name  type     unit  default  meaning
--   run, worker, span
--   step  BIGINT   -     NULL     Number of a step as recorded: only calls that start inside it, on any thread; NULL reports all.
--   per_span
-- columns
--   name            type     unit   meaning
--   run, worker, span
--   name            VARCHAR  key    Name of the operator.
--   kind            VARCHAR  -      'gemm', 'batched_gemm', 'convolution', 'convolution_backward', 'attention' or 'attention_backward'.
--   dtype           VARCHAR  key    Element type of the factors, as torch names it; NULL if unknown.
--   input_dims      JSON     key    Shape of each input.
--   flops           BIGINT   key    Floating-point operations of one call; NULL if its arguments do not tell.
--   bytes           BIGINT   bytes  Least number of bytes that one call reads and writes; NULL if its arguments do not tell.
--   intensity       DOUBLE   -      Operations per byte.
--   calls           BIGINT   -      Number of calls.
--   total_flops     DOUBLE   -      Floating-point operations of all calls.
--   duration_us     DOUBLE   us     Host time of all calls from start to end.
--   device_us       DOUBLE   us     Device work of all calls; NULL where the trace does not link device work to operators.
--   tflops          DOUBLE   -      10^12 operations per second of device_us; NULL without device work.
--   max_tflops      DOUBLE   -      The same for the fastest call.
--   bandwidth_gbps  DOUBLE   gbps   10^9 bytes per second of device_us; NULL without device work.
--   replayed_calls  BIGINT   -      Number of these calls that a graph replayed.
--   replayed_us     DOUBLE   us     Part of device_us that graphs replayed.
CREATE MACRO operator_flops_summary_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    step BIGINT := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    alike AS (
        SELECT
            f.run,
            f.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN f.span END AS span,
            f.name,
            f.kind,
            f.dtype,
            f.input_dims,
            f.flops,
            f.bytes,
            f.intensity,
            count(*) AS calls,
            -- Recordings without device work do not count in a rate.
            count(f.device_us) AS timed_calls,
            sum(f.duration_us) AS duration_us,
            sum(f.device_us) AS device_us,
            max(f.tflops) AS max_tflops,
            count(f.launch_id) AS replayed_calls,
            coalesce(sum(CASE WHEN f.launch_id IS NOT NULL THEN f.device_us END), 0) AS replayed_us
        FROM operator_flops_v1(run := run, worker := worker, span := span, step := step) AS f
        GROUP BY ALL
    )

    SELECT
        a.run,
        a.worker,
        a.span,
        a.name,
        a.kind,
        a.dtype,
        a.input_dims,
        a.flops,
        a.bytes,
        a.intensity,
        a.calls,
        a.flops::DOUBLE * a.calls AS total_flops,
        a.duration_us,
        a.device_us,
        ratio(a.flops::DOUBLE * a.timed_calls, a.device_us) / 1e6 AS tflops,
        a.max_tflops,
        ratio(a.bytes::DOUBLE * a.timed_calls, a.device_us) / 1000.0 AS bandwidth_gbps,
        a.replayed_calls,
        a.replayed_us
    FROM alike AS a
    ORDER BY
        a.device_us DESC NULLS LAST,
        a.flops::DOUBLE * a.calls DESC NULLS LAST,
        a.run ASC, a.worker ASC, a.span ASC,
        a.name ASC, a.dtype ASC, a.input_dims ASC, a.flops ASC, a.bytes ASC;
