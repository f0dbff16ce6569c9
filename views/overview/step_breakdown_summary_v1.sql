-- view: step_breakdown_summary
-- version: 1
-- since: 0.1
-- summary: Where the time of the mean step went, one row per category.
-- grain: one row per trace and category
-- distributes: trace
-- order: run, worker, span, list_position(['kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other', 'total'], category)
-- carries: spark
-- empty: The trace has no complete step, and no events with a duration outside of steps: record for longer, and {record events}.
-- uses: mean_steps, percentage
-- example: samples --run ddp_gloo --worker rank0
-- reading: Nearly half of the mean step is communication, and a third waits for data.
--
-- The means are over the rows of step_breakdown that are not tail steps. Categories are listed by
-- priority, as in step_breakdown; the eight of them add up to 'total'. A category that was not recorded
-- is NULL.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   category   VARCHAR  key  'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other' or 'total'.
--   mean_us    DOUBLE   us   Time per step of the category.
--   share_pct  DOUBLE   pct  Its share of the mean step.
CREATE MACRO step_breakdown_summary_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    categories AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.total_us,
            unnest([
                { 'position': 1, 'category': 'kernel', 'mean_us': m.kernel_us },
                { 'position': 2, 'category': 'memcpy', 'mean_us': m.memcpy_us },
                { 'position': 3, 'category': 'memset', 'mean_us': m.memset_us },
                { 'position': 4, 'category': 'communication', 'mean_us': m.communication_us },
                { 'position': 5, 'category': 'runtime', 'mean_us': m.runtime_us },
                { 'position': 6, 'category': 'dataloader', 'mean_us': m.dataloader_us },
                { 'position': 7, 'category': 'cpu_exec', 'mean_us': m.cpu_exec_us },
                { 'position': 8, 'category': 'other', 'mean_us': m.other_us },
                { 'position': 9, 'category': 'total', 'mean_us': m.total_us }
            ]) AS entry
        FROM mean_steps(run, worker, span) AS m
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.entry.category,
        c.entry.mean_us,
        percentage(c.entry.mean_us, c.total_us) AS share_pct
    FROM categories AS c
    ORDER BY c.run, c.worker, c.span, c.entry.position;
