-- view: flop_stats
-- version: 1
-- since: 0.1
-- summary: Floating-point operations that CUPTI counted, per kernel, operator or module.
-- distributes: worker
-- order: self_flops DESC, total_flops DESC, run, worker, span, name
-- needs: no_counters
-- empty: No kernel has counters: {record counters}.
-- uses: checked_choice, first_id, kernel_counters_v1, module_costs, module_events, percentage, profiled_kernels, trace_names
-- example: samples --run gpt_counters --limit 6
-- reading: Matrix products (nvjet) and attention (cudnn) do 91 % of all operations.
--
-- Operations are those of CUDA cores and tensor cores, as far as their counters were recorded, as in kernel_counters.
-- The self figure of an operator or module covers the kernels for which it is the innermost one around the
-- launch. The total adds everything inside it; an operator or module nested in itself counts once. Modules
-- are the Python frames that the profiler marks with a module, so backward passes belong to none. Kernels
-- outside of operators or modules, and kernels whose launch is unknown, are one row with a NULL name.
--
-- params
--   name      type     unit  default   meaning
--   run, worker, span
--   group_by  VARCHAR  -     'kernel'  'kernel', 'operator' or 'module'.
--   per_span
-- columns
--   name            type     unit  meaning
--   run, worker, span
--   name            VARCHAR  key   Name of the kernel or operator; for a module, its class and its number within the class.
--   kernels         BIGINT   -     Number of kernels in total_flops.
--   self_flops      DOUBLE   -     Operations of its own kernels.
--   total_flops     DOUBLE   -     Operations of its own kernels and of everything inside it.
--   share_pct       DOUBLE   pct   Share of self_flops in all operations of the same run, worker and span.
--   cumulative_pct  DOUBLE   pct   Running sum of share_pct, this row included.
CREATE MACRO flop_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'kernel',
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    kernels_counted AS MATERIALIZED (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.event_id,
            k.kernel_name,
            k.flops,
            first_id(t.names, k.run, k.worker, k.span) + coalesce(k.launch_id, k.op_id) AS launch_id
        FROM profiled_kernels(run, worker, span) AS k
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE k.flops IS NOT NULL
    ),

    modules AS MATERIALIZED (
        SELECT
            first_id(t.names, m.run, m.worker, m.span) + m.event_id AS id,
            string_split(m.path, ';') AS names
        FROM module_costs(run, worker, span) AS m
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE group_by = 'module'
    ),

    -- What is around each kernel, outermost first.
    around AS (
        SELECT k.run, k.worker, k.span, k.flops, [k.kernel_name] AS names
        FROM kernels_counted AS k
        WHERE group_by = 'kernel'
        UNION ALL
        SELECT k.run, k.worker, k.span, k.flops, k.op_stack
        FROM kernel_counters_v1(run, worker, span) AS k
        WHERE group_by = 'operator' AND k.flops IS NOT NULL
        UNION ALL
        SELECT k.run, k.worker, k.span, k.flops, m.names
        FROM kernels_counted AS k
        LEFT JOIN module_events(run, worker, span) AS e
            ON group_by = 'module' AND k.launch_id = e.id
        LEFT JOIN modules AS m ON e.module_id = m.id
        WHERE group_by = 'module'
    ),

    shares AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.flops,
            a.names[-1] AS own_name,
            unnest(CASE WHEN len(a.names) > 0 THEN list_distinct(a.names) ELSE [NULL] END) AS name
        FROM around AS a
    ),

    grouped AS (
        SELECT
            s.run,
            s.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN s.span END AS span,
            s.name,
            count(*) AS kernels,
            coalesce(sum(s.flops) FILTER (WHERE s.name IS NOT DISTINCT FROM s.own_name), 0)
                AS self_flops,
            sum(s.flops) AS total_flops
        FROM shares AS s
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.kernels,
        g.self_flops,
        g.total_flops,
        percentage(g.self_flops, sum(g.self_flops) OVER of_trace) AS share_pct,
        percentage(sum(g.self_flops) OVER so_far, sum(g.self_flops) OVER of_trace) AS cumulative_pct
    FROM grouped AS g
    WHERE
        (
            SELECT c.is_allowed
            FROM checked_choice('group_by', group_by, ['kernel', 'operator', 'module']) AS c
        )
    WINDOW
        of_trace AS (PARTITION BY g.run, g.worker, g.span),
        so_far AS (
            PARTITION BY g.run, g.worker, g.span
            ORDER BY g.self_flops DESC, g.total_flops DESC, g.name ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY
        g.self_flops DESC, g.total_flops DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.name ASC;
