-- block: frameworks
-- since: 0.1
-- summary: Which of torch's ways to use several devices each trace ran.
-- grain: one row per trace with operators or annotations
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name               type     unit  meaning
--   has_data_parallel  BOOLEAN  -     Whether DataParallel ran.
--   has_ddp            BOOLEAN  -     Whether DistributedDataParallel ran.
--   has_nccl           BOOLEAN  -     Whether the host called NCCL.
CREATE MACRO frameworks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        h.run,
        h.worker,
        h.span,
        bool_or(h.name = 'DataParallel.forward') AS has_data_parallel,
        bool_or(h.name = 'DistributedDataParallel.forward') AS has_ddp,
        bool_or(starts_with(h.name, 'nccl:')) AS has_nccl
    FROM host_events AS h
    WHERE
        h.category IN ('cpu_op', 'user_annotation')
        AND (run IS NULL OR h.run = run)
        AND (worker IS NULL OR h.worker = worker)
        AND (span IS NULL OR h.span = span)
    GROUP BY h.run, h.worker, h.span;
