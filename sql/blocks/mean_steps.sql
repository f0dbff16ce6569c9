-- block: mean_steps
-- since: 0.1
-- summary: The mean step of each trace by category.
-- grain: one row per trace with a complete step; a trace without steps counts as one step
-- uses: step_breakdown_v1
--
-- The means are over the rows of step_breakdown that are not tail steps. A category that was not recorded is
-- NULL.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   steps             BIGINT  -   Number of steps.
--   kernel_us         DOUBLE  us  Time per step of each category, as in step_breakdown.
--   memcpy_us         DOUBLE  us  Copies.
--   memset_us         DOUBLE  us  Memsets.
--   communication_us  DOUBLE  us  Collectives.
--   runtime_us        DOUBLE  us  Runtime and driver calls.
--   dataloader_us     DOUBLE  us  The data loader.
--   cpu_exec_us       DOUBLE  us  Other operators and annotations.
--   other_us          DOUBLE  us  The rest.
--   total_us          DOUBLE  us  Length of the step.
CREATE MACRO mean_steps(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        b.run,
        b.worker,
        b.span,
        count(*) AS steps,
        avg(b.kernel_us) AS kernel_us,
        avg(b.memcpy_us) AS memcpy_us,
        avg(b.memset_us) AS memset_us,
        avg(b.communication_us) AS communication_us,
        avg(b.runtime_us) AS runtime_us,
        avg(b.dataloader_us) AS dataloader_us,
        avg(b.cpu_exec_us) AS cpu_exec_us,
        avg(b.other_us) AS other_us,
        avg(b.total_us) AS total_us
    FROM step_breakdown_v1(run := run, worker := worker, span := span) AS b
    WHERE NOT b.is_tail
    GROUP BY b.run, b.worker, b.span;
