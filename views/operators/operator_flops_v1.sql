-- view: operator_flops
-- version: 1
-- since: 0.1
-- summary: Floating-point operations and bytes of every matrix product, convolution and attention, from its recorded shapes.
-- distributes: trace
-- order: device_us DESC, flops DESC, run, worker, span, start_ns, event_id
-- needs: no_operators no_shapes
-- empty: No call is a matrix product, a convolution or a fused attention whose shapes were recorded; other operators are not listed.
-- uses: operator_work, ratio
-- example: samples --run resnet_workers_0 --span 1 --limit 6
--
-- What a call has to compute and to move at least, without counters: each input is read once, each
-- output is written once, and a dimension that is expanded is in memory once. A multiplication and an
-- addition are two operations, and a bias is one more per element of the output. Known are
-- aten::mm, addmm, linear, bmm, baddbmm, _scaled_mm, convolution, the fused attentions below
-- scaled_dot_product_attention, and the backward of these two; of such calls inside each other one is
-- listed. Attention without a fused kernel is listed as its aten::bmm.
--
-- Half of the scores of causal attention count, as only these are computed; its backward computes
-- them anew. Of a convolution's backward those gradients count that were wanted. Softmax, dropout,
-- scalings and the scales of aten::_scaled_mm do not count.
--
-- The profiler records shapes with record_shapes=True; calls without them are not listed. A
-- convolution and an attention also want the values of scalar arguments, which torch records since 2.1;
-- flops and bytes are NULL without these, and where shapes do not fit together.
--
-- TraceLens has the same figures, but where it is wrong: it never counts the bias of a convolution,
-- counts both gradients always, and takes all elements of attention for two bytes. FlopCounterMode of
-- torch counts no bias and every score, and the gradient of a grouped weight once for each group.
--
-- params
--   name  type     unit  default  meaning
--   run, worker, span
--   op    VARCHAR  -     NULL     Name of an operator, or a pattern with %, e.g. 'aten::%mm'; NULL takes all.
--   step  BIGINT   -     NULL     Only calls that start inside this step as recorded, on any thread; NULL takes all.
-- columns
--   name            type     unit   meaning
--   run, worker, span
--   event_id        BIGINT   key    The call in host_events.
--   name            VARCHAR  -      Name of the operator.
--   kind            VARCHAR  -      'gemm', 'batched_gemm', 'convolution', 'convolution_backward', 'attention' or 'attention_backward'.
--   dtype           VARCHAR  -      Element type of what it multiplies, as in torch; NULL where unknown.
--   input_dims      JSON     -      Shape of each input.
--   start_ns        BIGINT   ns     When it started, nanoseconds since the epoch.
--   duration_us     DOUBLE   us     Host time from start to end.
--   device_us       DOUBLE   us     Device work of the call and of the operators below it; NULL where the trace links none to operators.
--   flops           BIGINT   -      Floating-point operations; NULL where its arguments do not tell.
--   bytes           BIGINT   bytes  What it reads and writes at least; NULL where its arguments do not tell.
--   tflops          DOUBLE   -      10^12 operations per second of device_us; NULL without device work.
--   bandwidth_gbps  DOUBLE   gbps   10^9 bytes per second of device_us; NULL without device work.
--   intensity       DOUBLE   -      Operations per byte.
CREATE MACRO operator_flops_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    op VARCHAR := NULL,
    step BIGINT := NULL
) AS TABLE
    WITH
    wanted_steps AS (
        SELECT s.run, s.worker, s.span, s.start_ns, s.end_ns
        FROM steps AS s
        WHERE s.step = step
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        w.event_id,
        w.name,
        w.kind,
        w.dtype,
        w.input_dims,
        w.start_ns,
        w.host_total_ns / 1000.0 AS duration_us,
        w.device_total_ns / 1000.0 AS device_us,
        w.flops,
        w.bytes,
        ratio(w.flops, w.device_total_ns) / 1000.0 AS tflops,
        ratio(w.bytes, w.device_total_ns) AS bandwidth_gbps,
        ratio(w.flops, w.bytes) AS intensity
    FROM operator_work(run, worker, span) AS w
    WHERE
        (
            op IS NULL
            OR CASE WHEN contains(op, '%') THEN w.name LIKE op ELSE w.name = op END
        )
        AND (
            step IS NULL
            OR EXISTS (
                FROM wanted_steps AS s
                WHERE
                    s.run = w.run
                    AND s.worker = w.worker
                    AND s.span = w.span
                    AND w.start_ns >= s.start_ns
                    AND w.start_ns < s.end_ns
            )
        )
    ORDER BY
        w.device_total_ns DESC NULLS LAST,
        w.flops DESC NULLS LAST,
        w.run ASC, w.worker ASC, w.span ASC, w.start_ns ASC, w.event_id ASC;
