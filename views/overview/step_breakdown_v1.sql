-- view: step_breakdown
-- version: 1
-- since: 0.1
-- summary: Where the time of each step went; each instant counts in one category.
-- grain: one row per profiler step of a trace; one row with a NULL step for a trace without steps
-- distributes: trace
-- order: run, worker, span, step
-- carries: spark
-- empty: No event with a duration was recorded: {record events}.
-- uses: is_wanted
-- example: samples --run ddp_gloo
-- reading: In step 3 rank 1 loads data for longer than rank 0, which spends that time in collectives: it waits.
--
-- Each instant of a step is assigned to the first of these categories that is active: kernels (device
-- work other than collectives), copies, memsets, communication (collectives on the device, and those of
-- Gloo and MPI on the host, where they run), runtime and driver calls, the data loader, other operators
-- and annotations. The rest is 'other'. So the eight categories add up to the length of the step:
-- kernel_us is the time in which any kernel ran, and cpu_exec_us only the time that no category before it
-- covers.
--
-- Host rows that only launch a collective on a device (nccl: rows, and the c10d operators around them)
-- count as other operators, unless the trace has no kernels. So communication is the same as in
-- comm_overlap, which explains how the two views agree.
--
-- A step ends when the last device work that it launched ends, and starts no earlier than the end of the
-- step before it. A tail step is one that the end of the recording cut short, as the table steps defines it;
-- averages leave it out.
--
-- NULL means not recorded: the three device columns if the trace has neither device events nor
-- runtime calls, runtime_us if it has no such calls, dataloader_us and cpu_exec_us if it has neither
-- operators nor annotations. The other columns still add up to the total.
--
-- The data loader is what PyTorch's profiler annotates as enumerate(DataLoader)#. A recording of tracewh.record.dataloader
-- has the same waits and adds none. Waits for other loaders, such as those of torchdata, and waits in files of MindData,
-- whose clock is not known to be that of the steps, are not in dataloader_us: data_preparation_summary has them, and
-- recommendations counts them per step.
--
-- The definition is that of the TensorBoard profiler plugin, with four corrections: steps that are busy
-- throughout are not counted twice, driver calls and all collectives are known, host rows that launch
-- a collective do not count as communication, and a trace without a device may have a tail step, too.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step to report; NULL reports all.
-- columns
--   run, worker, span
--   name              type     unit  meaning
--   step              BIGINT   key   Number of the step; NULL where the trace has no steps.
--   kernel_us         DOUBLE   us    Kernels were running.
--   memcpy_us         DOUBLE   us    Copies to, from or within a device, and none of the above.
--   memset_us         DOUBLE   us    Memsets of device memory, and none of the above.
--   communication_us  DOUBLE   us    Collectives, and none of the above.
--   runtime_us        DOUBLE   us    Runtime or driver calls, and none of the above.
--   dataloader_us     DOUBLE   us    Waiting for the data loader, and none of the above.
--   cpu_exec_us       DOUBLE   us    Operators and annotations on the host, and none of the above.
--   other_us          DOUBLE   us    Nothing was recorded.
--   total_us          DOUBLE   us    Length of the step.
--   is_tail           BOOLEAN  -     Whether the step was cut short by the end of the recording and is left out of averages.
CREATE MACRO step_breakdown_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    activity AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.step_event_id,
            a.duration_ns,
            -- The first active role gets the time.
            CASE
                WHEN a.kernel THEN 'kernel'
                WHEN a.memcpy THEN 'memcpy'
                WHEN a.memset THEN 'memset'
                WHEN a.device_communication OR a.host_communication THEN 'communication'
                WHEN a.runtime THEN 'runtime'
                WHEN a.dataloader THEN 'dataloader'
                ELSE 'cpu_exec'
            END AS owner,
            a.kernel OR a.memcpy OR a.memset OR a.device_communication AS device,
            a.runtime,
            a.host_communication OR a.dataloader OR a.cpu_exec AS host
        FROM step_activity AS a
        WHERE is_wanted(a.run, a.worker, a.span, run, worker, span)
    ),

    costs AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.step_event_id,
            sum(a.duration_ns) FILTER (WHERE a.owner = 'kernel') AS kernel_ns,
            sum(a.duration_ns) FILTER (WHERE a.owner = 'memcpy') AS memcpy_ns,
            sum(a.duration_ns) FILTER (WHERE a.owner = 'memset') AS memset_ns,
            sum(a.duration_ns) FILTER (WHERE a.owner = 'communication') AS communication_ns,
            sum(a.duration_ns) FILTER (WHERE a.owner = 'runtime') AS runtime_ns,
            sum(a.duration_ns) FILTER (WHERE a.owner = 'dataloader') AS dataloader_ns,
            sum(a.duration_ns) FILTER (WHERE a.owner = 'cpu_exec') AS cpu_exec_ns,
            sum(a.duration_ns) AS busy_ns
        FROM activity AS a
        GROUP BY ALL
    ),

    recorded AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            bool_or(a.device OR a.runtime) AS device,
            bool_or(a.runtime) AS runtime,
            bool_or(a.host) AS host
        FROM activity AS a
        GROUP BY ALL
    ),

    trace_steps AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.name,
            s.event_id,
            s.extended_start_ns AS start_ns,
            s.extended_end_ns - s.extended_start_ns AS duration_ns,
            s.is_tail
        FROM steps AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
    ),

    -- Such a step is an annotation that activity leaves out. Of JAX it is an event of no known kind, as all others are.
    stepped AS (
        SELECT DISTINCT t.run, t.worker, t.span
        FROM trace_steps AS t
        LEFT JOIN recorded AS e ON t.run = e.run AND t.worker = e.worker AND t.span = e.span
        WHERE t.step IS NOT NULL AND (e.run IS NOT NULL OR starts_with(t.name, 'ProfilerStep#'))
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.step,
        CASE WHEN e.device THEN coalesce(c.kernel_ns, 0) / 1000.0 END AS kernel_us,
        CASE WHEN e.device THEN coalesce(c.memcpy_ns, 0) / 1000.0 END AS memcpy_us,
        CASE WHEN e.device THEN coalesce(c.memset_ns, 0) / 1000.0 END AS memset_us,
        coalesce(c.communication_ns, 0) / 1000.0 AS communication_us,
        CASE WHEN e.runtime THEN coalesce(c.runtime_ns, 0) / 1000.0 END AS runtime_us,
        CASE WHEN e.host OR n.run IS NOT NULL THEN coalesce(c.dataloader_ns, 0) / 1000.0 END
            AS dataloader_us,
        CASE WHEN e.host OR n.run IS NOT NULL THEN coalesce(c.cpu_exec_ns, 0) / 1000.0 END
            AS cpu_exec_us,
        (t.duration_ns - coalesce(c.busy_ns, 0)) / 1000.0 AS other_us,
        t.duration_ns / 1000.0 AS total_us,
        t.is_tail
    FROM trace_steps AS t
    LEFT JOIN recorded AS e ON t.run = e.run AND t.worker = e.worker AND t.span = e.span
    LEFT JOIN stepped AS n ON t.run = n.run AND t.worker = n.worker AND t.span = n.span
    LEFT JOIN costs AS c
        ON
            t.run = c.run AND t.worker = c.worker AND t.span = c.span
            AND t.event_id IS NOT DISTINCT FROM c.step_event_id
    WHERE step IS NULL OR t.step = step
    ORDER BY t.run, t.worker, t.span, t.start_ns, t.event_id;
