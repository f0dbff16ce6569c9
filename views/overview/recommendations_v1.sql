-- view: recommendations
-- version: 1
-- since: 0.1
-- summary: Problems that cost time: what each one costs per step, how certain that is, and what to change.
-- grain: one row per worker and rule that fires
-- distributes: run
-- combines: traces; devices; steps; device_words(); used_devices(); costliest_collectives(); data_advice(); data_waits(); device_advice(); device_setup(); eligible_kernel_share(); frameworks(); label_time(); memory_fullness(); memory_growth(); optimizer_time(); recorded_intervals(); serving_advice(); slow_functions(); small_launches(); step_compilation(); step_synchronizations(); unrecorded_work(); used_groups(); gpu_summary_v1(); step_breakdown_v1()
-- order: cost_per_step_us DESC, list_position(['warning', 'info'], severity), run, worker, span, rule
-- needs: unknown_kinds
-- empty: No rule found anything to improve.
-- uses: as_bytes, as_time, costliest_collectives, data_advice, device_advice, device_words, eligible_kernel_share, frameworks, is_cut_off, is_wanted, lost_time, memory_fullness, memory_growth, percentage, recorded_intervals, recording_hint, serving_advice, slow_functions, small_launches, step_synchronizations, trace_gpus, unrecorded_work, gpu_summary_v1
-- example: samples --run ddp_gloo
--
-- A rule fires when its value passes its threshold:
--
--     data_loading               share of the mean step that waits for the data loader, above 5 %
--     iteration_interval         time in us from the start of the first step to its forward pass, where MindSpore
--                                recorded it, above 500 us
--     straggler                  reported for the worker with the least communication time of those that process
--                                groups connect: how much longer another of these communicates, without what
--                                groups of its own transfer longer, as a share of that worker's mean step; the
--                                largest such share, above 10 %
--     communication              share of the mean step in collectives that no kernel hides, above 10 %;
--                                the advice depends on what communicates, and on whether most of that
--                                time passes in small collectives: messages of less than 1 MiB, at least
--                                10 per step
--     backend_not_nccl           compute capability of the GPUs if DistributedDataParallel runs without
--                                NCCL, from 3.5
--     excessive_synchronization  calls per step that wait for the device, above 10
--     blocking_copies            share of the mean step that the host spends in calls that copy between
--                                host and device, or that return only when a copy is done, above 5 %
--     pageable_copies            share of the mean step that the device spends on copies from or to
--                                pageable (not pinned) memory, above 1 %
--     compilation                share of the mean step in which torch.compile compiles, above 5 %
--     device_setup               share of the mean step in which the device is idle because the host prepares
--                                it, above 5 %: it creates a context or streams, allocates memory or loads
--                                the code of kernels
--     optimizer                  share of the mean step in which the optimizer runs while the device is idle, or
--                                in which the device works for the optimizer, above 20 %
--     launch_bound               share of the mean step in which the host works and the device is idle,
--                                above 50 %
--     outside_operators          share of the mean step in which no device works and no operator or call that
--                                was recorded runs, above 50 %; without a device, above 30 %, if the PyTorch
--                                profiler recorded operators. An open record_function is no operator
--     small_kernels              share of the launches that took longer on the host than on the device,
--                                above 50 %; needs 100 launches
--     device_gaps                share of the time from a GPU's first work to its last that it is idle for
--                                more than 500 us at a stretch, above 10 %
--     low_gpu_utilization        utilization of the least busy GPU, below 50 %
--     low_utilization_periods    share of the same time in intervals with a utilization below 50 %, above
--                                10 %; the intervals are those of utilization_series, and only GPUs with
--                                50 % or more on average are checked
--     memory_growth              bytes by which the allocated memory of a device grows per step, above 1 MiB, if
--                                it grows from every step to the next; needs four steps
--     memory_nearly_full         peak of the allocated memory of a device, above 90 % of its memory
--     tensor_cores_unused        share of the kernel time in operators that can use tensor cores, above 0 %,
--                                if no kernel uses those of a GPU of capability 7 or later
--     data_parallel              GPUs that DataParallel uses, above 1
--     idle_gpus                  GPUs of the host on which no worker of the run ran anything, above 0;
--                                checked if all ranks are present and recorded work on GPUs, and reported
--                                once per host
--
-- For traces of serving these rules replace device_setup, optimizer, launch_bound, outside_operators, small_kernels,
-- low_gpu_utilization, excessive_synchronization and those on gaps, periods and blocking copies. Steps are those of
-- serving_steps:
--
--     late_launches              share of the mean step in which the device has no launched work, above 10 %
--     blocking_call              the same, above 1 %, if the host waits for the device for at least as long
--     prefill_in_decode          share of steps that prefill while other requests decode, above 0 %, if they
--                                take more than 10 % longer than steps that only decode
--     padding                    share of the requests of captured graphs that are padding, above 20 %
--     attention_efficiency       share of the device's peak that attention reaches, below 30 %, if attention
--                                is more than 20 % of the device work
--     unrecorded_work            share of the time in which launched work waits for work that is not in the
--                                trace, above 10 %
--
-- backend_not_nccl and data_parallel are checked for training only, that is, for traces with a backward
-- pass or an optimizer. For inference, the other rules give different advice where that for training does
-- not fit.
--
-- device_setup, optimizer, launch_bound, outside_operators, small_kernels, low_gpu_utilization and the rules on gaps,
-- periods, copies and synchronization need to know what the device did. They are left out for a trace that captures
-- graphs, whose kernels do not run, and for one that misses work of the device: graph_capture and work_not_recorded of
-- trace_quality report these. A rule that is left out explains no other.
--
-- The training loop of MindSpore is not in its traces. The share of data_loading is then that of the time in which
-- MindData waited for batches.
--
-- optimizer advises fused=True only for an optimizer of torch.optim that has this option, and that runs other operators
-- than the fused ones.
--
-- iteration_interval is a rule of MindInsight, with its threshold. data_loading explains it.
--
-- Where tracewh.record.dataloader recorded the loader, data_loading says whether one worker, storage or moving the
-- batches holds it up; data_preparation_summary has the figures. Of a loader without workers, whose work is in the trace,
-- data_loading names the functions that take most of the time.
--
-- Several rules can see the same lost time. The time is assigned to the first rule that explains it:
--
-- - Idle time of the device within a step goes to data_loading first, then to excessive_synchronization,
--   blocking_copies, compilation, device_setup and optimizer for as long as these last. The rest of the host's time is
--   launch_bound. Time in which nothing that was recorded runs is outside_operators. If these rules explain half of
--   the time that launch_bound, device_gaps, low_gpu_utilization or low_utilization_periods measured, the costliest of
--   them is reported. Otherwise the first of those four that fires is reported.
-- - blocking_copies explains pageable_copies that cost no more than itself, compilation explains device_setup in it,
--   and launch_bound explains small_kernels. pageable_copies explains low_gpu_utilization if the device spends half of
--   the time without kernels on such copies.
-- - backend_not_nccl explains communication. So does a straggler if at least half of the communication is
--   waiting, which is the time that a worker spends in collectives beyond that of the worker that
--   spends the least, of those that process groups connect. The straggler itself is explained by what it spends more
--   time on than any other of these: data_loading, launch_bound or outside_operators. If the workers come last in
--   turn, none of them is the straggler, and communication says that its time is waiting.
--
-- Findings that another rule explains are listed with every_rule only.
--
-- The cost is per mean step. A trace without steps counts as one step, which messages call the recording. The confidence
-- tells what the cost means:
--
--     measured   this time was recorded for exactly this cause: all of it is lost, and removing the cause
--                gains all of it
--     estimated  the most that can be gained: some of this time is needed in any case
--     possible   the cost is NULL: the trace does not tell what it is
--
-- The profiler slows the host. So a device that waits for the host waits less without the profiler: time a few steps
-- without it before you change anything.
--
-- Of excessive_synchronization the cost is the time in the calls. While the host waits it cannot launch ahead, so the
-- device is idle after each call, too: a step without these calls may gain more.
--
-- The cost of device_gaps and low_utilization_periods is the part of their time that lies in steps. Between steps the
-- device may be idle for longer; no step becomes shorter without that.
--
-- Of communication on the host the cost is estimated, because operators may run beside it. That of compilation is
-- measured on the host, and estimated beside a device.
--
-- For a worker with several recordings, the recording in which a rule costs most is listed, in column span.
--
-- device_gaps, low_utilization_periods, excessive_synchronization, blocking_copies and pageable_copies are
-- expert rules of Nsight Systems, with thresholds of our own. These, straggler, compilation, device_setup, optimizer,
-- launch_bound, outside_operators, small_kernels, memory_growth and idle_gpus are not rules of the TensorBoard profiler
-- plugin. The plugin also compares the memory of the host with that of a GPU; this rule is left out.
--
-- params
--   run, worker, span
--   name        type     unit  default  meaning
--   every_rule  BOOLEAN  -     FALSE    TRUE also lists rules whose lost time another rule explains.
--   per_span    BOOLEAN  -     FALSE    TRUE lists each recording of a worker; FALSE the one in which a rule costs most.
-- columns
--   run, worker, span
--   name              type     unit  meaning
--   rule              VARCHAR  key   Name of the rule; it never changes.
--   severity          VARCHAR  -     'warning' for what costs time or will soon fail, 'info' for what is worth a try.
--   value             DOUBLE   -     The measured value, as in the list of rules.
--   threshold         DOUBLE   -     Threshold of the rule.
--   message           VARCHAR  -     What was measured and what to change.
--   cost_per_step_us  DOUBLE   us    Cost per mean step; NULL where it is unknown, and where another rule explains the time.
--   confidence        VARCHAR  -     How certain the cost is: 'measured', 'estimated' or 'possible'.
--   explained_by      VARCHAR  -     Rule that explains the lost time; NULL if no other rule does.
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

    served AS MATERIALIZED (FROM serving_advice(run, worker, span)),

    lost AS MATERIALIZED (FROM lost_time('device_rules', run, worker, span)),

    -- The device copies in this time. In that of blocking_copies the host waits and the device is idle.
    pageable AS MATERIALIZED (
        SELECT a.run, a.worker, a.span, least(a.lost_us, d.memcpy_us) AS cost_us
        FROM device_rules AS a
        INNER JOIN lost AS d ON a.run = d.run AND a.worker = d.worker AND a.span = d.span
        WHERE a.rule = 'pageable_copies'
    ),

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
            b.least_pct IS NULL AS is_on_host,
            b.low_devices,
            CASE WHEN z.cost_us > d.copying_us THEN z.cost_us ELSE 0 END AS pageable_us,
            n.device,
            n.torch_name,
            t.source,
            CASE
                WHEN is_cut_off(t.skipped_reasons)
                    THEN 'copy the file again, which was cut off'
            END AS copy_again,
            m.full_pct,
            m.full_devices,
            e.growth_bytes,
            e.device AS growing_device,
            h.has_data_parallel,
            h.has_ddp,
            h.is_compiled,
            h.trains,
            h.has_fsdp,
            h.has_dtensor,
            h.loads_in_process,
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
            p.kind AS collective,
            p.small_calls AS small_collectives,
            p.small_bytes AS small_message_bytes,
            p.steps > 0 AS collectives_in_steps,
            y.calls / y.steps AS waits,
            y.wait_us / y.steps AS wait_us,
            y.name AS wait_name,
            y.operator AS wait_operator,
            i.first_us AS first_interval_us,
            i.mean_us AS mean_interval_us,
            v.cause AS loading_cause,
            v.remedy AS loading_remedy,
            f.outside_function || ' first'
            || coalesce('; most of that time is in ' || f.outside_library, '') AS frame,
            f.loader_function,
            f.loader_library,
            f.loader_starts,
            NOT h.loads_in_process
            AND f.loader_starts > 1
            AND f.loader_start_us >= 0.5 * d.loading_us AS restarts_workers
        FROM lost AS d
        INNER JOIN traces AS t ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
        INNER JOIN trace_gpus(run, worker, span) AS g
            ON d.run = g.run AND d.worker = g.worker AND d.span = g.span
        INNER JOIN device_words(run, worker, span) AS n
            ON d.run = n.run AND d.worker = n.worker AND d.span = n.span
        LEFT JOIN busy AS b ON d.run = b.run AND d.worker = b.worker AND d.span = b.span
        LEFT JOIN pageable AS z ON d.run = z.run AND d.worker = z.worker AND d.span = z.span
        LEFT JOIN memory_fullness(run, worker, span) AS m
            ON d.run = m.run AND d.worker = m.worker AND d.span = m.span
        LEFT JOIN memory_growth(run, worker, span) AS e
            ON d.run = e.run AND d.worker = e.worker AND d.span = e.span
        LEFT JOIN frameworks(run, worker, span) AS h
            ON d.run = h.run AND d.worker = h.worker AND d.span = h.span
        LEFT JOIN eligible_kernel_share(run, worker, span) AS c
            ON d.run = c.run AND d.worker = c.worker AND d.span = c.span
        LEFT JOIN small_launches(run, worker, span) AS l
            ON d.run = l.run AND d.worker = l.worker AND d.span = l.span
        LEFT JOIN costliest_collectives(run, worker, span) AS p
            ON d.run = p.run AND d.worker = p.worker AND d.span = p.span
        LEFT JOIN step_synchronizations(run, worker, span) AS y
            ON d.run = y.run AND d.worker = y.worker AND d.span = y.span
        LEFT JOIN recorded_intervals(run, worker, span) AS i
            ON d.run = i.run AND d.worker = i.worker AND d.span = i.span
        LEFT JOIN data_advice(run, worker, span) AS v
            ON d.run = v.run AND d.worker = v.worker AND d.span = v.span
        LEFT JOIN slow_functions(run, worker, span) AS f
            ON d.run = f.run AND d.worker = f.worker AND d.span = f.span
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
                        '{:.1f} % of the mean step waits for the data loader{}: {}.',
                        d.dataloader_pct,
                        coalesce(
                            d.loading_cause,
                            CASE
                                WHEN d.loads_in_process THEN ', which has no workers'
                                WHEN d.restarts_workers
                                    THEN
                                        ', which starts its workers again and again ('
                                        || d.loader_starts || ' times)'
                                ELSE ''
                            END
                        ),
                        coalesce(
                            d.loading_remedy
                            || coalesce(
                                '; most of that time is in '
                                || coalesce(d.loader_function, d.loader_library),
                                ''
                            ),
                            CASE
                                WHEN d.restarts_workers
                                    THEN
                                        'keep one DataLoader with persistent_workers=True, which '
                                        || 'starts its workers only once'
                                ELSE
                                    CASE
                                        WHEN d.loads_in_process THEN 'set num_workers of DataLoader'
                                        ELSE 'increase num_workers of DataLoader'
                                    END
                                    || CASE
                                        WHEN d.used_devices = 0 THEN ''
                                        WHEN d.loads_in_process THEN ' and pin_memory=True'
                                        ELSE ', set pin_memory=True'
                                    END
                                    || ', or do less work '
                                    || coalesce('in ' || d.loader_function, 'per sample')
                                    || coalesce(
                                        '; most of that time is in ' || d.loader_library, ''
                                    )
                                    || CASE
                                        WHEN d.loads_in_process AND d.loader_starts IS NULL
                                            THEN
                                                '; to find out what takes long, '
                                                || coalesce(
                                                    d.copy_again,
                                                    recording_hint(d.source, 'stacks')
                                                )
                                        ELSE ''
                                    END
                            END
                        )
                    ),
                    'cost_us': d.loading_us,
                    'confidence': 'measured',
                    'explained_by': NULL::VARCHAR
                },
                {
                    'rule': 'iteration_interval',
                    'severity': 'warning',
                    'fires': d.first_interval_us > 500,
                    'value': d.first_interval_us,
                    'threshold': 500,
                    'message': 'The forward pass of the first step starts '
                    || as_time(d.first_interval_us) || ' after the step, that of the mean step '
                    || as_time(d.mean_interval_us) || ': the time before it is mostly the wait for '
                    || 'data. See step_phases for every step, and data_preparation_summary for '
                    || 'what the data wait for.',
                    'cost_us': NULL,
                    'confidence': 'possible',
                    'explained_by': CASE WHEN d.dataloader_pct > 5 THEN 'data_loading' END
                },
                {
                    'rule': 'straggler',
                    'severity': 'warning',
                    'fires': d.is_straggler,
                    'value': d.longest_wait_pct,
                    'threshold': 10,
                    'message': format(
                        'Other workers wait for this one in collectives, for up to {:.1f} % of '
                        || 'their mean step: balance the work between them; tracewh diff says what '
                        || 'a worker does longer than another, and comm_wait how long each step '
                        || 'waits.',
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
                        WHEN d.outside_us > 0 AND d.more_other_us >= 0.5 * d.longest_wait_us
                            THEN 'outside_operators'
                    END
                },
                {
                    'rule': 'communication',
                    'severity': 'warning',
                    'fires': d.communication_pct > 10,
                    'value': d.communication_pct,
                    'threshold': 10,
                    'message': format(
                        '{:.1f} % of the mean step is communication '
                        || CASE
                            WHEN d.is_on_host THEN 'on the host'
                            ELSE 'that no kernel hides'
                        END,
                        d.communication_pct
                    )
                    || CASE
                        WHEN d.waits_for IS NOT NULL
                            THEN
                                ', half or more of it waiting for ' || d.waits_for
                                || ': see with tracewh diff what that worker does longer, and in '
                                || 'comm_wait how long each step waits.'
                        WHEN d.waits_in_turn
                            THEN
                                ', half or more of it waiting for whichever worker comes last in '
                                || 'the step: balance the work of each step between the workers; '
                                || 'stragglers says who comes last in which.'
                        ELSE
                            coalesce(
                                ', most of it in ' || format('{:.0f}', d.small_collectives)
                                || ' small collectives'
                                || CASE WHEN d.collectives_in_steps THEN ' per step' ELSE '' END
                                || ' (' || as_bytes(d.small_message_bytes) || ' on average)',
                                ''
                            )
                            || CASE
                                WHEN d.trains IS NOT TRUE
                                    THEN
                                        ': spread the model over fewer devices, or use larger '
                                        || 'batches'
                                WHEN d.has_fsdp AND d.small_collectives > 0
                                    THEN
                                        ': let FSDP wrap larger modules, so that there are fewer '
                                        || 'and larger ones'
                                WHEN d.small_collectives > 0 AND (d.has_ddp OR NOT d.has_dtensor)
                                    THEN
                                        ': join them into larger ones, as DistributedDataParallel '
                                        || 'does with its buckets'
                                WHEN d.collective = 'all_to_all'
                                    THEN
                                        ': keep more experts or embeddings on each rank, or use '
                                        || 'larger batches'
                                WHEN d.collective = 'send'
                                    THEN
                                        ': send more microbatches through the pipeline, or '
                                        || 'balance its stages'
                                WHEN d.has_fsdp
                                    THEN
                                        ': keep gathered parameters for the backward pass '
                                        || '(reshard_after_forward=False) if they fit, shard them '
                                        || 'over fewer ranks, or use larger batches'
                                WHEN d.has_dtensor AND NOT d.has_ddp
                                    THEN
                                        ': split layers over fewer ranks, or use larger batches'
                                ELSE
                                    ': accumulate gradients over several '
                                    || CASE
                                        WHEN d.has_ddp THEN 'backward passes with no_sync()'
                                        ELSE 'steps'
                                    END
                                    || ', compress them, or use larger batches'
                            END
                            || CASE
                                WHEN d.is_on_host OR d.small_collectives > 0
                                    THEN '; collective_stats lists the collectives.'
                                ELSE '; comm_overlap says how much is hidden.'
                            END
                    END,
                    'cost_us': CASE
                        WHEN d.waits_in_turn THEN d.in_turn_us
                        -- Nobody is compared with a trace without steps if the others have steps.
                        ELSE d.communication_us - coalesce(d.straggler_us, 0)
                    END,
                    -- Operators that run beside a collective on the host are not told from those that wait for it.
                    'confidence': CASE
                        WHEN d.is_on_host OR d.waits_in_turn THEN 'estimated' ELSE 'measured'
                    END,
                    'explained_by': CASE
                        WHEN d.is_without_nccl THEN 'backend_not_nccl'
                        WHEN d.waits_for IS NOT NULL THEN 'straggler'
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
                    -- Another backend does not make a straggler faster.
                    'cost_us': nullif(d.communication_us - coalesce(d.straggler_us, 0), 0),
                    'confidence': CASE
                        WHEN d.communication_us > coalesce(d.straggler_us, 0) THEN 'estimated'
                        ELSE 'possible'
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
                        || 'total, mostly in {}{}: read results less often{}.',
                        d.waits, d.wait_us, d.wait_name, coalesce(' of ' || d.wait_operator, ''),
                        coalesce(
                            ', copy with non_blocking=True, and remove torch.' || d.torch_name
                            || '.synchronize()',
                            ''
                        )
                    ),
                    'cost_us': d.syncing_us,
                    'confidence': 'estimated',
                    'explained_by': NULL
                },
                {
                    'rule': 'compilation',
                    'severity': 'warning',
                    'fires': d.compiling_pct > 5,
                    'value': d.compiling_pct,
                    'threshold': 5,
                    'message': format(
                        'For {:.1f} % of the mean step torch.compile compiles{}: '
                        || CASE
                            WHEN d.compiling_steps = d.steps AND d.steps > 1
                                THEN
                                    'run with TORCH_LOGS=recompiles to see why it compiles again, '
                                    || 'and compile with dynamic=True if shapes change.'
                            ELSE
                                'add warmup steps to the schedule, so that it is done before; if '
                                || 'it compiles again, run with TORCH_LOGS=recompiles to see why.'
                        END,
                        d.compiling_pct,
                        CASE
                            WHEN d.steps > 1
                                THEN ', in ' || d.compiling_steps || ' of ' || d.steps || ' steps'
                            ELSE ''
                        END
                    ),
                    'cost_us': d.compiling_us,
                    'confidence': CASE WHEN d.is_on_host THEN 'measured' ELSE 'estimated' END,
                    'explained_by': NULL
                },
                {
                    'rule': 'device_setup',
                    'severity': 'warning',
                    'fires': d.setup_pct > 5,
                    'value': d.setup_pct,
                    'threshold': 5,
                    'message': format(
                        'For {:.1f} % of the mean step the device is idle while the host prepares '
                        || 'it (context, memory, code of kernels){}, mostly in {}: ',
                        d.setup_pct,
                        CASE
                            WHEN d.steps > 1
                                THEN ', in ' || d.setup_steps || ' of ' || d.steps || ' steps'
                            ELSE ''
                        END,
                        d.setup_call
                    )
                    || CASE
                        WHEN d.setup_steps < d.steps OR d.steps = 1
                            THEN
                                'let a few steps pass before you record; with torch.profiler, add '
                                || 'warmup steps to the schedule.'
                        WHEN regexp_matches(d.setup_call, 'Alloc|alloc|Free')
                            THEN
                                'keep memory for the next step instead of calling '
                                || 'torch.cuda.empty_cache(), and set '
                                || 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True if sizes '
                                || 'change.'
                        ELSE
                            'do once what each step repeats, and warm up for longer before you '
                            || 'record.'
                    END,
                    'cost_us': d.setup_us,
                    'confidence': 'estimated',
                    'explained_by': CASE
                        WHEN
                            d.compiling_us > 0
                            AND d.setup_us < 0.5 * d.setup_pct / 100 * d.total_us
                            THEN 'compilation'
                    END
                },
                {
                    'rule': 'optimizer',
                    'severity': 'warning',
                    'fires': d.optimizer_pct > 20,
                    'value': d.optimizer_pct,
                    'threshold': 20,
                    'message': 'The optimizer (' || d.optimizer || ') takes '
                    || format('{:.1f}', d.optimizer_pct) || ' % of the mean step'
                    || CASE
                        WHEN d.used_devices > 0 THEN ', on the device or while that is idle: '
                        ELSE ': '
                    END
                    || CASE
                        WHEN d.implementation IS NULL OR d.implementation = 'fused' THEN ''
                        WHEN d.optimizer IN ('Adagrad', 'Adam', 'AdamW', 'SGD')
                            THEN 'pass fused=True to ' || d.optimizer || ', or '
                        WHEN
                            d.implementation = 'for-loop' AND d.used_devices > 0
                            AND d.optimizer IN (
                                'ASGD', 'Adadelta', 'Adamax', 'NAdam', 'RAdam', 'RMSprop', 'Rprop'
                            )
                            THEN 'pass foreach=True to ' || d.optimizer || ', or '
                        ELSE
                            'update all parameters at once, as the fused optimizers of '
                            || 'torch.optim do, or '
                    END
                    || 'accumulate gradients over several backward passes, so that it runs less '
                    || 'often.',
                    'cost_us': d.optimizing_us + d.optimizer_work_us,
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
                        'For {:.1f} % of the mean step the device is idle while the '
                        || 'host runs operators ({:.1f} %) or runtime calls ({:.1f} %): use '
                        || 'larger batches'
                        || CASE
                            WHEN d.torch_name IS NULL OR (d.torch_name <> 'cuda' AND d.is_compiled)
                                THEN '.'
                            WHEN d.torch_name <> 'cuda' THEN ' or torch.compile.'
                            WHEN d.graph_launches > 0
                                THEN ', and launch more of the step from CUDA graphs.'
                            WHEN d.is_compiled
                                THEN ' or CUDA graphs (torch.compile with mode="reduce-overhead").'
                            ELSE ', torch.compile or CUDA graphs.'
                        END,
                        d.host_pct, coalesce(d.cpu_exec_pct, 0), coalesce(d.runtime_pct, 0)
                    ),
                    'cost_us': d.launching_us,
                    'confidence': 'estimated',
                    'explained_by': d.waits_by
                },
                {
                    'rule': 'outside_operators',
                    'severity': 'warning',
                    'fires': d.outside_us > 0,
                    'value': d.outside_pct,
                    'threshold': CASE WHEN d.used_devices > 0 THEN 50 ELSE 30 END,
                    'message': format('For {:.1f} % of the mean step ', d.outside_pct)
                    || CASE
                        WHEN d.cpu_exec_pct IS NULL THEN 'nothing was recorded'
                        WHEN d.used_devices > 0
                            THEN 'neither the ' || d.device || ' nor an operator runs'
                        ELSE 'no operator runs'
                    END
                    || CASE
                        WHEN d.label_us > 0
                            THEN
                                format(
                                    '; for {:.1f} % annotations are open, which '
                                    || 'step_breakdown counts as operators',
                                    percentage(d.label_us, d.total_us)
                                )
                        ELSE ''
                    END
                    || coalesce(
                        '; source_lines says what does: look at ' || d.frame || '.',
                        ': to find out what the host does, '
                        || coalesce(
                            d.copy_again,
                            recording_hint(
                                d.source,
                                CASE
                                    WHEN d.cpu_exec_pct IS NULL THEN 'operators'
                                    -- Steps are recorded as operators are: they ran elsewhere.
                                    WHEN
                                        d.cpu_exec_pct = 0
                                        AND coalesce(d.source, 'kineto') = 'kineto'
                                        THEN 'threads'
                                    ELSE 'host'
                                END
                            )
                        )
                        || '.'
                    ),
                    'cost_us': d.outside_us,
                    'confidence': 'estimated',
                    'explained_by': NULL
                },
                {
                    'rule': 'small_kernels',
                    'severity': 'info',
                    'fires': d.launches >= 100 AND d.small_launches > 0.5 * d.launches,
                    'value': 100.0 * d.small_launches / d.launches,
                    'threshold': 50,
                    'message': format(
                        '{} of {} launches took longer on the host than on the device, where the '
                        || 'median was {:.1f} us: fuse operators'
                        || CASE WHEN d.torch_name IS NULL THEN '' ELSE ' with torch.compile' END
                        || CASE
                            WHEN d.trains AND d.torch_name IS NOT NULL THEN ' or foreach optimizers'
                            ELSE ''
                        END
                        || CASE
                            WHEN d.torch_name = 'cuda' THEN ', or replay them from a CUDA graph.'
                            ELSE '.'
                        END,
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
                    'message': 'Kernels run for less than half of the time on ' || d.device || ' '
                    || d.low_devices || ': use larger batches; step_breakdown shows where '
                    || 'the rest of the time goes.',
                    'cost_us': (100 - d.least_pct) / 100 * d.total_us - d.explained_us
                    - d.pageable_us,
                    'confidence': 'estimated',
                    'explained_by': CASE
                        WHEN d.explained_us >= 0.5 * (100 - d.least_pct) / 100 * d.total_us
                            THEN d.costliest
                        WHEN d.pageable_us >= 0.5 * (100 - d.least_pct) / 100 * d.total_us
                            THEN 'pageable_copies'
                        WHEN d.has_gaps THEN 'device_gaps'
                    END
                },
                {
                    'rule': 'memory_growth',
                    'severity': 'warning',
                    'fires': d.growth_bytes > 1048576,
                    'value': d.growth_bytes,
                    'threshold': 1048576,
                    'message': 'The allocated memory of '
                    || CASE
                        WHEN d.growing_device = 'cpu' THEN 'the host' ELSE d.growing_device
                    END
                    || ' grows in every step, by ' || as_bytes(d.growth_bytes)
                    || ' on average: release what each step keeps, such as '
                    || CASE
                        WHEN d.trains THEN 'a loss that was not detached'
                        ELSE 'outputs of earlier steps, or a cache without a limit'
                    END
                    || '; memory_events lists what was not released.',
                    'cost_us': NULL,
                    'confidence': 'possible',
                    'explained_by': NULL
                },
                {
                    'rule': 'memory_nearly_full',
                    'severity': 'warning',
                    'fires': d.full_pct > 90,
                    'value': d.full_pct,
                    'threshold': 90,
                    'message': 'The peak of allocated memory is ' || d.full_devices || ': use '
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
                    || ' ' || d.device || 's from one process: use DistributedDataParallel, with '
                    || 'one process per ' || d.device || '.',
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
                        'No kernel used tensor cores, but operators that can use them take '
                        || '{:.1f} % of the kernel time: run them in float16 or bfloat16 with '
                        || 'torch.autocast, or allow TF32 (capability 8 and later).',
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
                    'message': 'Of ' || d.seen_on_host || ' ' || d.device || 's on the host, '
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
                WHEN 'pageable_copies' THEN z.cost_us
                ELSE greatest(a.lost_us - d.explained_us, 0)
            END,
            'estimated',
            CASE
                WHEN a.rule = 'blocking_copies' THEN NULL
                WHEN a.rule = 'pageable_copies'
                    THEN
                        CASE
                            WHEN d.has_blocking AND coalesce(d.copying_us >= z.cost_us, TRUE)
                                THEN 'blocking_copies'
                        END
                WHEN a.lost_us > 0 AND d.explained_us >= 0.5 * a.lost_us THEN d.costliest
                WHEN a.rule = 'low_utilization_periods' AND d.has_gaps THEN 'device_gaps'
            END
        FROM device_rules AS a
        INNER JOIN lost AS d
            ON a.run = d.run AND a.worker = d.worker AND a.span = d.span
        LEFT JOIN pageable AS z ON a.run = z.run AND a.worker = z.worker AND a.span = z.span
        UNION ALL
        SELECT
            s.run,
            s.worker,
            s.span,
            s.rule,
            s.severity,
            s.value,
            s.threshold,
            s.message,
            s.cost_us,
            s.confidence,
            s.explained_by
        FROM served AS s
        WHERE s.fires
    ),

    recorded AS (
        SELECT s.run, s.worker, s.span, bool_or(s.step IS NOT NULL) AS has_steps
        FROM steps AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span
    ),

    -- Each rule of a worker is reported for the recording in which it is worst. What is left out explains nothing;
    -- a straggler is another worker.
    ranked AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.rule,
            a.severity,
            a.value,
            a.threshold,
            CASE
                WHEN w.has_steps OR s.run IS NOT NULL THEN a.message
                -- Without steps only stragglers can say whether workers wait for each other in turn.
                ELSE
                    replace(
                        replace(
                            replace(
                                replace(a.message, ' mean step', ' recording'),
                                'each step waits',
                                'each worker waits'
                            ),
                            'lists the collectives.',
                            'lists the collectives, and stragglers says who comes last to them.'
                        ),
                        'says how much is hidden.',
                        'says how much is hidden, and stragglers says who comes last.'
                    )
            END AS message,
            w.has_steps OR s.run IS NOT NULL AS has_steps,
            a.cost_us,
            a.confidence,
            CASE
                WHEN
                    a.explained_by = 'straggler' OR list_contains(
                        list(a.rule) OVER (PARTITION BY a.run, a.worker, a.span), a.explained_by
                    )
                    THEN a.explained_by
            END AS explained_by,
            row_number() OVER (
                PARTITION BY a.run, a.worker, a.rule
                ORDER BY a.cost_us DESC NULLS LAST, a.value DESC, a.span ASC
            ) AS place
        FROM advice AS a
        LEFT JOIN recorded AS w
            ON a.run = w.run AND a.worker = w.worker AND a.span = w.span
        LEFT JOIN unrecorded_work(run, worker, span) AS u
            ON a.run = u.run AND a.worker = u.worker AND a.span = u.span
        LEFT JOIN (SELECT DISTINCT p.run, p.worker, p.span FROM served AS p) AS s
            ON a.run = s.run AND a.worker = s.worker AND a.span = s.span
        WHERE
            (u.is_capture OR u.is_partial OR s.run IS NOT NULL) IS NOT TRUE
            OR a.rule NOT IN (
                'device_setup',
                'optimizer',
                'launch_bound',
                'outside_operators',
                'small_kernels',
                'low_gpu_utilization',
                'device_gaps',
                'low_utilization_periods',
                'blocking_copies',
                'excessive_synchronization'
            )
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
                    || CASE WHEN r.has_steps THEN ' ms per step.' ELSE ' ms.' END
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
