-- view: lightning_stats
-- version: 1
-- since: 0.1
-- summary: Host and device time of each module and hook of PyTorch Lightning.
-- distributes: worker
-- order: device_total_us DESC, host_total_us DESC, run, worker, span, kind, module
-- needs: no_lightning
-- empty: PyTorch Lightning's profiler wrote no rows: record with Trainer(profiler=PyTorchProfiler(...)); module_stats has the modules of a job without Lightning.
-- uses: module_costs, percentage
-- example: lightning --limit 8
--
-- Lightning's PyTorchProfiler writes a row for each call of a module that has a name in the
-- LightningModule, and for each action of the trainer. Modules are listed by their dotted names. Kind
-- 'hook' covers all actions: hooks of the LightningModule, of callbacks and of the strategy, and the steps
-- of the training loop. A call is nested in the modules, or hooks, around it.
--
-- Host self time is the time of a call without the Lightning rows, operators, annotations, runtime calls and
-- driver calls inside it. Device time is a plain sum. It belongs to the innermost module and to the innermost
-- hook around the launch. Total time includes everything inside. So modules and hooks are two separate
-- breakdowns of the same time: do not add them up. A share is of the self time of rows of the same kind.
--
-- params
--   run, worker, span
--   per_span
-- columns
--   name              type     unit  meaning
--   run, worker, span
--   module            VARCHAR  key   Dotted name of the module, e.g. 'encoder.0', or name of the hook.
--   module_id         BIGINT   -     Always NULL, as Lightning does not number modules; the columns match those of module_stats.
--   depth             INTEGER  -     Number of modules, or hooks, around it; the smallest of its calls.
--   occurrences       BIGINT   -     Number of calls.
--   operators         BIGINT   -     Number of operators that its calls call directly, not through another module, hook or operator.
--   host_self_us      DOUBLE   us    Host time of the call itself.
--   host_total_us     DOUBLE   us    Host time from start to end.
--   device_self_us    DOUBLE   us    Device work launched in it; NULL where the trace does not link device work to the host.
--   device_total_us   DOUBLE   us    The same, with the modules, or hooks, inside it.
--   host_share_pct    DOUBLE   pct   Share of host_self_us in the sum of all listed rows of the same run, worker, span and kind.
--   device_share_pct  DOUBLE   pct   The same for device_self_us.
--   kind              VARCHAR  key   'module' or 'hook'.
CREATE MACRO lightning_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    calls AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.module,
            m.depth,
            m.operators,
            m.host_self_ns,
            m.host_total_ns,
            m.device_self_ns,
            m.device_total_ns,
            'module' AS kind
        FROM module_costs(run, worker, span, 'lightning_module') AS m
        UNION ALL
        SELECT
            h.run,
            h.worker,
            h.span,
            h.module,
            h.depth,
            h.operators,
            h.host_self_ns,
            h.host_total_ns,
            h.device_self_ns,
            h.device_total_ns,
            'hook' AS kind
        FROM module_costs(run, worker, span, 'lightning_hook') AS h
    ),

    grouped AS (
        SELECT
            c.run,
            c.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN c.span END AS span,
            c.module,
            min(c.depth) AS depth,
            count(*) AS occurrences,
            sum(c.operators)::BIGINT AS operators,
            sum(c.host_self_ns) AS host_self_ns,
            sum(c.host_total_ns) AS host_total_ns,
            sum(c.device_self_ns) AS device_self_ns,
            sum(c.device_total_ns) AS device_total_ns,
            c.kind
        FROM calls AS c
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.module,
        NULL::BIGINT AS module_id,
        g.depth,
        g.occurrences,
        g.operators,
        g.host_self_ns / 1000.0 AS host_self_us,
        g.host_total_ns / 1000.0 AS host_total_us,
        g.device_self_ns / 1000.0 AS device_self_us,
        g.device_total_ns / 1000.0 AS device_total_us,
        percentage(g.host_self_ns, sum(g.host_self_ns) OVER of_kind) AS host_share_pct,
        percentage(g.device_self_ns, sum(g.device_self_ns) OVER of_kind) AS device_share_pct,
        g.kind
    FROM grouped AS g
    WINDOW of_kind AS (PARTITION BY g.run, g.worker, g.span, g.kind)
    ORDER BY
        g.device_total_ns DESC NULLS LAST,
        g.host_total_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.kind ASC, g.module ASC;
