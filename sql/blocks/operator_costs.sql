-- block: operator_costs
-- since: 0.1
-- summary: Host and device time of each call of an operator.
-- grain: one row per cpu_op call; a chain of only children of the same name is one call
-- uses: is_wanted
--
-- An operator whose only child is an operator of the same name forms one call with it. The outer row
-- represents both, with the duration of the outer row and the costs of both.
--
-- Host self time is the duration of the call without the operators, annotations, runtime calls and driver
-- calls inside it. Device time is the plain sum of the launched kernels, copies and memsets, without regard
-- to overlap; synchronisations are not work and are left out. A launch belongs to the nearest operator
-- around it, even if an annotation is in between, as in the profiler's own links.
--
-- Ingest computes all of this; the block only reads host_events.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                   type     unit  meaning
--   event_id               BIGINT   key   Row of the call in host_events, the outermost if it has several.
--   name                   VARCHAR  -     Name of the operator.
--   input_dims             JSON     -     Shape of each input of the outermost row.
--   call_stack             VARCHAR  -     Python frames of the outermost row, innermost first.
--   input_types            VARCHAR[]  -   Type of each input of the outermost row.
--   input_strides          JSON     -     Strides of each input of the outermost row.
--   concrete_inputs        VARCHAR[]  -   Value of each scalar input of the outermost row.
--   pid                    VARCHAR  -     Process of the call.
--   tid                    VARCHAR  -     Thread of the call.
--   depth                  INTEGER  -     Number of events around it on the thread.
--   start_ns               BIGINT   ns    Start of the call.
--   host_self_ns           BIGINT   ns    Duration without the operators, annotations and calls inside it.
--   host_total_ns          BIGINT   ns    Duration of the call.
--   device_self_ns         BIGINT   ns    Device work that it launched itself; NULL if the trace does not link device work to operators.
--   device_total_ns        BIGINT   ns    The same, with the operators below it.
--   tensor_core_self_ns    BIGINT   ns    Part of device_self_ns in kernels that use tensor cores.
--   tensor_core_total_ns   BIGINT   ns    Part of device_total_ns in such kernels.
--   unknown_self_ns        BIGINT   ns    Part of device_self_ns in kernels whose names do not tell whether they use tensor cores.
--   unknown_total_ns       BIGINT   ns    Part of device_total_ns in such kernels.
--   tensor_core_eligible   BOOLEAN  -     Whether it or an operator below it can use tensor cores.
CREATE MACRO operator_costs(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        h.run,
        h.worker,
        h.span,
        h.event_id,
        h.name,
        h.input_dims,
        h.call_stack,
        h.input_types,
        h.input_strides,
        h.concrete_inputs,
        h.pid,
        h.tid,
        h.depth,
        h.start_ns,
        h.self_duration_ns + h.inner_self_ns AS host_self_ns,
        h.duration_ns AS host_total_ns,
        h.plain_self_ns + h.tensor_core_self_ns + h.unknown_self_ns AS device_self_ns,
        h.plain_self_ns + h.plain_below_ns + h.tensor_core_self_ns + h.tensor_core_below_ns
        + h.unknown_self_ns + h.unknown_below_ns AS device_total_ns,
        h.tensor_core_self_ns,
        h.tensor_core_self_ns + h.tensor_core_below_ns AS tensor_core_total_ns,
        h.unknown_self_ns,
        h.unknown_self_ns + h.unknown_below_ns AS unknown_total_ns,
        h.tensor_core_eligible
    FROM host_events AS h
    WHERE
        h.inner_self_ns IS NOT NULL
        AND is_wanted(h.run, h.worker, h.span, run, worker, span);
