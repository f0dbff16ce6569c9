-- view: roofline
-- version: 1
-- since: 0.1
-- summary: Roofline of kernels from CUPTI counters: their intensity, their throughput and how close it is to the limit.
-- grain: one row per kernel, or per operator and device
-- distributes: trace
-- order: duration_us DESC, flops DESC, run, worker, span, name, device_id
-- needs: no_counters
-- empty: No kernel has counters: {record counters}.
-- uses: checked_choice, is_wanted, kernel_counters_v1, percentage, profiled_kernels, ratio, time_at_peak
-- example: samples --run gpt_counters --limit 4
-- reading: Matrix products reach 64 % of what the device can compute. The first two kernels are limited by its memory, and reach 36 and 63 % of the bandwidth.
--
-- Arithmetic intensity is the number of floating-point operations per byte read from or written to device
-- memory. CUDA cores, tensor cores and memory work at the same time. tracewh computes how long each of them needs at
-- its peak; for the cores each precision has its own peak, and for memory it is the bandwidth. The longest of the three
-- is the least time that the kernels can take. The bound is 'memory' if the bytes take longest. achieved_pct is the
-- least time as a share of the time that the kernels took.
--
-- The view needs these counters. Operations of CUDA cores: smsp__sass_thread_inst_executed_op_<type><op>_pred_on.sum
-- (the profiler's metric kineto__cuda_core_flops). Operations of tensor cores: sm__ops_path_tensor_src_<type>.sum of
-- the types fp64, tf32, bf16_dst_fp32, fp16 and fp8, as in profiled_kernels. Bytes: dram__bytes.sum, or
-- dram__bytes_read.sum and dram__bytes_write.sum. Time: gpu__time_duration.sum. A figure is NULL if one of its
-- counters is missing, but kernels with counters of CUDA cores alone have flops: then tensor_flops is NULL, and kernels
-- that use tensor cores show too few operations. Operations on integers do not count.
--
-- The peaks come from known_gpus, by the name of the device. They are those without sparsity, so kernels that multiply
-- with sparsity may have an achieved_pct above 100. For another device, or for peaks that you have
-- measured, set gpus to a table, a view or a file (CSV, Parquet) with the columns name, fp64_tflops, fp32_tflops,
-- fp16_tflops and memory_gbps of known_gpus, and for tensor cores fp64_tensor_tflops, fp32_tensor_tflops,
-- fp16_tensor_tflops, bf16_tensor_tflops and fp8_tensor_tflops, as far as you need them. A peak that is NULL or 0 is
-- not known. Its rows take precedence over those of known_gpus.
--
-- params
--   name      type     unit  default       meaning
--   run, worker, span
--   group_by  VARCHAR  -     'kernel'      'kernel' or 'operator' (the innermost one around the launch).
--   gpus      VARCHAR  -     'known_gpus'  Table, view or file with the peaks of devices.
-- columns
--   name               type     unit   meaning
--   run, worker, span
--   name               VARCHAR  key    Name of the kernel or the operator; NULL if the operator is unknown.
--   device_id          INTEGER  key    Device that the kernels ran on.
--   device_name        VARCHAR  -      Product name of the device.
--   calls              BIGINT   -      Number of kernels.
--   flops              DOUBLE   -      Floating-point operations of CUDA cores and tensor cores.
--   tensor_flops       DOUBLE   -      Of flops, those of the tensor cores; NULL if they were not counted.
--   dram_bytes         DOUBLE   bytes  Bytes read from and written to device memory.
--   intensity          DOUBLE   -      Operations per byte.
--   duration_us        DOUBLE   us     Time that the kernels ran.
--   achieved_tflops    DOUBLE   -      10^12 operations per second of duration_us.
--   achieved_gbps      DOUBLE   gbps   10^9 bytes per second of duration_us.
--   attainable_tflops  DOUBLE   -      The same operations in least_us.
--   least_us           DOUBLE   us     Least time that the device can take.
--   bound              VARCHAR  -      'compute' or 'memory': what takes least_us.
--   achieved_pct       DOUBLE   pct    least_us as a share of duration_us.
--   peak_gbps          DOUBLE   gbps   Memory bandwidth of the device; NULL where the device is not known.
CREATE MACRO roofline_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'kernel',
    gpus VARCHAR := 'known_gpus'
) AS TABLE
    WITH
    -- A table of one's own may lack the peaks of tensor cores: they are NULL then.
    peaks AS (
        SELECT k.*, 2 AS place
        FROM known_gpus AS k
        UNION ALL BY NAME
        SELECT
            g.* REPLACE (
                regexp_replace(g.name, '^NVIDIA ', '') AS name,
                g.fp64_tflops::DOUBLE AS fp64_tflops,
                g.fp32_tflops::DOUBLE AS fp32_tflops,
                g.fp16_tflops::DOUBLE AS fp16_tflops,
                g.memory_gbps::DOUBLE AS memory_gbps
            ),
            1 AS place
        FROM query_table(gpus) AS g
    ),

    gpus_of_traces AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            d.name,
            p.fp64_tflops,
            p.fp32_tflops,
            p.fp16_tflops,
            p.fp64_tensor_tflops::DOUBLE AS fp64_tensor_tflops,
            p.fp32_tensor_tflops::DOUBLE AS fp32_tensor_tflops,
            p.fp16_tensor_tflops::DOUBLE AS fp16_tensor_tflops,
            p.bf16_tensor_tflops::DOUBLE AS bf16_tensor_tflops,
            p.fp8_tensor_tflops::DOUBLE AS fp8_tensor_tflops,
            nullif(p.memory_gbps, 0) AS memory_gbps
        FROM devices AS d
        LEFT JOIN peaks AS p ON regexp_replace(d.name, '^NVIDIA ', '') = p.name
        WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
        QUALIFY
            row_number() OVER (
                PARTITION BY d.run, d.worker, d.span, d.device_id ORDER BY p.place
            ) = 1
    ),

    named AS (
        SELECT
            k.*,
            CASE WHEN group_by = 'kernel' THEN k.kernel_name ELSE o.bottom_level_op END AS name
        FROM profiled_kernels(run, worker, span) AS k
        LEFT JOIN kernel_counters_v1(run, worker, span) AS o
            ON
                group_by = 'operator'
                AND k.run = o.run
                AND k.worker = o.worker
                AND k.span = o.span
                AND k.event_id = o.event_id
        WHERE
            (
                SELECT c.is_allowed
                FROM checked_choice('group_by', group_by, ['kernel', 'operator']) AS c
            )
    ),

    -- A sum without some of its kernels would mislead, so it is NULL.
    grouped AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.name,
            n.device_id,
            count(*) AS calls,
            CASE WHEN count(n.flops) = count(*) THEN sum(n.flops) END AS flops,
            sum(n.fp64_flops) AS fp64_flops,
            sum(n.fp32_flops) AS fp32_flops,
            sum(n.fp16_flops) AS fp16_flops,
            CASE WHEN count(n.tensor_flops) = count(*) THEN sum(n.tensor_flops) END AS tensor_flops,
            sum(n.fp64_tensor_flops) AS fp64_tensor_flops,
            sum(n.fp32_tensor_flops) AS fp32_tensor_flops,
            sum(n.fp16_tensor_flops) AS fp16_tensor_flops,
            sum(n.bf16_tensor_flops) AS bf16_tensor_flops,
            sum(n.fp8_tensor_flops) AS fp8_tensor_flops,
            CASE WHEN count(n.dram_bytes) = count(*) THEN sum(n.dram_bytes) END AS dram_bytes,
            CASE WHEN count(n.duration_ns) = count(*) THEN sum(n.duration_ns) END AS duration_ns
        FROM named AS n
        GROUP BY n.run, n.worker, n.span, n.name, n.device_id
    ),

    timed AS (
        SELECT
            g.*,
            d.name AS device_name,
            d.memory_gbps,
            time_at_peak(g.fp64_flops, d.fp64_tflops)
            + time_at_peak(g.fp32_flops, d.fp32_tflops)
            + time_at_peak(g.fp16_flops, d.fp16_tflops) AS cuda_ns,
            time_at_peak(g.fp64_tensor_flops, d.fp64_tensor_tflops)
            + time_at_peak(g.fp32_tensor_flops, d.fp32_tensor_tflops)
            + time_at_peak(g.fp16_tensor_flops, d.fp16_tensor_tflops)
            + time_at_peak(g.bf16_tensor_flops, d.bf16_tensor_tflops)
            + time_at_peak(g.fp8_tensor_flops, d.fp8_tensor_tflops) AS tensor_ns,
            g.dram_bytes / d.memory_gbps AS memory_ns
        FROM grouped AS g
        LEFT JOIN gpus_of_traces AS d
            ON
                g.run = d.run
                AND g.worker = d.worker
                AND g.span = d.span
                AND g.device_id = d.device_id
    ),

    bounded AS (
        SELECT
            t.*,
            CASE
                WHEN
                    t.flops IS NOT NULL AND t.cuda_ns IS NOT NULL AND t.tensor_ns IS NOT NULL
                    AND t.memory_ns IS NOT NULL
                    THEN greatest(t.cuda_ns, t.tensor_ns, t.memory_ns)
            END AS least_ns
        FROM timed AS t
    )

    SELECT
        b.run,
        b.worker,
        b.span,
        b.name,
        b.device_id,
        b.device_name,
        b.calls,
        b.flops,
        b.tensor_flops,
        b.dram_bytes,
        ratio(b.flops, b.dram_bytes) AS intensity,
        b.duration_ns / 1000.0 AS duration_us,
        ratio(b.flops, b.duration_ns) / 1000.0 AS achieved_tflops,
        ratio(b.dram_bytes, b.duration_ns) AS achieved_gbps,
        ratio(b.flops, b.least_ns) / 1000.0 AS attainable_tflops,
        b.least_ns / 1000.0 AS least_us,
        CASE
            WHEN b.least_ns IS NULL THEN NULL
            WHEN b.least_ns > b.memory_ns THEN 'compute'
            ELSE 'memory'
        END AS bound,
        percentage(b.least_ns, b.duration_ns) AS achieved_pct,
        b.memory_gbps::DOUBLE AS peak_gbps
    FROM bounded AS b
    ORDER BY
        b.duration_ns DESC, b.flops DESC,
        b.run ASC, b.worker ASC, b.span ASC, b.name ASC, b.device_id ASC;
