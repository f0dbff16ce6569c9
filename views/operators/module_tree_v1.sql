-- view: module_tree
-- version: 1
-- since: 0.1
-- summary: Each call of an nn.Module, in order of time, nested under the modules that call it.
-- distributes: trace
-- order: run, worker, span, start_ns, depth, event_id
-- needs: no_modules
-- empty: No call of an nn.Module was recorded: record with ProfilerActivity.CPU, with_stack=True and with_modules=True.
-- uses: module_costs
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The first forward pass, from the whole network inwards.
--
-- The single calls that module_stats sums up. A path with its self time is a line of a flame graph:
--
--     SELECT path || ' ' || round(device_self_us) FROM module_tree() WHERE device_self_us > 0
--
-- params
--   name  type  unit  default  meaning
--   run, worker, span
-- columns
--   name             type     unit  meaning
--   run, worker, span
--   path             VARCHAR  -     Names of the modules around the call and its own name, outermost first, separated by ';'.
--   module           VARCHAR  -     Class of the module and its number within the class, e.g. 'Linear_0'.
--   depth            INTEGER  -     Number of modules around it.
--   start_ns         BIGINT   ns    When it started, nanoseconds since the epoch.
--   module_id        BIGINT   -     Number of the module within its class.
--   operators        BIGINT   -     Number of operators that it calls directly, not through another module or operator.
--   host_self_us     DOUBLE   us    Host time of the call itself.
--   host_total_us    DOUBLE   us    Host time from start to end.
--   device_self_us   DOUBLE   us    Device work launched in it; NULL where the trace does not link device work to the host.
--   device_total_us  DOUBLE   us    The same, with the modules inside it.
--   event_id         BIGINT   key   The call in host_events.
CREATE MACRO module_tree_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    SELECT
        c.run,
        c.worker,
        c.span,
        c.path,
        c.module,
        c.depth,
        c.start_ns,
        c.module_id,
        c.operators,
        c.host_self_ns / 1000.0 AS host_self_us,
        c.host_total_ns / 1000.0 AS host_total_us,
        c.device_self_ns / 1000.0 AS device_self_us,
        c.device_total_ns / 1000.0 AS device_total_us,
        c.event_id
    FROM module_costs(run, worker, span, 'module') AS c
    ORDER BY
        c.run ASC, c.worker ASC, c.span ASC, c.start_ns ASC, c.depth ASC, c.event_id ASC;
