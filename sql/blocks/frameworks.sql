-- block: frameworks
-- since: 0.1
-- summary: Whether each trace is training or inference, and how torch used several devices.
-- grain: one row per trace with operators, annotations or compute kernels
-- uses: is_wanted
--
-- Training has a backward pass or an optimizer: autograd operators, with Backward or _backward in their
-- names, or annotations of optimizers (Optimizer.step#...). Replayed graphs have neither, and neither has a recording
-- of kernels alone, but the kernels tell: those of backward passes, of weight gradients, and of fused optimizers.
-- Other names are ambiguous: the kernel of a convolution's backward pass also runs a transposed convolution.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name               type     unit  meaning
--   has_data_parallel  BOOLEAN  -     Whether DataParallel ran.
--   has_ddp            BOOLEAN  -     Whether DistributedDataParallel ran.
--   has_fsdp           BOOLEAN  -     Whether FullyShardedDataParallel or fully_shard ran.
--   has_dtensor        BOOLEAN  -     Whether functional collectives ran, as DTensor calls them for tensor parallelism.
--   has_nccl           BOOLEAN  -     Whether the host called NCCL.
--   loads_in_process   BOOLEAN  -     Whether the process that trains makes every batch itself, as with num_workers=0; NULL without a data loader.
--   is_compiled        BOOLEAN  -     Whether code that torch.compile made ran.
--   trains             BOOLEAN  -     Whether a backward pass or an optimizer ran; otherwise it is inference.
CREATE MACRO frameworks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _signs AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            bool_or(h.name = 'DataParallel.forward') AS has_data_parallel,
            bool_or(h.name = 'DistributedDataParallel.forward') AS has_ddp,
            bool_or(
                starts_with(h.name, 'FSDP::') OR starts_with(h.name, 'FullyShardedDataParallel.')
            ) AS has_fsdp,
            bool_or(starts_with(h.name, '_c10d_functional::')) AS has_dtensor,
            bool_or(starts_with(h.name, 'nccl:')) AS has_nccl,
            bool_and(starts_with(h.name, 'enumerate(DataLoader)#_SingleProcess')) FILTER (
                WHERE starts_with(h.name, 'enumerate(DataLoader)#')
            ) AS loads_in_process,
            bool_or(
                starts_with(h.name, 'Torch-Compiled Region')
                OR starts_with(h.name, 'CompiledFunction')
                OR starts_with(h.name, '## Call CompiledFxGraph')
            ) AS is_compiled,
            bool_or(contains(h.name, 'ackward') OR starts_with(h.name, 'Optimizer.')) AS trains
        FROM host_events AS h
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        GROUP BY h.run, h.worker, h.span
        UNION ALL
        SELECT
            d.run,
            d.worker,
            d.span,
            FALSE,
            FALSE,
            FALSE,
            FALSE,
            FALSE,
            NULL,
            FALSE,
            bool_or(
                regexp_matches(
                    d.name,
                    'ackward|wgrad|wrw|flash_bwd|fmha_bwd|FusedAdam|FusedSgd'
                    || '|^Apply(Ada|Ftrl|GradientDescent|Momentum|RMSProp)'
                    || '|BackpropFilter|AttentionScoreGrad'
                )
            )
        -- The pattern takes longer than finding the names, of which there are few.
        FROM (
            SELECT DISTINCT k.run, k.worker, k.span, k.name
            FROM device_events AS k
            WHERE
                k.kind = 'compute'
                AND is_wanted(k.run, k.worker, k.span, run, worker, span)
        ) AS d
        GROUP BY d.run, d.worker, d.span
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        bool_or(s.has_data_parallel) AS has_data_parallel,
        bool_or(s.has_ddp) AS has_ddp,
        bool_or(s.has_fsdp) AS has_fsdp,
        bool_or(s.has_dtensor) AS has_dtensor,
        bool_or(s.has_nccl) AS has_nccl,
        bool_and(s.loads_in_process) AS loads_in_process,
        bool_or(s.is_compiled) AS is_compiled,
        coalesce(bool_or(s.trains), FALSE) AS trains
    FROM _signs AS s
    GROUP BY s.run, s.worker, s.span;
