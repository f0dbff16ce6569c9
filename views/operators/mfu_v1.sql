-- view: mfu
-- version: 1
-- since: 0.1
-- summary: Model FLOPs utilization (MFU) of each step: operations of the model against the peak of the device.
-- grain: one row per profiler step of a trace; one row with a NULL step for a trace without steps
-- distributes: trace
-- order: run, worker, span, step
-- empty: No event with a duration was recorded: {record events}.
-- notes: replay_notes
-- uses: checked_between, device_models, event_steps, first_id, gpu_peaks, is_cut_off, is_wanted, operator_work, percentage, profiled_kernels, ratio, recording_hint, replayed_costs, time_at_peak, trace_key, trace_names, unknown_events, unrecorded_work
-- example: samples --run gpt_eager
-- reading: A step does 546 billion operations. At its peak the device needs 0.55 ms for them; their kernels take 1.06 ms, and the step 9 to 15 ms.
--
-- The operations are those of operator_flops that start in the step: matrix products, convolutions and
-- attention, computed from their shapes. Each element type has its own peak. ideal_us is the time that the
-- operations would take at these peaks, and mfu_pct is its share of the step. For one type this is the usual
-- definition: operations per second of the step, divided by the peak. Where the trace links device work to
-- operators, a call without any does not count: it ran on the CPU, or torch.compile only traced it.
--
-- A step is as long as in step_breakdown. Work on several devices counts against the peaks of all devices that
-- ran kernels of the trace.
--
-- The peaks come from known_gpus, without sparsity. Types of 16 bits, 8 bits and float64 count against the
-- tensor cores, if the device has them for the type. float32 counts against TF32 if an operator with inputs of
-- float32, and none of 16 or 8 bits, launched a kernel that uses tensor cores, and otherwise against the CUDA cores.
-- A kernel that a graph replays is one of the operator that was captured.
-- For another device, for a CPU, or for a peak that you have measured, set peak_tflops.
--
-- What differs from the MFU of a formula such as 6ND, which is 6 operations per parameter and token:
--
-- - Operations of attention count, and those of embeddings, which only look up, do not.
-- - What activation checkpointing computes again counts, and so do the scores that the backward of a fused
--   attention computes again. The formula leaves both out.
-- - Products in kernels that torch has no operator for, such as those of Triton or of packages, do not count, so
--   mfu_pct is too low by these. counted_us tells how much device work the counted calls launched.
-- - unknown_calls are calls whose arguments do not tell their operations. If they take more than 1 % of the device
--   time of all such calls (without device times: if they are more than 1 % of the calls), mfu_pct is NULL.
--
-- Hardware FLOPs utilization (HFU) has the operations that CUPTI counted, as in kernel_counters: those of the
-- CUDA cores against the peaks of the CUDA cores, and those of tensor cores, if their counters were recorded, against
-- the peaks of the tensor cores. Such a recording runs every kernel several times, so its steps are longer than
-- usual, and both figures are lower.
--
-- params
--   name         type    unit  default  meaning
--   run, worker, span
--   step         BIGINT  -     NULL     Number of a step to report; NULL reports all.
--   peak_tflops  DOUBLE  -     NULL     Peak of one device for all types, in 10^12 operations per second; NULL takes those of known_gpus.
-- columns
--   run, worker, span
--   name           type     unit  meaning
--   step           BIGINT   key   Number of the step; NULL where the trace has no steps.
--   step_us        DOUBLE   us    Length of the step.
--   flops          DOUBLE   -     Floating-point operations of the calls that start in the step; NULL if none of them is known.
--   unknown_calls  BIGINT   -     Number of such calls whose operations are not known.
--   counted_us     DOUBLE   us    Device work of the calls that flops covers; NULL where the trace does not link device work to operators.
--   tflops         DOUBLE   -     10^12 operations per second of step_us.
--   peak_tflops    DOUBLE   -     10^12 operations per second of ideal_us; of several devices their sum.
--   ideal_us       DOUBLE   us    Time that the operations would take at the peaks of their types.
--   mfu_pct        DOUBLE   pct   ideal_us as a share of step_us; NULL where reason says why.
--   hfu_flops      DOUBLE   -     Operations that CUPTI counted; NULL if it did not count them for all kernels of the step.
--   hfu_pct        DOUBLE   pct   The time that hfu_flops would take at the peaks of their types, as a share of step_us.
--   device         VARCHAR  -     Model of the device; NULL if the trace lists none, or several.
--   is_tail        BOOLEAN  -     Whether the step was cut short by the end of the recording and is left out of averages.
--   reason         VARCHAR  -     Why mfu_pct is NULL.
CREATE MACRO mfu_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    step BIGINT := NULL,
    peak_tflops DOUBLE := NULL
) AS TABLE
    WITH
    -- One call is once in the list of work, and a launch of a graph once per call that it replayed.
    work AS MATERIALIZED (
        SELECT
            first_id(t.names, w.run, w.worker, w.span) + coalesce(w.event_id, w.launch_id) AS id,
            w.start_ns,
            w.dtype,
            w.flops,
            w.device_total_ns
        FROM operator_work(run, worker, span) AS w
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE coalesce(w.device_total_ns > 0, TRUE)
    ),

    profiled AS MATERIALIZED (FROM profiled_kernels(run, worker, span)),

    counted AS MATERIALIZED (
        SELECT
            first_id(t.names, k.run, k.worker, k.span) + k.launch_id AS id,
            h.start_ns,
            k.flops,
            k.fp64_flops,
            k.fp32_flops,
            k.fp16_flops,
            k.fp64_tensor_flops,
            k.fp32_tensor_flops,
            k.fp16_tensor_flops,
            k.bf16_tensor_flops,
            k.fp8_tensor_flops
        FROM profiled AS k
        INNER JOIN host_events AS h
            ON
                k.run = h.run AND k.worker = h.worker AND k.span = h.span
                AND k.launch_id = h.event_id
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    starts AS (
        SELECT w.id, w.start_ns
        FROM work AS w
        UNION
        SELECT c.id, c.start_ns
        FROM counted AS c
    ),

    placed AS MATERIALIZED (FROM event_steps('starts', run, worker, span)),

    used AS (
        SELECT d.run, d.worker, d.span, count(DISTINCT d.device_id) AS devices
        FROM device_events AS d
        WHERE
            (d.kind = 'compute' OR d.category = 'cuda_profiler_range')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span
    ),

    -- Kernels whose launch is not known may be of any step.
    unplaced AS (
        SELECT DISTINCT k.run, k.worker, k.span
        FROM profiled AS k
        WHERE k.launch_id IS NULL
    ),

    on_tensor_cores AS (
        SELECT d.run, d.worker, d.span, h.input_types
        FROM device_events AS d
        INNER JOIN host_events AS h
            ON
                d.run = h.run AND d.worker = h.worker AND d.span = h.span
                AND d.op_id = h.event_id
        WHERE d.uses_tensor_cores AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        UNION ALL
        SELECT r.run, r.worker, r.span, r.input_types
        FROM replayed_costs(run, worker, span) AS r
        WHERE r.tensor_core_self_ns > 0
    ),

    -- Attention of 16 bits and products of 8 bits have inputs of float32, too: sums and scales.
    tf32 AS (
        SELECT DISTINCT o.run, o.worker, o.span
        FROM on_tensor_cores AS o
        WHERE
            list_contains(o.input_types, 'float')
            AND NOT list_has_any(
                o.input_types,
                [
                    'c10::BFloat16', 'c10::Half', 'c10::Float8_e4m3fn', 'c10::Float8_e4m3fnuz',
                    'c10::Float8_e5m2', 'c10::Float8_e5m2fnuz', 'c10::Float4_e2m1fn_x2'
                ]
            )
    ),

    shaped AS (
        SELECT DISTINCT h.run, h.worker, h.span
        FROM host_events AS h
        WHERE
            h.input_dims IS NOT NULL
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    facts AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            list_position(n.names, trace_key(t.run, t.worker, t.span)) AS trace,
            t.source,
            is_cut_off(t.skipped_reasons) AS is_cut,
            m.name AS device,
            l.run IS NOT NULL AS is_listed,
            k.name IS NOT NULL AS is_known,
            u.devices,
            f.run IS NOT NULL AS has_tf32,
            s.run IS NOT NULL AS has_shapes,
            q.run IS NOT NULL AS has_unplaced,
            coalesce(c.is_capture, FALSE) AS is_capture,
            x.run IS NOT NULL AND coalesce(t.source = 'kineto', FALSE)
            AND t.schema_version IS NULL AS is_foreign
        FROM traces AS t
        CROSS JOIN trace_names(run, worker, span) AS n
        LEFT JOIN device_models(run, worker, span) AS m
            ON t.run = m.run AND t.worker = m.worker AND t.span = m.span
        LEFT JOIN (SELECT DISTINCT d.run, d.worker, d.span FROM devices AS d) AS l
            ON t.run = l.run AND t.worker = l.worker AND t.span = l.span
        LEFT JOIN (SELECT DISTINCT p.name FROM gpu_peaks() AS p) AS k ON m.name = k.name
        LEFT JOIN used AS u ON t.run = u.run AND t.worker = u.worker AND t.span = u.span
        LEFT JOIN tf32 AS f ON t.run = f.run AND t.worker = f.worker AND t.span = f.span
        LEFT JOIN shaped AS s ON t.run = s.run AND t.worker = s.worker AND t.span = s.span
        LEFT JOIN unplaced AS q ON t.run = q.run AND t.worker = q.worker AND t.span = q.span
        LEFT JOIN unrecorded_work(run, worker, span) AS c
            ON t.run = c.run AND t.worker = c.worker AND t.span = c.span
        LEFT JOIN unknown_events(run, worker, span) AS x
            ON t.run = x.run AND t.worker = x.worker AND t.span = x.span
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ),

    by_type AS (
        SELECT
            w.id >> 40 AS trace,
            p.step,
            p.step_start_ns,
            coalesce(w.dtype, 'an unknown type') AS dtype,
            sum(w.flops)::DOUBLE AS flops,
            count(*) AS calls,
            count(*) - count(w.flops) AS unknown_calls,
            sum(CASE WHEN w.flops IS NULL THEN w.device_total_ns END)::DOUBLE AS unknown_ns,
            sum(CASE WHEN w.flops IS NOT NULL THEN w.device_total_ns END)::DOUBLE AS device_ns
        FROM work AS w
        INNER JOIN placed AS p ON w.id = p.id
        GROUP BY w.id >> 40, p.step, p.step_start_ns, coalesce(w.dtype, 'an unknown type')
    ),

    -- Operations per nanosecond are 10^9 operations per second.
    rated AS (
        SELECT
            b.trace,
            b.step,
            b.step_start_ns,
            b.dtype,
            b.flops,
            b.calls,
            b.unknown_calls,
            b.unknown_ns,
            b.device_ns,
            b.flops / (
                1000 * greatest(f.devices, 1) * coalesce(
                    peak_tflops,
                    CASE
                        WHEN f.devices IS NULL THEN NULL
                        WHEN b.dtype = 'float32' AND f.has_tf32 THEN p.tensor_peak_tflops
                        WHEN b.dtype = 'float32' THEN p.peak_tflops
                        ELSE coalesce(p.tensor_peak_tflops, p.peak_tflops)
                    END
                )
            ) AS ideal_ns
        FROM by_type AS b
        INNER JOIN facts AS f ON b.trace = f.trace
        LEFT JOIN gpu_peaks() AS p ON f.device = p.name AND b.dtype = p.dtype
    ),

    by_step AS (
        SELECT
            r.trace,
            r.step,
            r.step_start_ns,
            sum(r.flops) AS flops,
            sum(r.unknown_calls)::BIGINT AS unknown_calls,
            sum(r.device_ns) AS device_ns,
            coalesce(
                ratio(
                    coalesce(sum(r.unknown_ns), 0),
                    sum(r.device_ns) + coalesce(sum(r.unknown_ns), 0)
                ),
                ratio(sum(r.unknown_calls), sum(r.calls))
            ) > 0.01 AS is_incomplete,
            CASE WHEN count(r.ideal_ns) = count(r.flops) THEN sum(r.ideal_ns) END AS ideal_ns,
            string_agg(r.dtype, ' and ' ORDER BY r.dtype)
            FILTER (WHERE r.flops IS NOT NULL AND r.ideal_ns IS NULL)
                AS types_without_peak
        FROM rated AS r
        GROUP BY r.trace, r.step, r.step_start_ns
    ),

    hardware AS (
        SELECT
            c.id >> 40 AS trace,
            p.step,
            p.step_start_ns,
            CASE WHEN count(c.flops) = count(*) THEN sum(c.flops) END AS flops,
            sum(c.fp64_flops) AS fp64_flops,
            sum(c.fp32_flops) AS fp32_flops,
            sum(c.fp16_flops) AS fp16_flops,
            sum(c.fp64_tensor_flops) AS fp64_tensor_flops,
            sum(c.fp32_tensor_flops) AS fp32_tensor_flops,
            sum(c.fp16_tensor_flops) AS fp16_tensor_flops,
            sum(c.bf16_tensor_flops) AS bf16_tensor_flops,
            sum(c.fp8_tensor_flops) AS fp8_tensor_flops
        FROM counted AS c
        INNER JOIN placed AS p ON c.id = p.id
        GROUP BY c.id >> 40, p.step, p.step_start_ns
    ),

    core_peaks AS (
        SELECT
            p.name,
            any_value(p.peak_tflops) FILTER (WHERE p.dtype = 'float64') AS fp64,
            any_value(p.peak_tflops) FILTER (WHERE p.dtype = 'float32') AS fp32,
            any_value(p.peak_tflops) FILTER (WHERE p.dtype = 'float16') AS fp16,
            any_value(p.tensor_peak_tflops) FILTER (WHERE p.dtype = 'float64') AS fp64_tensor,
            any_value(p.tensor_peak_tflops) FILTER (WHERE p.dtype = 'float32') AS fp32_tensor,
            any_value(p.tensor_peak_tflops) FILTER (WHERE p.dtype = 'float16') AS fp16_tensor,
            any_value(p.tensor_peak_tflops) FILTER (WHERE p.dtype = 'bfloat16') AS bf16_tensor,
            any_value(p.tensor_peak_tflops) FILTER (WHERE p.dtype = 'float8_e4m3fn') AS fp8_tensor
        FROM gpu_peaks() AS p
        GROUP BY p.name
    ),

    all_steps AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.start_ns,
            s.event_id,
            s.extended_start_ns,
            (s.extended_end_ns - s.extended_start_ns)::DOUBLE AS step_ns,
            s.is_tail,
            f.device,
            b.flops,
            coalesce(b.unknown_calls, 0) AS unknown_calls,
            b.device_ns,
            b.ideal_ns,
            CASE WHEN NOT f.has_unplaced THEN h.flops END AS hfu_flops,
            CASE
                WHEN h.flops IS NOT NULL AND NOT f.has_unplaced
                    THEN
                        time_at_peak(h.fp64_flops, coalesce(peak_tflops, c.fp64))
                        + time_at_peak(h.fp32_flops, coalesce(peak_tflops, c.fp32))
                        + time_at_peak(h.fp16_flops, coalesce(peak_tflops, c.fp16))
                        + time_at_peak(h.fp64_tensor_flops, coalesce(peak_tflops, c.fp64_tensor))
                        + time_at_peak(h.fp32_tensor_flops, coalesce(peak_tflops, c.fp32_tensor))
                        + time_at_peak(h.fp16_tensor_flops, coalesce(peak_tflops, c.fp16_tensor))
                        + time_at_peak(h.bf16_tensor_flops, coalesce(peak_tflops, c.bf16_tensor))
                        + time_at_peak(h.fp8_tensor_flops, coalesce(peak_tflops, c.fp8_tensor))
            END / greatest(f.devices, 1) AS hfu_ns,
            CASE
                WHEN f.is_capture THEN 'graphs are captured here, not run'
                WHEN f.is_foreign THEN 'another program than the PyTorch profiler wrote the trace'
                WHEN NOT f.has_shapes
                    THEN
                        'no shapes were recorded: '
                        || recording_hint(
                            f.source, CASE WHEN f.is_cut THEN 'lost' ELSE 'shapes' END
                        )
                WHEN b.flops IS NULL
                    THEN
                        'no matrix product, convolution or attention with known operations starts '
                        || 'in the step'
                        || CASE
                            WHEN f.devices IS NULL THEN '' ELSE ' and runs on the device'
                        END
                WHEN b.is_incomplete
                    THEN
                        'the operations of some calls are not known: a factor is sparse, or the '
                        || 'trace lacks arguments of these calls, which torch records since 2.1'
                WHEN b.ideal_ns IS NOT NULL THEN NULL
                WHEN f.devices IS NULL THEN 'no kernel was recorded: give peak_tflops'
                WHEN f.device IS NULL AND f.is_listed
                    THEN 'the trace does not name one model of device: give peak_tflops'
                WHEN f.device IS NULL THEN 'the trace lists no device: give peak_tflops'
                WHEN NOT f.is_known
                    THEN 'known_gpus has no ' || f.device || ': give peak_tflops'
                ELSE
                    'known_gpus has no peak of ' || f.device || ' for ' || b.types_without_peak
                    || ': give peak_tflops'
            END AS reason
        FROM steps AS s
        INNER JOIN facts AS f ON s.run = f.run AND s.worker = f.worker AND s.span = f.span
        LEFT JOIN by_step AS b
            ON
                f.trace = b.trace AND s.start_ns = b.step_start_ns
                AND s.step IS NOT DISTINCT FROM b.step
        LEFT JOIN hardware AS h
            ON
                f.trace = h.trace AND s.start_ns = h.step_start_ns
                AND s.step IS NOT DISTINCT FROM h.step
        LEFT JOIN core_peaks AS c ON f.device = c.name
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND (step IS NULL OR s.step = step)
            AND (peak_tflops IS NULL OR checked_between('peak_tflops', peak_tflops, 0, NULL) > 0)
    )

    SELECT
        a.run,
        a.worker,
        a.span,
        a.step,
        a.step_ns / 1000 AS step_us,
        a.flops,
        a.unknown_calls,
        a.device_ns / 1000 AS counted_us,
        ratio(a.flops, a.step_ns) / 1000 AS tflops,
        ratio(a.flops, a.ideal_ns) / 1000 AS peak_tflops,
        a.ideal_ns / 1000 AS ideal_us,
        CASE WHEN a.reason IS NULL THEN percentage(a.ideal_ns, a.step_ns) END AS mfu_pct,
        a.hfu_flops,
        percentage(a.hfu_ns, a.step_ns) AS hfu_pct,
        a.device,
        a.is_tail,
        a.reason
    FROM all_steps AS a
    ORDER BY a.run, a.worker, a.span, a.extended_start_ns, a.event_id;
