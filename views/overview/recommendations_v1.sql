-- view: recommendations
-- version: 1
-- since: 0.1
-- summary: What costs time that need not, how much of it was measured, and what to change.
-- grain: one row per trace and rule that fires
-- distributes: run
-- combines: traces; devices; used_devices(); device_advice(); eligible_kernel_share(); frameworks(); memory_fullness(); small_launches(); step_synchronizations(); gpu_summary_v1(); step_breakdown_summary_v1()
-- order: list_position(['warning', 'info'], severity), run, worker, span, rule
-- uses: device_advice eligible_kernel_share frameworks memory_fullness small_launches step_synchronizations trace_gpus gpu_summary_v1 step_breakdown_summary_v1
-- example: samples --run ddp_gloo
--
-- A rule fires when its value is beyond its threshold:
--
--     data_loading               part of the mean step that waits for the data loader, above 5 %
--     communication              part of the mean step in collectives that nothing hides, above 10 %
--     launch_bound               part in which the host works and the device has nothing to do, above 50 %
--     low_gpu_utilization        utilisation of the least busy GPU, below 50 %
--     memory_nearly_full         peak of what was allocated on a device, above 90 % of its memory
--     data_parallel              GPUs that DataParallel uses, above 1
--     backend_not_nccl           compute capability where DistributedDataParallel runs without NCCL, from 3.5
--     excessive_synchronization  calls per step that wait for the device, above 10
--     tensor_cores_unused        where no kernel uses the tensor cores of capability 7 or later: kernel
--                                time of the operators that can, above 0 %
--     small_kernels              of 100 launches or more those that took the host longer than the
--                                device, above 50 %
--     idle_gpus                  GPUs of the host on which no worker of the run ran anything, above 0;
--                                asked where all ranks are there
--     device_gaps                part of the time from its first work to its last in which a GPU has
--                                nothing to do for more than 500 us on end, above 10 %
--     low_utilization_periods    part of the same time, cut into stretches as utilization_series does,
--                                in stretches with a utilisation below 50 %, above 10 %; asked of a
--                                GPU with 50 % or more on average
--     blocking_copies            part of the mean step that the host is in calls that copy between it
--                                and the device, or that return only when a copy is done, above 5 %
--     pageable_copies            part of the mean step that such copies from or to memory that is not
--                                pinned take on the device, above 1 %
--
-- The last four are expert rules of Nsight Systems, as is excessive_synchronization, with thresholds of
-- our own. These, launch_bound, small_kernels and idle_gpus are not rules of the TensorBoard profiler
-- plugin. It also compares the memory of the host with that of a GPU, which is left out.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   rule       VARCHAR  key  What was found; one word that stays the same.
--   severity   VARCHAR  -    'warning' for what costs time or fails soon, 'info' for what is worth a try.
--   value      DOUBLE   -    What was measured, as the list of rules says.
--   threshold  DOUBLE   -    From where on the rule fires.
--   message    VARCHAR  -    What was measured, and what to change.
CREATE MACRO recommendations_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    shares AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            max(b.share_pct) FILTER (WHERE b.category = 'dataloader') AS dataloader_pct,
            max(b.share_pct) FILTER (WHERE b.category = 'communication') AS communication_pct,
            max(b.share_pct) FILTER (WHERE b.category = 'runtime') AS runtime_pct,
            max(b.share_pct) FILTER (WHERE b.category = 'cpu_exec') AS cpu_exec_pct,
            sum(b.share_pct) FILTER (WHERE b.category IN ('runtime', 'cpu_exec')) AS host_pct
        FROM step_breakdown_summary_v1(run := run, worker := worker, span := span) AS b
        GROUP BY b.run, b.worker, b.span
    ),

    busy AS (
        SELECT
            g.run,
            g.worker,
            g.span,
            min(g.gpu_utilization_pct) AS least_pct,
            string_agg(
                format('{} ({:.1f} %)', coalesce(g.device_id::VARCHAR, '?'), g.gpu_utilization_pct),
                ', ' ORDER BY g.device_id
            ) FILTER (WHERE g.gpu_utilization_pct < 50) AS low_devices
        FROM gpu_summary_v1(run := run, worker := worker, span := span) AS g
        GROUP BY g.run, g.worker, g.span
    ),

    rules AS (
        SELECT
            g.run,
            g.worker,
            g.span,
            unnest([
                {
                    'rule': 'data_loading',
                    'severity': 'warning',
                    'fires': s.dataloader_pct > 5,
                    'value': s.dataloader_pct,
                    'threshold': 5,
                    'message': format(
                        '{:.1f} % of the mean step waits for the data loader: give DataLoader '
                        || 'more num_workers and pin_memory=True, or make what it does per '
                        || 'sample cheaper.',
                        s.dataloader_pct
                    )
                },
                {
                    'rule': 'communication',
                    'severity': 'warning',
                    'fires': s.communication_pct > 10,
                    'value': s.communication_pct,
                    'threshold': 10,
                    'message': format(
                        '{:.1f} % of the mean step is communication that no kernel hides: '
                        || 'accumulate gradients over several steps, compress them, or use '
                        || 'larger batches; comm_overlap says how much is hidden.',
                        s.communication_pct
                    )
                },
                {
                    'rule': 'launch_bound',
                    'severity': 'warning',
                    'fires': g.used_devices > 0 AND s.host_pct > 50,
                    'value': s.host_pct,
                    'threshold': 50,
                    'message': format(
                        'For {:.1f} % of the mean step the device has nothing to do while the '
                        || 'host runs operators ({:.1f} %) or runtime calls ({:.1f} %): use '
                        || 'larger batches, torch.compile or CUDA graphs.',
                        s.host_pct, s.cpu_exec_pct, s.runtime_pct
                    )
                },
                {
                    'rule': 'low_gpu_utilization',
                    'severity': 'warning',
                    'fires': b.least_pct < 50,
                    'value': b.least_pct,
                    'threshold': 50,
                    'message': 'A kernel runs for less than half of the time on GPU '
                    || b.low_devices || ': use larger batches, and see step_breakdown for what '
                    || 'the rest of the time goes to.'
                },
                {
                    'rule': 'memory_nearly_full',
                    'severity': 'warning',
                    'fires': m.full_pct > 90,
                    'value': m.full_pct,
                    'threshold': 90,
                    'message': 'Memory was allocated up to ' || m.full_devices || ': use '
                    || 'activation checkpointing, mixed precision or smaller batches; '
                    || 'memory_at_peak says what was alive.'
                },
                {
                    'rule': 'data_parallel',
                    'severity': 'warning',
                    'fires': h.has_data_parallel AND g.used_devices > 1,
                    'value': g.used_devices,
                    'threshold': 1,
                    'message': 'DataParallel runs the model on ' || g.used_devices
                    || ' GPUs from one process: use DistributedDataParallel, with one process '
                    || 'per GPU.'
                },
                {
                    'rule': 'backend_not_nccl',
                    'severity': 'warning',
                    'fires': h.has_ddp AND NOT h.has_nccl
                    AND g.communicates IS NOT TRUE
                    AND NOT coalesce(contains(g.backend, 'nccl'), FALSE)
                    AND g.capability >= 3.5,
                    'value': g.capability,
                    'threshold': 3.5,
                    'message': format(
                        'DistributedDataParallel runs on GPUs of compute capability {:.1f} '
                        || 'without NCCL{}: call init_process_group with backend="nccl".',
                        g.capability, coalesce(' (' || g.backend || ')', '')
                    )
                },
                {
                    'rule': 'excessive_synchronization',
                    'severity': 'warning',
                    'fires': y.calls > 10 * y.steps,
                    'value': y.calls / y.steps,
                    'threshold': 10,
                    'message': format(
                        'The host waits for the device {:.1f} times per step, {:.1f} us in '
                        || 'all, mostly in {}{}: read results less often, copy with '
                        || 'non_blocking=True, and take out torch.cuda.synchronize().',
                        y.calls / y.steps, y.wait_us / y.steps, y.name,
                        coalesce(' of ' || y.operator, '')
                    )
                },
                {
                    'rule': 'tensor_cores_unused',
                    'severity': 'info',
                    'fires': g.capability >= 7 AND NOT c.uses_tensor_cores AND c.share_pct > 0,
                    'value': c.share_pct,
                    'threshold': 0,
                    'message': format(
                        'No kernel used tensor cores, and {:.1f} % of the kernel time is of '
                        || 'operators that can: run them in float16 or bfloat16 with '
                        || 'torch.autocast, or allow TF32, which capability 8 and later have.',
                        c.share_pct
                    )
                },
                {
                    'rule': 'small_kernels',
                    'severity': 'info',
                    'fires': l.launches >= 100 AND l.small_launches > 0.5 * l.launches,
                    'value': 100.0 * l.small_launches / l.launches,
                    'threshold': 50,
                    'message': format(
                        '{} of {} launches took the host longer than the device, which ran '
                        || 'for {:.1f} us at the median: fuse operators with torch.compile or '
                        || 'foreach optimizers, or replay them from a CUDA graph.',
                        l.small_launches, l.launches, l.median_kernel_us
                    )
                },
                {
                    'rule': 'idle_gpus',
                    'severity': 'info',
                    'fires': g.has_all_ranks
                    AND g.used_on_host > 0
                    AND g.used_on_host < g.seen_on_host,
                    'value': g.seen_on_host - g.used_on_host,
                    'threshold': 0,
                    'message': 'Of ' || g.seen_on_host || ' GPUs on the host, '
                    || g.seen_on_host - g.used_on_host || ' ran nothing for this run: train '
                    || 'on all with DistributedDataParallel, or leave them to others with '
                    || 'CUDA_VISIBLE_DEVICES.'
                }
            ]) AS found
        FROM trace_gpus(run, worker, span) AS g
        LEFT JOIN shares AS s ON g.run = s.run AND g.worker = s.worker AND g.span = s.span
        LEFT JOIN busy AS b ON g.run = b.run AND g.worker = b.worker AND g.span = b.span
        LEFT JOIN memory_fullness(run, worker, span) AS m
            ON g.run = m.run AND g.worker = m.worker AND g.span = m.span
        LEFT JOIN frameworks(run, worker, span) AS h
            ON g.run = h.run AND g.worker = h.worker AND g.span = h.span
        LEFT JOIN eligible_kernel_share(run, worker, span) AS c
            ON g.run = c.run AND g.worker = c.worker AND g.span = c.span
        LEFT JOIN small_launches(run, worker, span) AS l
            ON g.run = l.run AND g.worker = l.worker AND g.span = l.span
        LEFT JOIN step_synchronizations(run, worker, span) AS y
            ON g.run = y.run AND g.worker = y.worker AND g.span = y.span
    ),

    advice AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.found.rule,
            r.found.severity,
            r.found.value::DOUBLE AS value,
            r.found.threshold::DOUBLE AS threshold,
            r.found.message
        FROM rules AS r
        WHERE r.found.fires
        UNION ALL
        SELECT d.run, d.worker, d.span, d.rule, d.severity, d.value, d.threshold, d.message
        FROM device_advice(run, worker, span) AS d
    )

    SELECT a.run, a.worker, a.span, a.rule, a.severity, a.value, a.threshold, a.message
    FROM advice AS a
    ORDER BY
        list_position(['warning', 'info'], a.severity),
        a.run,
        a.worker,
        a.span,
        a.rule;
