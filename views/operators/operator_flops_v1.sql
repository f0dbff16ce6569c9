-- view: operator_flops
-- version: 1
-- since: 0.1
-- summary: FLOPs and bytes of each matrix product, convolution and attention, computed from its input shapes.
-- distributes: trace
-- order: device_us DESC, flops DESC, run, worker, span, start_ns, event_id, launch_id, operator_id
-- needs: no_operators, no_shapes
-- empty: No call is a matrix product, a convolution or a fused attention with recorded shapes; other operators are not listed.
-- notes: replay_notes
-- uses: operator_work, ratio
-- example: samples --run resnet_workers_0 --span 1 --limit 6
--
-- The least that a call has to compute and to move, computed without hardware counters. Each input is read
-- once, each output is written once, and an expanded dimension is in memory once. A multiplication and an
-- addition are two operations, and a bias is one more per output element. Supported are aten::mm, addmm,
-- linear, bmm, baddbmm, _scaled_mm, convolution, the fused attentions below scaled_dot_product_attention,
-- and the backward of the last two. Of nested calls of these, only one is listed. For a product of a
-- DTensor, of another subclass of a tensor, or in torch.vmap, those products are listed that it calls: with
-- tensor parallelism they have the shapes of the rank. Attention without a fused kernel is listed as its
-- aten::bmm.
--
-- For causal attention only half of the scores count, as only these are computed; its backward computes
-- them again. For the backward of a convolution only the requested gradients count. Softmax, dropout,
-- scaling, and the scales of aten::_scaled_mm do not count, nor does the output of attention as an input of its
-- backward.
--
-- The profiler records shapes with record_shapes=True; calls without shapes are not listed. Convolutions
-- and attention also need the values of scalar arguments, which torch records since 2.1. Without them, where
-- shapes do not fit together, and where a factor is sparse, flops and bytes are NULL.
--
-- A call that a CUDA or HIP graph replayed is listed once per replay, with the shapes of the capture, if the capture is
-- known (see graph_replays). It has no host time.
--
-- TraceLens has the same figures except for three errors: it never counts the bias of a convolution, it
-- always counts both gradients, and it assumes two bytes for all elements of attention. FlopCounterMode of
-- torch counts no bias, counts every score, and counts the gradient of a grouped weight once per group.
--
-- params
--   name  type     unit  default  meaning
--   run, worker, span
--   op    VARCHAR  -     NULL     Name of an operator, or a pattern with %, e.g. 'aten::%mm'; NULL reports all.
--   step  BIGINT   -     NULL     Number of a step as recorded: only calls that start inside it, on any thread; NULL reports all.
-- columns
--   name            type     unit   meaning
--   run, worker, span
--   event_id        BIGINT   key    Row of the call in host_events; NULL for a call that a graph replayed.
--   name            VARCHAR  -      Name of the operator.
--   kind            VARCHAR  -      'gemm', 'batched_gemm', 'convolution', 'convolution_backward', 'attention' or 'attention_backward'.
--   dtype           VARCHAR  -      Element type of the factors, as torch names it; NULL if unknown.
--   input_dims      JSON     -      Shape of each input.
--   start_ns        BIGINT   ns     When it started, or its graph was launched, nanoseconds since the epoch.
--   duration_us     DOUBLE   us     Host time from start to end; NULL for a call that a graph replayed.
--   device_us       DOUBLE   us     Device work of the call and of the operators below it; NULL where the trace does not link device work to operators.
--   flops           BIGINT   -      Floating-point operations; NULL if its arguments do not tell.
--   bytes           BIGINT   bytes  Least number of bytes that it reads and writes; NULL if its arguments do not tell.
--   tflops          DOUBLE   -      10^12 operations per second of device_us; NULL without device work.
--   bandwidth_gbps  DOUBLE   gbps   10^9 bytes per second of device_us; NULL without device work.
--   intensity       DOUBLE   -      Operations per byte.
--   launch_id       BIGINT   key    Call in host_events that launched the graph; NULL for any other call.
--   operator_id     BIGINT   key    The replayed call in host_events of the capture; NULL for any other call.
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
        ratio(w.flops, w.bytes) AS intensity,
        w.launch_id,
        w.operator_id
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
        w.run ASC, w.worker ASC, w.span ASC, w.start_ns ASC, w.event_id ASC,
        w.launch_id ASC, w.operator_id ASC;
