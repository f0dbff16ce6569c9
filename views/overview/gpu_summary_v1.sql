-- view: gpu_summary
-- version: 1
-- since: 0.1
-- summary: Utilization, SM efficiency, occupancy and tensor core use of each device.
-- grain: one row per trace and device that ran a kernel
-- distributes: trace
-- order: run, worker, span, device_id
-- carries: spark
-- needs: no_device_events
-- empty: The devices ran no kernels, only copies and memsets.
-- uses: device_key, device_trace_names, graph_launches, interval_totals, is_wanted, percentage, ratio
-- example: samples --run gpt_eager
-- reading: Kernels run for 29 % of the time. For most of that time they fill all multiprocessors: the SM efficiency is 26 %.
--
-- All figures cover the window from the start of the first step to the end of the last one. Steps are
-- extended to the device work that they launched, and tail steps are left out. Kernels are cut to the
-- window. Collectives count as kernels; copies and memsets do not.
--
-- Utilization is the share of time in which any kernel ran. SM efficiency is how much of the device the
-- kernels could use: at each instant, the sum of the blocks per multiprocessor of all running kernels, at
-- most 1. Achieved occupancy is the occupancy that the launch allows, weighted by time.
--
-- The tensor core columns cover all kernels of the trace that operators launched, directly or through an
-- annotation, and all that CUDA or HIP graphs replayed. The kernel's name tells whether it uses tensor
-- cores. Some names do not, as those of most kernels written in Triton; these kernels count as unknown,
-- and tensor_core_time_pct could be larger by up to tensor_core_unknown_pct. A column is NULL where the
-- trace does not record what the figure is computed from, as on AMD and MTIA devices.
--
-- The definitions are those of the TensorBoard profiler plugin, but for the kernels of graphs.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id                   INTEGER  key    Number of the device on its host.
--   name                        VARCHAR  -      Product name.
--   memory_bytes                BIGINT   bytes  Memory of the device.
--   compute_capability          VARCHAR  -      Major and minor number, e.g. '7.0'.
--   num_sms                     INTEGER  -      Number of streaming multiprocessors; of compute units on AMD.
--   gpu_utilization_pct         DOUBLE   pct    Share of the window in which a kernel ran.
--   est_sm_efficiency_pct       DOUBLE   pct    Share of the multiprocessors in use, averaged over the window.
--   est_achieved_occupancy_pct  DOUBLE   pct    Occupancy of the kernels, averaged over their time.
--   tensor_core_time_pct        DOUBLE   pct    Share of their kernel time in kernels that use tensor cores.
--   tensor_core_unknown_pct     DOUBLE   pct    Share of the same time in kernels whose names do not tell whether they do.
CREATE MACRO gpu_summary_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    windows AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            min(s.extended_start_ns) AS start_ns,
            max(s.extended_end_ns) AS end_ns,
            row_number() OVER () AS trace
        FROM steps AS s
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND NOT s.is_tail
        GROUP BY s.run, s.worker, s.span
    ),

    replaying AS (
        SELECT w.trace, g.event_id
        FROM graph_launches(run, worker, span) AS g
        INNER JOIN windows AS w
            ON g.run = w.run AND g.worker = w.worker AND g.span = w.span
    ),

    kernel_runs AS MATERIALIZED (
        SELECT
            w.trace,
            d.device_id,
            device_key(t.names, d.run, d.worker, d.span, d.device_id) AS device_key,
            d.op_id,
            d.duration_ns,
            d.category = 'kernel' AS is_kernel,
            g.event_id IS NOT NULL AS is_replayed,
            d.uses_tensor_cores,
            d.blocks_per_sm,
            d.est_achieved_occupancy_pct,
            greatest(d.start_ns, w.start_ns) AS cut_start_ns,
            greatest(
                least(d.start_ns + d.duration_ns, w.end_ns) - greatest(d.start_ns, w.start_ns), 0
            ) AS cut_ns
        FROM device_events AS d
        CROSS JOIN device_trace_names(run, worker, span) AS t
        INNER JOIN windows AS w
            ON d.run = w.run AND d.worker = w.worker AND d.span = w.span
        LEFT JOIN replaying AS g ON w.trace = g.trace AND d.launch_id = g.event_id
        WHERE
            d.kind IN ('compute', 'communication')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    used_devices AS MATERIALIZED (
        SELECT
            k.trace,
            k.device_id,
            k.device_key,
            ratio(
                sum(k.est_achieved_occupancy_pct * k.cut_ns),
                sum(k.cut_ns) FILTER (WHERE k.est_achieved_occupancy_pct IS NOT NULL)
            )
                AS occupancy_pct,
            bool_or(k.blocks_per_sm > 0 AND k.cut_ns > 0) AS has_blocks
        FROM kernel_runs AS k
        GROUP BY k.trace, k.device_id, k.device_key
    ),

    -- The high digits count the running kernels; the low ones add up the share of the device that each
    -- of them fills, in 10^-9. One kernel can fill a device only once, so a share above 1 counts as 1.
    intervals AS (
        SELECT
            k.device_key AS key,
            0 AS slot,
            (1::HUGEINT << 60)
            + CASE
                WHEN k.blocks_per_sm > 0 THEN round(1e9 * least(k.blocks_per_sm, 1))::HUGEINT ELSE 0
            END AS weight,
            k.cut_start_ns AS start_ns,
            k.cut_ns AS duration_ns
        FROM kernel_runs AS k
    ),

    busy AS (
        SELECT
            p.key AS device_key,
            sum(p.duration_ns) AS busy_ns,
            sum(p.duration_ns * least((p.weight & ((1::HUGEINT << 60) - 1)) / 1e9, 1)) AS filled_ns
        FROM interval_totals('intervals') AS p
        GROUP BY p.key
    ),

    annotated_ops AS MATERIALIZED (
        SELECT w.trace, h.event_id, h.parent_op_id
        FROM host_events AS h
        INNER JOIN windows AS w
            ON h.run = w.run AND h.worker = w.worker AND h.span = w.span
        WHERE
            h.category = 'user_annotation'
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- Whatever launches work is an operator or an annotation. Few have an annotation as the nearest.
    annotated AS (
        SELECT
            k.trace,
            k.device_key,
            a.parent_op_id AS op_id,
            sum(k.duration_ns) AS kernel_ns,
            coalesce(sum(k.duration_ns) FILTER (WHERE k.uses_tensor_cores), 0) AS tensor_core_ns,
            coalesce(sum(k.duration_ns) FILTER (WHERE k.uses_tensor_cores IS NULL), 0)
                AS unknown_ns
        FROM kernel_runs AS k
        INNER JOIN annotated_ops AS a ON k.trace = a.trace AND k.op_id = a.event_id
        WHERE k.is_kernel AND NOT k.is_replayed AND a.parent_op_id IS NOT NULL
        GROUP BY k.trace, k.device_key, a.parent_op_id
        UNION ALL
        SELECT l.trace, l.device_key, a.parent_op_id, l.kernel_ns, l.tensor_core_ns, l.unknown_ns
        FROM annotated AS l
        INNER JOIN annotated_ops AS a ON l.trace = a.trace AND l.op_id = a.event_id
        WHERE a.parent_op_id IS NOT NULL
    ),

    launched AS (
        SELECT
            k.device_key,
            k.duration_ns AS kernel_ns,
            CASE WHEN k.uses_tensor_cores THEN k.duration_ns ELSE 0 END AS tensor_core_ns,
            CASE WHEN k.uses_tensor_cores IS NULL THEN k.duration_ns ELSE 0 END AS unknown_ns
        FROM kernel_runs AS k
        ANTI JOIN annotated_ops AS a
            ON k.trace = a.trace AND k.op_id = a.event_id AND NOT k.is_replayed
        WHERE k.is_kernel AND (k.op_id IS NOT NULL OR k.is_replayed)
        UNION ALL
        SELECT l.device_key, l.kernel_ns, l.tensor_core_ns, l.unknown_ns
        FROM annotated AS l
        ANTI JOIN annotated_ops AS a ON l.trace = a.trace AND l.op_id = a.event_id
    ),

    tensor_cores AS (
        SELECT
            l.device_key,
            percentage(sum(l.tensor_core_ns), sum(l.kernel_ns)) AS time_pct,
            percentage(sum(l.unknown_ns), sum(l.kernel_ns)) AS unknown_pct
        FROM launched AS l
        GROUP BY l.device_key
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        u.device_id,
        d.name,
        d.total_memory_bytes AS memory_bytes,
        d.compute_major || '.' || d.compute_minor AS compute_capability,
        d.num_sms,
        percentage(coalesce(b.busy_ns, 0), w.end_ns - w.start_ns) AS gpu_utilization_pct,
        CASE WHEN u.has_blocks THEN percentage(b.filled_ns, w.end_ns - w.start_ns) END
            AS est_sm_efficiency_pct,
        u.occupancy_pct AS est_achieved_occupancy_pct,
        c.time_pct AS tensor_core_time_pct,
        c.unknown_pct AS tensor_core_unknown_pct
    FROM used_devices AS u
    INNER JOIN windows AS w ON u.trace = w.trace
    LEFT JOIN busy AS b ON u.device_key = b.device_key
    LEFT JOIN devices AS d
        ON
            w.run = d.run AND w.worker = d.worker AND w.span = d.span
            AND u.device_id = d.device_id
    LEFT JOIN tensor_cores AS c ON u.device_key = c.device_key
    ORDER BY w.run, w.worker, w.span, u.device_id;
