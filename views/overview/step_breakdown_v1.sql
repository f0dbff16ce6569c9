-- view: step_breakdown
-- version: 1
-- since: 0.1
-- summary: Where the time of each step went, every instant counted once.
-- grain: one row per profiler step of a trace; one row with a NULL step for a trace without any
-- uses: event_roles interval_sweep
--
-- An instant of a step belongs to the first of these that is active then: kernels (device work that
-- is no collective), copies, fills, communication (collectives on the device, and on the host the
-- rows of the nccl:, gloo:, mpi: and c10d:: collectives), runtime and driver calls, the data loader,
-- other operators and annotations. What is left is 'other'. So the eight add up to the length of the
-- step, kernel_us is the time in which any kernel ran, and cpu_exec_us only the time that nothing
-- above it hides.
--
-- A step lasts until the last device work that it launched ends, and begins no earlier than the step
-- before it ends. A tail step is one that recording cut short; averages leave it out.
--
-- NULL means not recorded: the three of the device where a trace has neither device events nor
-- runtime calls, runtime_us where it has no such calls, the data loader and the operators where it
-- has neither operators nor annotations. The rest still adds up to the total.
--
-- The definition is that of the TensorBoard profiler plugin, without its double counting where a step
-- is busy throughout, and with driver calls and every collective known.
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
--   memcpy_us         DOUBLE   us    Copies to, from or within a device, and nothing of the above.
--   memset_us         DOUBLE   us    Fills of device memory, and nothing of the above.
--   communication_us  DOUBLE   us    Collectives, and nothing of the above.
--   runtime_us        DOUBLE   us    Calls into the runtime or driver, and nothing of the above.
--   dataloader_us     DOUBLE   us    Waiting for the data loader, and nothing of the above.
--   cpu_exec_us       DOUBLE   us    Operators and annotations on the host, and nothing of the above.
--   other_us          DOUBLE   us    Nothing that was recorded.
--   total_us          DOUBLE   us    Length of the step.
--   is_tail           BOOLEAN  -     Whether the step is cut short and left out of averages.
CREATE MACRO step_breakdown_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    trace_steps AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.extended_start_ns AS start_ns,
            s.extended_end_ns - s.extended_start_ns AS duration_ns,
            s.is_tail,
            dense_rank() OVER (ORDER BY s.run, s.worker, s.span) AS trace,
            row_number() OVER (
                PARTITION BY s.run, s.worker, s.span ORDER BY s.extended_start_ns, s.event_id
            ) AS slot
        FROM steps AS s
        WHERE
            (run IS NULL OR s.run = run)
            AND (worker IS NULL OR s.worker = worker)
            AND (span IS NULL OR s.span = span)
    ),

    -- Numbers sort many times faster than three texts.
    numbered AS MATERIALIZED (
        SELECT t.run, t.worker, t.span, t.trace, bool_or(t.step IS NOT NULL) AS has_steps
        FROM trace_steps AS t
        GROUP BY ALL
    ),

    roles AS MATERIALIZED (
        SELECT n.trace, r.role, r.on_device, r.start_ns, r.duration_ns
        FROM event_roles(run := run, worker := worker, span := span) AS r
        INNER JOIN numbered AS n
            ON r.run = n.run AND r.worker = n.worker AND r.span = n.span
    ),

    -- A digit of 15 bits for each role, the first role in the highest: whichever digit leads names
    -- the owner of a piece.
    intervals AS (
        SELECT
            r.trace AS key,
            0 AS slot,
            1::HUGEINT << CASE r.role
                WHEN 'kernel' THEN 90
                WHEN 'memcpy' THEN 75
                WHEN 'memset' THEN 60
                WHEN 'communication' THEN 45
                WHEN 'runtime' THEN 30
                WHEN 'dataloader' THEN 15
                ELSE 0
            END AS weight,
            r.start_ns,
            r.duration_ns
        FROM roles AS r
        UNION ALL
        SELECT t.trace, t.slot, 0, t.start_ns, t.duration_ns
        FROM trace_steps AS t
        WHERE step IS NULL OR t.step = step
    ),

    owned AS (
        SELECT
            p.key AS trace,
            p.slot,
            CASE
                WHEN p.weight >= 1::HUGEINT << 90 THEN 'kernel'
                WHEN p.weight >= 1::HUGEINT << 75 THEN 'memcpy'
                WHEN p.weight >= 1::HUGEINT << 60 THEN 'memset'
                WHEN p.weight >= 1::HUGEINT << 45 THEN 'communication'
                WHEN p.weight >= 1::HUGEINT << 30 THEN 'runtime'
                WHEN p.weight >= 1::HUGEINT << 15 THEN 'dataloader'
                WHEN p.weight > 0 THEN 'cpu_exec'
                ELSE 'other'
            END AS role,
            sum(p.duration_ns) AS owned_ns
        FROM interval_sweep('intervals') AS p
        WHERE p.slot > 0
        GROUP BY ALL
    ),

    costs AS (
        SELECT
            o.trace,
            o.slot,
            sum(o.owned_ns) FILTER (WHERE o.role = 'kernel') AS kernel_ns,
            sum(o.owned_ns) FILTER (WHERE o.role = 'memcpy') AS memcpy_ns,
            sum(o.owned_ns) FILTER (WHERE o.role = 'memset') AS memset_ns,
            sum(o.owned_ns) FILTER (WHERE o.role = 'communication') AS communication_ns,
            sum(o.owned_ns) FILTER (WHERE o.role = 'runtime') AS runtime_ns,
            sum(o.owned_ns) FILTER (WHERE o.role = 'dataloader') AS dataloader_ns,
            sum(o.owned_ns) FILTER (WHERE o.role = 'cpu_exec') AS cpu_exec_ns,
            sum(o.owned_ns) FILTER (WHERE o.role = 'other') AS other_ns
        FROM owned AS o
        GROUP BY ALL
    ),

    recorded AS (
        SELECT
            r.trace,
            bool_or(r.on_device OR r.role = 'runtime') AS device,
            bool_or(r.role = 'runtime') AS runtime,
            bool_or(NOT r.on_device AND r.role <> 'runtime') AS host
        FROM roles AS r
        GROUP BY r.trace
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
        CASE WHEN e.host OR n.has_steps THEN coalesce(c.dataloader_ns, 0) / 1000.0 END
            AS dataloader_us,
        CASE WHEN e.host OR n.has_steps THEN coalesce(c.cpu_exec_ns, 0) / 1000.0 END AS cpu_exec_us,
        coalesce(c.other_ns, 0) / 1000.0 AS other_us,
        t.duration_ns / 1000.0 AS total_us,
        t.is_tail
    FROM trace_steps AS t
    INNER JOIN numbered AS n ON t.trace = n.trace
    LEFT JOIN recorded AS e ON t.trace = e.trace
    LEFT JOIN costs AS c ON t.trace = c.trace AND t.slot = c.slot
    WHERE step IS NULL OR t.step = step
    ORDER BY t.run, t.worker, t.span, t.start_ns, t.slot;
