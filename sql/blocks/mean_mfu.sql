-- block: mean_mfu
-- since: 0.1
-- summary: Model FLOPs utilization (MFU) of the mean step of each trace.
-- grain: one row per trace in which the MFU of every complete step is known
-- uses: mfu_v1, percentage
--
-- The figure is that of mfu for all complete steps together. A step without a figure would make it too low, so a
-- trace with such a step has no row.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   mfu_pct  DOUBLE  pct  Time that the operations of the steps would take at the peak of the device, as a share of the steps.
CREATE MACRO mean_mfu(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        m.run,
        m.worker,
        m.span,
        percentage(sum(m.ideal_us), sum(m.step_us)) AS mfu_pct
    FROM mfu_v1(run := run, worker := worker, span := span) AS m
    WHERE NOT m.is_tail
    GROUP BY m.run, m.worker, m.span
    HAVING count(m.mfu_pct) = count(*);
