-- block: kernels_of_side
-- since: 0.1
-- summary: Kernels of one side of a comparison, per trace, as kernel_stats counts.
-- grain: one row per trace and group of kernels
-- uses: kernels_in_parts, kernel_stats_v1
--
-- A NULL for the run names no run, where a view would report all of them.
--
-- params
--   name      type     unit  default  meaning
--   rel       VARCHAR  -     -        Name of the relation that block_parts gives.
--   on_side   VARCHAR  -     -        The side, 'baseline' or 'experiment'.
--   run       VARCHAR  -     -        The run of that side.
--   worker    VARCHAR  -     -        Worker of that side; NULL takes all.
--   span      VARCHAR  -     -        Recording of that side; NULL takes all.
--   group_by  VARCHAR  -     -        As in kernel_stats.
--   block     VARCHAR  -     -        Path of a block of diff_modules: only what lies in the parts; NULL takes all.
-- columns
--   name                  type       unit   meaning
--   side                  VARCHAR    key    As given.
--   worker                VARCHAR    key    Worker of the trace.
--   span                  VARCHAR    key    Its span.
--   name                  VARCHAR    key    Name of the kernel.
--   operator              VARCHAR    key    Operator that launched it; NULL unless grouped by 'launch', as the next four.
--   grid                  INTEGER[]  key    Blocks in x, y and z.
--   block                 INTEGER[]  key    Threads per block in x, y and z.
--   registers_per_thread  INTEGER    key    Registers each thread uses.
--   shared_memory_bytes   BIGINT     bytes  Shared memory each block uses.
--   calls                 BIGINT     -      How often it ran.
--   total_us              DOUBLE     us     Sum of the durations.
CREATE MACRO kernels_of_side(
    rel VARCHAR,
    on_side VARCHAR,
    run VARCHAR,
    worker VARCHAR,
    span VARCHAR,
    group_by VARCHAR,
    block VARCHAR
) AS TABLE
    SELECT
        on_side AS side,
        s.worker,
        s.span,
        s.name,
        s.operator,
        s.grid,
        s.block,
        s.registers_per_thread,
        s.shared_memory_bytes,
        s.calls,
        s.total_us
    FROM
        kernel_stats_v1(
            run := run, worker := worker, span := span, group_by := group_by, per_span := TRUE
        ) AS s
    WHERE s.run = run AND block IS NULL
    UNION ALL
    SELECT
        p.side,
        p.worker,
        p.span,
        p.name,
        p.operator,
        p.grid,
        p.block,
        p.registers_per_thread,
        p.shared_memory_bytes,
        p.calls,
        p.total_us
    FROM kernels_in_parts(rel, on_side, run, group_by) AS p
    WHERE block IS NOT NULL;
