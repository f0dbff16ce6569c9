-- view: kernel_counters
-- version: 1
-- since: 0.1
-- summary: CUPTI counters of each kernel, with the operators that launched it.
-- grain: one row per cuda_profiler_range event
-- distributes: trace
-- order: flops DESC, run, worker, span, event_id
-- needs: no_counters
-- empty: No kernel has counters: {record counters}.
-- uses: first_id, is_wanted, profiled_kernels, trace_key
-- example: drawn
--
-- Nsight Compute records counters. Up to torch 2.13, the PyTorch profiler does as well, with its
-- experimental_config, profiler_metrics and profiler_measure_per_kernel. A trace with such counters has no
-- kernels in device_events.
--
-- A row belongs to the launch with the same correlation, if it has a correlation. The other rows are
-- matched by order: the n-th row belongs to the n-th launch of any kind, and a graph is one launch. This is
-- only done if the numbers of remaining launches and rows are equal, all launches are of one process, and
-- all rows of one device. Otherwise these rows have NULL operators.
--
-- The duration of the row in the trace is not a measurement: the profiler divides the recording evenly
-- among its rows. duration_us is known if the counter gpu__time_duration.sum was recorded, or a kernel with
-- the same correlation.
--
-- Floating-point operations are those of the CUDA cores, from the counters
-- smsp__sass_thread_inst_executed_op_<type><op>_pred_on.sum of the types f, h and d, and those of the tensor cores, from
-- the counters sm__ops_path_tensor_src_<type>.sum of the types fp64, tf32, bf16_dst_fp32, fp16 and fp8, as in
-- profiled_kernels. An fma counts as two operations, mul and add as one. The operations of units whose counters
-- were not recorded are missing.
--
-- HolisticTraceAnalysis has the same operators and counters if every launch is a cudaLaunchKernel*, and
-- no rows otherwise.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name             type                  unit  meaning
--   kernel_name      VARCHAR               -     Name of the kernel, as the profiler found it; for a range that the user set, its name.
--   op_stack         VARCHAR[]             -     Operators around the launch, outermost first; empty if there are none, NULL if the launch is unknown.
--   top_level_op     VARCHAR               -     First operator of op_stack.
--   bottom_level_op  VARCHAR               -     Last operator of op_stack, which launched the kernel.
--   counters         MAP(VARCHAR, DOUBLE)  -     Value of each counter by its name.
--   duration_us      DOUBLE                us    Time that the kernel ran; NULL if nothing measured it.
--   flops            DOUBLE                -     Floating-point operations; NULL if none of their counters was recorded.
--   matched_by       VARCHAR               -     How the launch was found: 'correlation' or 'order'; NULL if it was not.
--   device_id        INTEGER               -     Device that the kernel ran on.
--   launch_id        BIGINT                key   Row of the launch in host_events; NULL where unknown.
--   event_id         BIGINT                key   Row in device_events.
CREATE MACRO kernel_counters_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    kernels_counted AS MATERIALIZED (
        SELECT k.*
        FROM profiled_kernels(run, worker, span) AS k
    ),

    traces_profiled AS MATERIALIZED (
        SELECT list(DISTINCT trace_key(k.run, k.worker, k.span)) AS names
        FROM kernels_counted AS k
    ),

    traces_counted AS MATERIALIZED (
        SELECT DISTINCT k.run, k.worker, k.span
        FROM kernels_counted AS k
        WHERE k.op_id IS NOT NULL
    ),

    nodes AS MATERIALIZED (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            first_id(t.names, h.run, h.worker, h.span) + h.parent_op_id AS parent_id,
            CASE WHEN h.category = 'cpu_op' THEN h.name END AS operator
        FROM host_events AS h
        INNER JOIN traces_counted AS c
            ON h.run = c.run AND h.worker = c.worker AND h.span = c.span
        CROSS JOIN traces_profiled AS t
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    launching AS (
        SELECT
            k.*,
            first_id(t.names, k.run, k.worker, k.span) + k.op_id AS operator_id,
            first_id(t.names, k.run, k.worker, k.span) + k.event_id AS kernel_id
        FROM kernels_counted AS k
        CROSS JOIN traces_profiled AS t
    ),

    -- From each operator that launched something to the top.
    climbs AS (
        SELECT DISTINCT
            k.operator_id,
            k.operator_id AS next_id,
            []::VARCHAR[] AS op_stack
        FROM launching AS k
        WHERE k.operator_id IS NOT NULL
        UNION ALL
        SELECT
            c.operator_id,
            n.parent_id AS next_id,
            CASE
                WHEN n.operator IS NULL THEN c.op_stack ELSE list_prepend(n.operator, c.op_stack)
            END AS op_stack
        FROM climbs AS c
        INNER JOIN nodes AS n ON c.next_id = n.id
    ),

    op_stacks AS (
        SELECT c.operator_id, c.op_stack
        FROM climbs AS c
        WHERE c.next_id IS NULL
    ),

    counter_names AS MATERIALIZED (
        SELECT list(DISTINCT c.counter ORDER BY c.counter) AS counters
        FROM counters AS c
        WHERE is_wanted(c.run, c.worker, c.span, run, worker, span)
    ),

    counted_once AS (
        SELECT
            first_id(t.names, c.run, c.worker, c.span) + c.event_id AS id,
            list_position(n.counters, c.counter) AS place,
            max(c.value) AS value
        FROM counters AS c
        CROSS JOIN traces_profiled AS t
        CROSS JOIN counter_names AS n
        WHERE is_wanted(c.run, c.worker, c.span, run, worker, span)
        GROUP BY ALL
    ),

    counted_lists AS (
        SELECT c.id, list(c.place) AS places, list(c.value) AS values_counted
        FROM counted_once AS c
        GROUP BY c.id
    ),

    -- Sorted by numbers, not names: names are many times as long.
    maps AS (
        SELECT
            l.id,
            map(
                list_select(n.counters, list_sort(l.places)),
                list_select(l.values_counted, list_grade_up(l.places))
            ) AS counters
        FROM counted_lists AS l
        CROSS JOIN counter_names AS n
    )

    SELECT
        k.run,
        k.worker,
        k.span,
        k.kernel_name,
        CASE WHEN k.matched_by IS NOT NULL THEN coalesce(s.op_stack, []) END AS op_stack,
        s.op_stack[1] AS top_level_op,
        s.op_stack[-1] AS bottom_level_op,
        m.counters,
        k.duration_ns / 1000.0 AS duration_us,
        k.flops,
        k.matched_by,
        k.device_id,
        k.launch_id,
        k.event_id
    FROM launching AS k
    LEFT JOIN op_stacks AS s ON k.operator_id = s.operator_id
    LEFT JOIN maps AS m ON k.kernel_id = m.id
    ORDER BY k.flops DESC, k.run ASC, k.worker ASC, k.span ASC, k.event_id ASC;
