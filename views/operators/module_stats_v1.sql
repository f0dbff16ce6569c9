-- view: module_stats
-- version: 1
-- since: 0.1
-- summary: Host and device time of each nn.Module.
-- distributes: worker
-- order: device_total_us DESC, host_total_us DESC, run, worker, span, module, module_id
-- needs: no_modules
-- empty: No call of an nn.Module was recorded: {record modules}.
-- notes: replay_notes
-- uses: module_costs, percentage, replayed_modules
-- example: samples --run resnet_workers_0 --span 1 --limit 8
-- reading: The network ran five times, once per step; its total includes the modules inside it.
--
-- A module is an instance of a class; the number in its name identifies it. Its calls are the Python
-- frames that the profiler marks with a module. Backward passes have no such frames, so the figures
-- cover forward calls only.
--
-- Host self time is the time of a call without the modules, operators, annotations, runtime calls and driver
-- calls inside it, that is, the time of Python. Device time is a plain sum in which overlapping kernels count
-- twice. It belongs to the innermost module around the launch. Totals include the modules inside; a module
-- that calls itself counts again. Shares are of self time. Each recording numbers its modules again, and
-- modules of the same name are treated as the same.
--
-- Kernels that a CUDA or HIP graph replayed belong to the module that was open when they were captured, if the capture is
-- known (see graph_replays). Such a module has device time, but no calls and no host time of the replay.
--
-- The module view of the TensorBoard plugin has the same figures, except for errors on traces after 2021:
-- it does not know launches through the driver, it loses events that seem to end after their parent, and
-- it assigns every launch without an operator's number to the first event without one.
--
-- params
--   run, worker, span
--   per_span
-- columns
--   name              type     unit  meaning
--   run, worker, span
--   module            VARCHAR  key   Class of the module and its number within the class, e.g. 'Linear_0'.
--   module_id         BIGINT   key   The number in the name.
--   depth             INTEGER  -     Number of modules around it; the smallest of its calls.
--   occurrences       BIGINT   -     Number of calls.
--   operators         BIGINT   -     Number of operators that its calls call directly, not through another module or operator.
--   host_self_us      DOUBLE   us    Host time of the module itself.
--   host_total_us     DOUBLE   us    Host time from start to end.
--   device_self_us    DOUBLE   us    Device work launched in it; NULL where the trace does not link device work to the host.
--   device_total_us   DOUBLE   us    The same, with the modules inside it.
--   host_share_pct    DOUBLE   pct   Share of host_self_us in the sum of all listed rows of the same run, worker and span.
--   device_share_pct  DOUBLE   pct   The same for device_self_us.
--   replayed_us       DOUBLE   us    Part of device_self_us that graphs replayed.
CREATE MACRO module_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    costs AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.module,
            c.module_id,
            c.depth,
            1 AS calls,
            0 AS replays,
            c.operators,
            c.host_self_ns,
            c.host_total_ns,
            c.device_self_ns,
            c.device_total_ns
        FROM module_costs(run, worker, span, 'module') AS c
        UNION ALL
        SELECT
            r.run,
            r.worker,
            r.span,
            r.module,
            r.module_id,
            r.depth,
            0,
            r.replays,
            0,
            0,
            0,
            r.device_self_ns,
            r.device_total_ns
        FROM replayed_modules(run, worker, span) AS r
    ),

    grouped AS (
        SELECT
            c.run,
            c.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN c.span END AS span,
            c.module,
            c.module_id,
            min(c.depth) AS depth,
            sum(c.calls)::BIGINT AS occurrences,
            sum(c.operators)::BIGINT AS operators,
            sum(c.host_self_ns) AS host_self_ns,
            sum(c.host_total_ns) AS host_total_ns,
            sum(c.device_self_ns) AS device_self_ns,
            sum(c.device_total_ns) AS device_total_ns,
            sum(CASE WHEN c.replays > 0 THEN c.device_self_ns ELSE 0 END) AS replayed_ns
        FROM costs AS c
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.module,
        g.module_id,
        g.depth,
        g.occurrences,
        g.operators,
        g.host_self_ns / 1000.0 AS host_self_us,
        g.host_total_ns / 1000.0 AS host_total_us,
        g.device_self_ns / 1000.0 AS device_self_us,
        g.device_total_ns / 1000.0 AS device_total_us,
        percentage(g.host_self_ns, sum(g.host_self_ns) OVER of_trace) AS host_share_pct,
        percentage(g.device_self_ns, sum(g.device_self_ns) OVER of_trace) AS device_share_pct,
        g.replayed_ns / 1000.0 AS replayed_us
    FROM grouped AS g
    WINDOW of_trace AS (PARTITION BY g.run, g.worker, g.span)
    ORDER BY
        g.device_total_ns DESC NULLS LAST,
        g.host_total_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.module ASC, g.module_id ASC;
