-- view: operator_flops_summary
-- version: 1
-- since: 0.1
-- summary: How fast matrix products, convolutions and attention run, per operator and shape.
-- grain: one row per operator, shapes, element type and work per call
-- distributes: worker
-- order: device_us DESC, total_flops DESC, run, worker, span, name, dtype, input_dims, flops, bytes
-- needs: no_operators no_shapes
-- empty: No call is a matrix product, a convolution or a fused attention whose shapes were recorded; other operators are not listed.
-- uses: operator_flops_v1, ratio
-- example: samples --run resnet_workers_0 --span 1 --limit 6
--
-- operator_flops added up over calls that do the same work. Calls with the same shapes and other
-- options, as stride or causal, are rows of their own where they do other work.
--
-- params
--   name  type     unit  default  meaning
--   run, worker, span
--   step  BIGINT   -     NULL     Only calls that start inside this step as recorded, on any thread; NULL takes all.
--   per_span
-- columns
--   name            type     unit   meaning
--   run, worker, span
--   name            VARCHAR  key    Name of the operator.
--   kind            VARCHAR  -      'gemm', 'batched_gemm', 'convolution', 'convolution_backward', 'attention' or 'attention_backward'.
--   dtype           VARCHAR  key    Element type of what it multiplies, as in torch; NULL where unknown.
--   input_dims      JSON     key    Shape of each input.
--   flops           BIGINT   key    Floating-point operations of one call; NULL where its arguments do not tell.
--   bytes           BIGINT   bytes  What one call reads and writes at least; NULL where its arguments do not tell.
--   intensity       DOUBLE   -      Operations per byte.
--   calls           BIGINT   -      Number of calls.
--   total_flops     DOUBLE   -      Floating-point operations of all calls.
--   duration_us     DOUBLE   us     Host time of all calls from start to end.
--   device_us       DOUBLE   us     Device work of all calls; NULL where the trace links none to operators.
--   tflops          DOUBLE   -      10^12 operations per second of device_us; NULL without device work.
--   max_tflops      DOUBLE   -      The same of the fastest call.
--   bandwidth_gbps  DOUBLE   gbps   10^9 bytes per second of device_us; NULL without device work.
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
            -- Recordings without device work add nothing to a rate.
            count(f.device_us) AS timed_calls,
            sum(f.duration_us) AS duration_us,
            sum(f.device_us) AS device_us,
            max(f.tflops) AS max_tflops
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
        ratio(a.bytes::DOUBLE * a.timed_calls, a.device_us) / 1000.0 AS bandwidth_gbps
    FROM alike AS a
    ORDER BY
        a.device_us DESC NULLS LAST,
        a.flops::DOUBLE * a.calls DESC NULLS LAST,
        a.run ASC, a.worker ASC, a.span ASC,
        a.name ASC, a.dtype ASC, a.input_dims ASC, a.flops ASC, a.bytes ASC;
