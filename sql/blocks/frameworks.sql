-- block: frameworks
-- since: 0.1
-- summary: What each trace ran: training or not, and which of torch's ways to use several devices.
-- grain: one row per trace with operators, annotations or kernels that compute
-- uses: is_wanted
--
-- Training has a backward pass or an optimizer: operators of autograd, whose names have Backward or
-- _backward in them, and annotations of optimizers, Optimizer.step#... Where graphs are replayed there are
-- neither, and the kernels tell: those of backward passes, of gradients of weights, and of fused optimizers.
-- Other names serve both: the kernel of a convolution's backward pass also runs a transposed convolution.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name               type     unit  meaning
--   has_data_parallel  BOOLEAN  -     Whether DataParallel ran.
--   has_ddp            BOOLEAN  -     Whether DistributedDataParallel ran.
--   has_nccl           BOOLEAN  -     Whether the host called NCCL.
--   trains             BOOLEAN  -     Whether a backward pass or an optimizer ran; what does not train is inference.
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
            bool_or(starts_with(h.name, 'nccl:')) AS has_nccl,
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
            bool_or(
                regexp_matches(d.name, 'ackward|wgrad|wrw|flash_bwd|fmha_bwd|FusedAdam|FusedSgd')
            )
        FROM device_events AS d
        WHERE
            d.kind = 'compute'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        bool_or(s.has_data_parallel) AS has_data_parallel,
        bool_or(s.has_ddp) AS has_ddp,
        bool_or(s.has_nccl) AS has_nccl,
        coalesce(bool_or(s.trains), FALSE) AS trains
    FROM _signs AS s
    GROUP BY s.run, s.worker, s.span;
