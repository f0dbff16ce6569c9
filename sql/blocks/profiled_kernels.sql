-- block: profiled_kernels
-- since: 0.1
-- summary: Kernels with CUPTI counters, and the call that launched each of them.
-- grain: one row per cuda_profiler_range event
-- uses: first_id, is_wanted, trace_key
--
-- Such a row has a name, the device and the counters. Since 2025 it may have the correlation of its launch.
-- Before, only the order is known: the profiler runs one kernel after the other, so the n-th row belongs
-- to the n-th launch. This is only done if the numbers of remaining launches and rows are equal, all launches
-- are of one process, and all rows of one device. Otherwise the launch is unknown. A graph is one launch; a
-- call of a host function is none.
--
-- Start and duration of the row are not measurements: the profiler divides the recording evenly among its
-- rows. The duration of a kernel is the counter gpu__time_duration.sum, or that of the kernels with the same
-- correlation.
--
-- Operations of CUDA cores are in the counters smsp__sass_thread_inst_executed_op_<type><op>_pred_on.sum of the types
-- f, h and d; an fma is two operations. Those of tensor cores are in sm__ops_path_tensor_src_<type>.sum of the types
-- fp64, tf32, bf16, fp16 and fp8, which count a multiply-add as two. A name may continue with the type that the products
-- add up in (_dst_fp32) and with _sparsity_on or _sparsity_off, and then counts a part: if the parts were recorded as
-- well as the whole, each operation still counts once. The counters sm__ops_path_tensor_op_<instruction>_src_<type>
-- count the same operations again and are left out, and so are operations on integers.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id           BIGINT   key    Row in device_events.
--   kernel_name        VARCHAR  -      Name of the kernel; for a range that the user set, its name.
--   device_id          INTEGER  -      Device that it ran on.
--   launch_id          BIGINT   key    Call that launched it, in host_events; NULL where unknown.
--   op_id              BIGINT   key    Operator or annotation that launched it; NULL if there is none or it is unknown.
--   matched_by         VARCHAR  -      How the launch was found: 'correlation' or 'order'; NULL if it was not.
--   duration_ns        DOUBLE   ns     Time that the kernel ran; NULL if nothing measured it.
--   flops              DOUBLE   -      Floating-point operations of CUDA cores and tensor cores; a fused multiply-add counts as two. NULL if none of their counters was recorded.
--   fp64_flops         DOUBLE   -      Operations of the CUDA cores in double precision.
--   fp32_flops         DOUBLE   -      Operations of the CUDA cores in single precision.
--   fp16_flops         DOUBLE   -      Operations of the CUDA cores in half precision.
--   tensor_flops       DOUBLE   -      Operations of the tensor cores; NULL if none of their counters was recorded.
--   fp64_tensor_flops  DOUBLE   -      Operations of the tensor cores in double precision.
--   fp32_tensor_flops  DOUBLE   -      Operations of the tensor cores with TF32.
--   fp16_tensor_flops  DOUBLE   -      Operations of the tensor cores on float16.
--   bf16_tensor_flops  DOUBLE   -      Operations of the tensor cores on bfloat16.
--   fp8_tensor_flops   DOUBLE   -      Operations of the tensor cores on types of 8 bits.
--   dram_bytes         DOUBLE   bytes  Bytes read from and written to device memory; NULL unless their sum or both were recorded.
CREATE MACRO profiled_kernels(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _ranges AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.event_id,
            d.name,
            d.device_id,
            d.start_ns,
            nullif(d.correlation_id, 0) AS correlation_id,
            CASE WHEN d.correlation_id <> 0 THEN d.launch_id END AS launch_id,
            CASE WHEN d.correlation_id <> 0 THEN d.op_id END AS op_id
        FROM device_events AS d
        WHERE
            d.category = 'cuda_profiler_range'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _rows_in_order AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.event_id,
            row_number() OVER (
                PARTITION BY r.run, r.worker, r.span ORDER BY r.start_ns, r.event_id
            ) AS place,
            count(*) OVER of_trace AS total,
            coalesce(min(r.device_id) OVER of_trace = max(r.device_id) OVER of_trace, TRUE)
                AS is_one_device
        FROM _ranges AS r
        WHERE r.correlation_id IS NULL
        WINDOW of_trace AS (PARTITION BY r.run, r.worker, r.span)
    ),

    _launches_in_order AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id AS launch_id,
            h.op_id,
            row_number() OVER (
                PARTITION BY h.run, h.worker, h.span ORDER BY h.start_ns, h.event_id
            ) AS place,
            count(*) OVER of_trace AS total,
            min(h.pid) OVER of_trace = max(h.pid) OVER of_trace AS is_one_process
        FROM host_events AS h
        -- Hardly any trace has such rows, and the launches of other traces need not be read.
        INNER JOIN (SELECT DISTINCT r.run, r.worker, r.span FROM _rows_in_order AS r) AS t
            ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND contains(h.name, 'Launch')
            AND (contains(h.name, 'Kernel') OR contains(h.name, 'Graph'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
            AND (h.run, h.worker, h.span, h.event_id) NOT IN (
                SELECT (r.run, r.worker, r.span, r.launch_id)
                FROM _ranges AS r
                WHERE r.launch_id IS NOT NULL
            )
        WINDOW of_trace AS (PARTITION BY h.run, h.worker, h.span)
    ),

    _matched AS (
        SELECT r.run, r.worker, r.span, r.event_id, l.launch_id, l.op_id
        FROM _rows_in_order AS r
        INNER JOIN _launches_in_order AS l
            ON
                r.run = l.run
                AND r.worker = l.worker
                AND r.span = l.span
                AND r.place = l.place
                AND r.total = l.total
        WHERE r.is_one_device AND l.is_one_process
    ),

    _traces AS MATERIALIZED (
        SELECT list(DISTINCT trace_key(r.run, r.worker, r.span)) AS names
        FROM _ranges AS r
    ),

    _values AS (
        SELECT
            first_id(t.names, c.run, c.worker, c.span) + c.event_id AS id,
            list_position(
                [
                    'smsp__sass_thread_inst_executed_op_dfma_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_dmul_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_dadd_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_ffma_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_fmul_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_fadd_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_hfma_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_hmul_pred_on.sum',
                    'smsp__sass_thread_inst_executed_op_hadd_pred_on.sum',
                    'dram__bytes.sum',
                    'dram__bytes_read.sum',
                    'dram__bytes_write.sum',
                    'gpu__time_duration.sum'
                ],
                c.counter
            ) AS place,
            c.value
        FROM counters AS c
        CROSS JOIN _traces AS t
        WHERE is_wanted(c.run, c.worker, c.span, run, worker, span)
    ),

    -- A duplicate counter counts once, as in counter_values.
    _by_counter AS (
        SELECT
            v.id,
            max(v.value) FILTER (WHERE v.place = 1) AS dfma,
            max(v.value) FILTER (WHERE v.place = 2) AS dmul,
            max(v.value) FILTER (WHERE v.place = 3) AS dadd,
            max(v.value) FILTER (WHERE v.place = 4) AS ffma,
            max(v.value) FILTER (WHERE v.place = 5) AS fmul,
            max(v.value) FILTER (WHERE v.place = 6) AS fadd,
            max(v.value) FILTER (WHERE v.place = 7) AS hfma,
            max(v.value) FILTER (WHERE v.place = 8) AS hmul,
            max(v.value) FILTER (WHERE v.place = 9) AS hadd,
            max(v.value) FILTER (WHERE v.place = 10) AS moved_bytes,
            max(v.value) FILTER (WHERE v.place = 11) AS read_bytes,
            max(v.value) FILTER (WHERE v.place = 12) AS written_bytes,
            max(v.value) FILTER (WHERE v.place = 13) AS duration_ns
        FROM _values AS v
        WHERE v.place IS NOT NULL
        GROUP BY v.id
    ),

    _counted AS (
        SELECT
            b.id,
            list_sum([2 * b.dfma, b.dmul, b.dadd]) AS fp64_flops,
            list_sum([2 * b.ffma, b.fmul, b.fadd]) AS fp32_flops,
            list_sum([2 * b.hfma, b.hmul, b.hadd]) AS fp16_flops,
            coalesce(b.moved_bytes, b.read_bytes + b.written_bytes) AS dram_bytes,
            b.duration_ns
        FROM _by_counter AS b
    ),

    -- What the counter counts: all operations of the type (''), those of a type of result ('d'), or with and
    -- without sparsity ('s').
    _tensor_counters AS (
        SELECT
            first_id(t.names, c.run, c.worker, c.span) + c.event_id AS id,
            c.counter,
            regexp_extract(c.counter, '_src_([a-z0-9]+)', 1) AS dtype,
            CASE WHEN contains(c.counter, '_dst_') THEN 'd' ELSE '' END
            || CASE WHEN contains(c.counter, '_sparsity_') THEN 's' ELSE '' END AS detail,
            max(c.value) AS value
        FROM counters AS c
        CROSS JOIN _traces AS t
        WHERE
            starts_with(c.counter, 'sm__ops_path_tensor_src_')
            AND regexp_matches(
                c.counter,
                '^sm__ops_path_tensor_src_(fp64|tf32|fp16|bf16|fp8)'
                || '(_dst_[a-z0-9]+)?(_sparsity_(on|off))?[.]sum$'
            )
            AND is_wanted(c.run, c.worker, c.span, run, worker, span)
        GROUP BY ALL
    ),

    -- The parts add up to the whole, or to less where some of them were not recorded.
    _tensor_sums AS (
        SELECT c.id, c.dtype, c.detail, sum(c.value) AS flops
        FROM _tensor_counters AS c
        GROUP BY c.id, c.dtype, c.detail
    ),

    _on_tensor_cores AS (
        SELECT
            s.id,
            max(s.flops) FILTER (WHERE s.dtype = 'fp64') AS fp64_tensor_flops,
            max(s.flops) FILTER (WHERE s.dtype = 'tf32') AS fp32_tensor_flops,
            max(s.flops) FILTER (WHERE s.dtype = 'fp16') AS fp16_tensor_flops,
            max(s.flops) FILTER (WHERE s.dtype = 'bf16') AS bf16_tensor_flops,
            max(s.flops) FILTER (WHERE s.dtype = 'fp8') AS fp8_tensor_flops
        FROM _tensor_sums AS s
        GROUP BY s.id
    ),

    _timed AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.event_id,
            sum(d.duration_ns)::DOUBLE AS duration_ns
        FROM _ranges AS r
        INNER JOIN device_events AS d
            ON
                r.run = d.run
                AND r.worker = d.worker
                AND r.span = d.span
                AND r.correlation_id = d.correlation_id
        WHERE
            d.category = 'kernel'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY r.run, r.worker, r.span, r.event_id
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.event_id,
        r.name AS kernel_name,
        r.device_id,
        coalesce(r.launch_id, m.launch_id) AS launch_id,
        coalesce(r.op_id, m.op_id) AS op_id,
        CASE
            WHEN m.launch_id IS NOT NULL THEN 'order'
            WHEN coalesce(r.launch_id, r.op_id) IS NOT NULL THEN 'correlation'
        END AS matched_by,
        coalesce(c.duration_ns, t.duration_ns) AS duration_ns,
        list_sum([
            c.fp64_flops, c.fp32_flops, c.fp16_flops,
            s.fp64_tensor_flops, s.fp32_tensor_flops, s.fp16_tensor_flops, s.bf16_tensor_flops,
            s.fp8_tensor_flops
        ]) AS flops,
        c.fp64_flops,
        c.fp32_flops,
        c.fp16_flops,
        list_sum([
            s.fp64_tensor_flops, s.fp32_tensor_flops, s.fp16_tensor_flops, s.bf16_tensor_flops,
            s.fp8_tensor_flops
        ]) AS tensor_flops,
        s.fp64_tensor_flops,
        s.fp32_tensor_flops,
        s.fp16_tensor_flops,
        s.bf16_tensor_flops,
        s.fp8_tensor_flops,
        c.dram_bytes
    FROM _ranges AS r
    CROSS JOIN _traces AS n
    LEFT JOIN _matched AS m
        ON
            r.run = m.run
            AND r.worker = m.worker
            AND r.span = m.span
            AND r.event_id = m.event_id
    LEFT JOIN _counted AS c
        ON
            first_id(n.names, r.run, r.worker, r.span) + r.event_id = c.id
    LEFT JOIN _on_tensor_cores AS s
        ON
            first_id(n.names, r.run, r.worker, r.span) + r.event_id = s.id
    LEFT JOIN _timed AS t
        ON
            r.run = t.run
            AND r.worker = t.worker
            AND r.span = t.span
            AND r.event_id = t.event_id;
