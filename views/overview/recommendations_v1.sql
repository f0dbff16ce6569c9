-- view: recommendations
-- version: 1
-- since: 0.1
-- summary: What costs time that need not, how much of it, how sure that is, and what to change.
-- grain: one row per worker and rule that fires
-- distributes: run
-- combines: traces; devices; used_devices(); device_advice(); eligible_kernel_share(); frameworks(); memory_fullness(); small_launches(); step_synchronizations(); gpu_summary_v1(); step_breakdown_summary_v1()
-- order: cost_per_step_us DESC, list_position(['warning', 'info'], severity), run, worker, span, rule
-- empty: No rule found anything to improve.
-- uses: device_advice eligible_kernel_share frameworks lost_time memory_fullness small_launches step_synchronizations trace_gpus gpu_summary_v1
-- example: samples --run ddp_gloo
--
-- A rule fires when its value is beyond its threshold:
--
--     data_loading               part of the mean step that waits for the data loader, above 5 %
--     straggler                  of a worker that communicates the least: part of the mean step of another
--                                worker that this one communicates longer, above 10 %
--     communication              part of the mean step in collectives that nothing hides, above 10 %
--     backend_not_nccl           compute capability where DistributedDataParallel runs without NCCL, from 3.5
--     excessive_synchronization  calls per step that wait for the device, above 10
--     blocking_copies            part of the mean step that the host is in calls that copy between it
--                                and the device, or that return only when a copy is done, above 5 %
--     pageable_copies            part of the mean step that such copies from or to memory that is not
--                                pinned take on the device, above 1 %
--     launch_bound               part in which the host works and the device has nothing to do, above 50 %
--     small_kernels              of 100 launches or more those that took the host longer than the
--                                device, above 50 %
--     device_gaps                part of the time from its first work to its last in which a GPU has
--                                nothing to do for more than 500 us on end, above 10 %
--     low_gpu_utilization        utilisation of the least busy GPU, below 50 %
--     low_utilization_periods    part of the same time, cut into stretches as utilization_series does,
--                                in stretches with a utilisation below 50 %, above 10 %; asked of a
--                                GPU with 50 % or more on average
--     memory_nearly_full         peak of what was allocated on a device, above 90 % of its memory
--     tensor_cores_unused        where no kernel uses the tensor cores of capability 7 or later: kernel
--                                time of the operators that can, above 0 %
--     data_parallel              GPUs that DataParallel uses, above 1
--     idle_gpus                  GPUs of the host on which no worker of the run ran anything, above 0;
--                                asked where all ranks are there, and told once for a host
--
-- backend_not_nccl and data_parallel are asked of training only: of traces with a backward pass or an
-- optimizer. For inference the others give other advice where that of training does not fit.
--
-- Several rules can see the same lost time. It belongs to the first that explains it:
--
-- - Time of a step in which the device has nothing to do is first data_loading, then, as long as they last,
--   excessive_synchronization and blocking_copies, and what the host does otherwise is launch_bound. Where
--   these explain half of what launch_bound, device_gaps, low_gpu_utilization or low_utilization_periods
--   measured, the costliest of them is the finding. Where they do not, the first of these that fires is.
-- - blocking_copies explain pageable_copies, and launch_bound explains small_kernels.
-- - backend_not_nccl explains communication. So does a straggler where half of it is waiting: time of
--   collectives that is longer than that of the worker of the run that is in them for the shortest. What
--   the straggler itself does longer than any other, loading data or working on the host, explains it.
--
-- What is explained by another rule is listed with every_rule only.
--
-- The cost is that of the mean step; a trace without steps counts as one. It is
--
--     measured   what was recorded of just this: all of it is lost, and comes back without the cause
--     estimated  the most that can come back: a part of that time is needed anyway
--     possible   NULL: nothing recorded says what it costs
--
-- A worker with several recordings has the one in which a rule costs most, in column span.
--
-- device_gaps, low_utilization_periods, excessive_synchronization and those of copies are expert rules of
-- Nsight Systems, with thresholds of our own. These, straggler, launch_bound, small_kernels and idle_gpus
-- are not rules of the TensorBoard profiler plugin. It also compares the memory of the host with that of
-- a GPU, which is left out.
--
-- params
--   run, worker, span
--   name        type     unit  default  meaning
--   every_rule  BOOLEAN  -     FALSE    Also the rules whose lost time another one explains.
--   per_span    BOOLEAN  -     FALSE    Rows for each recording of a worker; FALSE has that in which a rule costs most.
-- columns
--   run, worker, span
--   name              type     unit  meaning
--   rule              VARCHAR  key   What was found; one word that stays the same.
--   severity          VARCHAR  -     'warning' for what costs time or fails soon, 'info' for what is worth a try.
--   value             DOUBLE   -     What was measured, as the list of rules says.
--   threshold         DOUBLE   -     From where on the rule fires.
--   message           VARCHAR  -     What was measured, and what to change.
--   cost_per_step_us  DOUBLE   us    Time of the mean step that it costs; NULL where nothing tells, and where another rule has that time.
--   confidence        VARCHAR  -     How sure the cost is: 'measured', 'estimated' or 'possible'.
--   explained_by      VARCHAR  -     Rule of the finding that the time belongs to; NULL for a finding of its own.
CREATE MACRO recommendations_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    every_rule BOOLEAN := FALSE,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
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

    device_rules AS MATERIALIZED (FROM device_advice(run, worker, span)),

    lost AS MATERIALIZED (FROM lost_time('device_rules', run, worker, span)),

    figures AS (
        SELECT
            d.*,
            g.backend,
            g.has_all_ranks,
            g.used_devices,
            g.capability,
            g.seen_on_host,
            g.used_on_host,
            g.is_first_on_host,
            b.least_pct,
            b.low_devices,
            m.full_pct,
            m.full_devices,
            h.has_data_parallel,
            h.trains,
            h.has_ddp AND NOT h.has_nccl AND h.trains
            AND g.communicates IS NOT TRUE
            AND NOT coalesce(contains(g.backend, 'nccl'), FALSE)
            AND g.capability >= 3.5 AS is_without_nccl,
            c.share_pct AS eligible_pct,
            c.uses_tensor_cores,
            l.launches,
            l.graph_launches,
            l.small_launches,
            l.median_kernel_us,
            y.calls / y.steps AS waits,
            y.wait_us / y.steps AS wait_us,
            y.name AS wait_name,
            y.operator AS wait_operator
        FROM lost AS d
        INNER JOIN trace_gpus(run, worker, span) AS g
            ON d.run = g.run AND d.worker = g.worker AND d.span = g.span
        LEFT JOIN busy AS b ON d.run = b.run AND d.worker = b.worker AND d.span = b.span
        LEFT JOIN memory_fullness(run, worker, span) AS m
            ON d.run = m.run AND d.worker = m.worker AND d.span = m.span
        LEFT JOIN frameworks(run, worker, span) AS h
            ON d.run = h.run AND d.worker = h.worker AND d.span = h.span
        LEFT JOIN eligible_kernel_share(run, worker, span) AS c
            ON d.run = c.run AND d.worker = c.worker AND d.span = c.span
        LEFT JOIN small_launches(run, worker, span) AS l
            ON d.run = l.run AND d.worker = l.worker AND d.span = l.span
        LEFT JOIN step_synchronizations(run, worker, span) AS y
            ON d.run = y.run AND d.worker = y.worker AND d.span = y.span
    ),

    rules AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            unnest([
                {
                    'rule': 'data_loading',
                    'severity': 'warning',
                    'fires': d.dataloader_pct > 5,
                    'value': d.dataloader_pct,
                    'threshold': 5,
                    'message': format(
                        '{:.1f} % of the mean step waits for the data loader: give DataLoader '
                        || 'more num_workers and pin_memory=True, or make what it does per '
                        || 'sample cheaper.',
                        d.dataloader_pct
                    ),
                    'cost_us': d.loading_us,
                    'confidence': 'measured',
                    'explained_by': NULL::VARCHAR
                },
                {
                    'rule': 'straggler',
                    'severity': 'warning',
                    'fires': d.is_straggler,
                    'value': d.longest_wait_pct,
                    'threshold': 10,
                    'message': format(
                        'Others wait for this worker in collectives, for up to {:.1f} % of their '
                        || 'mean step: give it as much to do as them, and see comm_wait and '
                        || 'stragglers.',
                        d.longest_wait_pct
                    ),
                    'cost_us': d.longest_wait_us,
                    'confidence': 'estimated',
                    'explained_by': CASE
                        WHEN d.dataloader_pct > 5 AND d.more_loading_us >= 0.5 * d.longest_wait_us
                            THEN 'data_loading'
                        WHEN
                            d.is_launch_bound AND d.waits_by IS NULL
                            AND d.more_host_us >= 0.5 * d.longest_wait_us
                            THEN 'launch_bound'
                    END
                },
                {
                    'rule': 'communication',
                    'severity': 'warning',
                    'fires': d.communication_pct > 10,
                    'value': d.communication_pct,
                    'threshold': 10,
                    'message': format(
                        '{:.1f} % of the mean step is communication that no kernel hides: '
                        || CASE
                            WHEN d.trains
                                THEN
                                    'accumulate gradients over several steps, compress them, or '
                                    || 'use larger batches'
                            ELSE 'spread the model over fewer devices, or use larger batches'
                        END
                        || '; comm_overlap says how much is hidden.',
                        d.communication_pct
                    ),
                    'cost_us': d.communication_us
                    - CASE WHEN d.longest_wait_pct > 10 THEN d.waited_us ELSE 0 END,
                    'confidence': 'measured',
                    'explained_by': CASE
                        WHEN d.is_without_nccl THEN 'backend_not_nccl'
                        WHEN
                            d.longest_wait_pct > 10 AND d.waited_us >= 0.5 * d.communication_us
                            THEN 'straggler'
                    END
                },
                {
                    'rule': 'backend_not_nccl',
                    'severity': 'warning',
                    'fires': d.is_without_nccl,
                    'value': d.capability,
                    'threshold': 3.5,
                    'message': format(
                        'DistributedDataParallel runs on GPUs of compute capability {:.1f} '
                        || 'without NCCL{}: call init_process_group with backend="nccl".',
                        d.capability, coalesce(' (' || d.backend || ')', '')
                    ),
                    'cost_us': nullif(d.communication_us, 0),
                    'confidence': CASE
                        WHEN d.communication_us > 0 THEN 'estimated' ELSE 'possible'
                    END,
                    'explained_by': NULL
                },
                {
                    'rule': 'excessive_synchronization',
                    'severity': 'warning',
                    'fires': d.waits > 10,
                    'value': d.waits,
                    'threshold': 10,
                    'message': format(
                        'The host waits for the device {:.1f} times per step, {:.1f} us in '
                        || 'all, mostly in {}{}: read results less often, copy with '
                        || 'non_blocking=True, and take out torch.cuda.synchronize().',
                        d.waits, d.wait_us, d.wait_name, coalesce(' of ' || d.wait_operator, '')
                    ),
                    'cost_us': d.syncing_us,
                    'confidence': 'estimated',
                    'explained_by': NULL
                },
                {
                    'rule': 'launch_bound',
                    'severity': 'warning',
                    'fires': d.is_launch_bound,
                    'value': d.host_pct,
                    'threshold': 50,
                    'message': format(
                        'For {:.1f} % of the mean step the device has nothing to do while the '
                        || 'host runs operators ({:.1f} %) or runtime calls ({:.1f} %): use '
                        || 'larger batches, '
                        || CASE
                            WHEN d.graph_launches > 0
                                THEN 'and launch more of the step from CUDA graphs.'
                            ELSE 'torch.compile or CUDA graphs.'
                        END,
                        d.host_pct, coalesce(d.cpu_exec_pct, 0), coalesce(d.runtime_pct, 0)
                    ),
                    'cost_us': d.launching_us,
                    'confidence': 'estimated',
                    'explained_by': d.waits_by
                },
                {
                    'rule': 'small_kernels',
                    'severity': 'info',
                    'fires': d.launches >= 100 AND d.small_launches > 0.5 * d.launches,
                    'value': 100.0 * d.small_launches / d.launches,
                    'threshold': 50,
                    'message': format(
                        '{} of {} launches took the host longer than the device, which ran '
                        || 'for {:.1f} us at the median: fuse operators with torch.compile'
                        || CASE WHEN d.trains THEN ' or foreach optimizers' ELSE '' END
                        || ', or replay them from a CUDA graph.',
                        d.small_launches, d.launches, d.median_kernel_us
                    ),
                    'cost_us': NULL::DOUBLE,
                    'confidence': 'possible',
                    'explained_by': CASE
                        WHEN d.is_launch_bound AND d.waits_by IS NULL THEN 'launch_bound'
                    END
                },
                {
                    'rule': 'low_gpu_utilization',
                    'severity': 'warning',
                    'fires': d.least_pct < 50,
                    'value': d.least_pct,
                    'threshold': 50,
                    'message': 'A kernel runs for less than half of the time on GPU '
                    || d.low_devices || ': use larger batches, and see step_breakdown for what '
                    || 'the rest of the time goes to.',
                    'cost_us': (100 - d.least_pct) / 100 * d.total_us - d.explained_us,
                    'confidence': 'estimated',
                    'explained_by': CASE
                        WHEN d.explained_us >= 0.5 * (100 - d.least_pct) / 100 * d.total_us
                            THEN d.costliest
                        WHEN d.has_gaps THEN 'device_gaps'
                    END
                },
                {
                    'rule': 'memory_nearly_full',
                    'severity': 'warning',
                    'fires': d.full_pct > 90,
                    'value': d.full_pct,
                    'threshold': 90,
                    'message': 'Memory was allocated up to ' || d.full_devices || ': use '
                    || CASE
                        WHEN d.trains THEN 'activation checkpointing, mixed precision'
                        ELSE 'smaller caches, weights of fewer bits'
                    END
                    || ' or smaller batches; memory_at_peak says what was alive.',
                    'cost_us': NULL,
                    'confidence': 'possible',
                    'explained_by': NULL
                },
                {
                    'rule': 'data_parallel',
                    'severity': 'warning',
                    'fires': d.has_data_parallel AND d.used_devices > 1 AND d.trains,
                    'value': d.used_devices,
                    'threshold': 1,
                    'message': 'DataParallel runs the model on ' || d.used_devices
                    || ' GPUs from one process: use DistributedDataParallel, with one process '
                    || 'per GPU.',
                    'cost_us': NULL,
                    'confidence': 'possible',
                    'explained_by': NULL
                },
                {
                    'rule': 'tensor_cores_unused',
                    'severity': 'info',
                    'fires': d.capability >= 7 AND NOT d.uses_tensor_cores AND d.eligible_pct > 0,
                    'value': d.eligible_pct,
                    'threshold': 0,
                    'message': format(
                        'No kernel used tensor cores, and {:.1f} % of the kernel time is of '
                        || 'operators that can: run them in float16 or bfloat16 with '
                        || 'torch.autocast, or allow TF32, which capability 8 and later have.',
                        d.eligible_pct
                    ),
                    'cost_us': NULL,
                    'confidence': 'possible',
                    'explained_by': NULL
                },
                {
                    'rule': 'idle_gpus',
                    'severity': 'info',
                    'fires': d.has_all_ranks
                    AND d.is_first_on_host
                    AND d.used_on_host > 0
                    AND d.used_on_host < d.seen_on_host,
                    'value': d.seen_on_host - d.used_on_host,
                    'threshold': 0,
                    'message': 'Of ' || d.seen_on_host || ' GPUs on the host, '
                    || d.seen_on_host - d.used_on_host || ' ran nothing for this run: '
                    || CASE
                        WHEN d.trains THEN 'train on all with DistributedDataParallel'
                        ELSE 'run the model on them, too'
                    END
                    || ', or leave them to others with CUDA_VISIBLE_DEVICES.',
                    'cost_us': NULL,
                    'confidence': 'possible',
                    'explained_by': NULL
                }
            ]) AS found
        FROM figures AS d
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
            r.found.message,
            r.found.cost_us::DOUBLE AS cost_us,
            r.found.confidence,
            r.found.explained_by
        FROM rules AS r
        WHERE r.found.fires
        UNION ALL
        SELECT
            a.run,
            a.worker,
            a.span,
            a.rule,
            a.severity,
            a.value,
            a.threshold,
            a.message,
            CASE a.rule
                WHEN 'blocking_copies' THEN d.copying_us
                WHEN 'pageable_copies' THEN least(a.value / 100 * d.total_us, d.memcpy_us)
                ELSE a.value / 100 * d.total_us - d.explained_us
            END,
            'estimated',
            CASE
                WHEN a.rule = 'blocking_copies' THEN NULL
                WHEN a.rule = 'pageable_copies'
                    THEN CASE WHEN d.has_blocking THEN 'blocking_copies' END
                WHEN d.explained_us >= 0.5 * a.value / 100 * d.total_us THEN d.costliest
                WHEN a.rule = 'low_utilization_periods' AND d.has_gaps THEN 'device_gaps'
            END
        FROM device_rules AS a
        INNER JOIN lost AS d
            ON a.run = d.run AND a.worker = d.worker AND a.span = d.span
    ),

    -- The worst of a worker's recordings speaks for all.
    ranked AS (
        SELECT
            a.*,
            row_number() OVER (
                PARTITION BY a.run, a.worker, a.rule
                ORDER BY a.cost_us DESC NULLS LAST, a.value DESC, a.span ASC
            ) AS place
        FROM advice AS a
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.rule,
        r.severity,
        r.value,
        r.threshold,
        r.message
        || CASE
            WHEN r.explained_by IS NULL AND r.cost_us > 0
                THEN
                    ' This costs ' || CASE WHEN r.confidence = 'measured' THEN '' ELSE 'up to ' END
                    || CASE
                        WHEN r.cost_us >= 100000 THEN format('{:.0f}', r.cost_us / 1000)
                        ELSE format('{:.3g}', r.cost_us / 1000)
                    END
                    || ' ms per step.'
            ELSE ''
        END AS message,
        CASE WHEN r.explained_by IS NULL THEN r.cost_us END AS cost_per_step_us,
        r.confidence,
        r.explained_by
    FROM ranked AS r
    WHERE (per_span OR r.place = 1) AND (every_rule OR r.explained_by IS NULL)
    ORDER BY
        CASE WHEN r.explained_by IS NULL THEN r.cost_us END DESC NULLS LAST,
        list_position(['warning', 'info'], r.severity) ASC,
        r.run ASC, r.worker ASC, r.span ASC, r.rule ASC;
