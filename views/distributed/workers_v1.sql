-- view: workers
-- version: 1
-- since: 0.1
-- summary: The mean step of each worker beside those of the others, and how long the others wait for it.
-- grain: one row per trace with a complete step; a trace without steps counts as one step
-- distributes: run
-- order: run, span, lateness_us DESC, step_us DESC, worker
-- empty: No trace has a complete step, or an event with a duration outside of steps: record for longer, and {record events}.
-- uses: is_wanted, mean_steps, stragglers_v1
-- example: samples --run ddp_gloo
-- reading: Both workers have steps of equal length, because each waits for the other in collectives. The one that comes last most often waits the least itself.
--
-- Where the steps of a job contain collectives, the steps of all workers take equally long. The worker that
-- holds the others up is then not the one with the longest steps, but the one with the most lateness and the
-- least communication.
--
-- Times are means per step as in step_breakdown_summary. Lateness is that of stragglers, for the whole
-- recording.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name              type     unit  meaning
--   rank              INTEGER  -     Rank in the job; NULL if it is not recorded.
--   steps             BIGINT   -     Number of complete steps.
--   step_us           DOUBLE   us    Mean length of a step.
--   kernel_us         DOUBLE   us    Time per step in which kernels ran other than collectives; NULL if the device was not recorded.
--   memcpy_us         DOUBLE   us    Copies ran, and nothing of the above; NULL in the same case.
--   memset_us         DOUBLE   us    Memsets ran, and nothing of the above; NULL in the same case.
--   communication_us  DOUBLE   us    Collectives ran, and nothing of the above: communication that nothing hides.
--   runtime_us        DOUBLE   us    Runtime or driver calls ran, and nothing of the above; NULL if none were recorded.
--   dataloader_us     DOUBLE   us    The data loader ran, and nothing of the above; NULL if the host was not recorded.
--   cpu_exec_us       DOUBLE   us    Other operators or annotations ran, and nothing of the above; NULL in the same case.
--   other_us          DOUBLE   us    None of these ran.
--   lateness_us       DOUBLE   us    Sum of the time that others waited for it; NULL if no collective tells.
--   lateness_pct      DOUBLE   pct   Its share of the lateness of all workers.
--   waited_by         BIGINT   -     Number of workers that waited for it.
CREATE MACRO workers_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        m.run,
        m.worker,
        m.span,
        t.rank,
        m.steps,
        m.total_us AS step_us,
        m.kernel_us,
        m.memcpy_us,
        m.memset_us,
        m.communication_us,
        m.runtime_us,
        m.dataloader_us,
        m.cpu_exec_us,
        m.other_us,
        s.lateness_us,
        s.share_pct AS lateness_pct,
        s.waited_by
    FROM mean_steps(run, worker, span) AS m
    INNER JOIN traces AS t ON m.run = t.run AND m.worker = t.worker AND m.span = t.span
    LEFT JOIN stragglers_v1(run := run, worker := worker, span := span) AS s
        ON m.run = s.run AND m.worker = s.worker AND m.span = s.span AND s.step IS NULL
    WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ORDER BY
        m.run ASC, m.span ASC, s.lateness_us DESC, m.total_us DESC, m.worker ASC;
