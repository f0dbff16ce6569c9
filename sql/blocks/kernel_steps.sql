-- block: kernel_steps
-- since: 0.1
-- summary: Time of each kernel in each step.
-- grain: one row per step of a trace that is not a tail step, and kernel launched in it
-- uses: event_steps, first_id, is_wanted, matched_replays, operator_names, trace_names
--
-- A kernel belongs to the step that contains its launch call, as in kernel_stats with a step. The single
-- step of a trace without steps has all its kernels.
--
-- params
--   name      type     unit  default  meaning
--   run, worker, span
--   group_by  VARCHAR  -     'name'   As in kernel_stats: 'name' or 'launch'.
--   name      VARCHAR  -     NULL     One kernel; NULL reports all.
-- columns
--   run, worker, span
--   step                  BIGINT     key    Number of the step; NULL if the trace has none.
--   name                  VARCHAR    key    Name of the kernel.
--   operator              VARCHAR    key    Operator or annotation that launched it; this and the next four columns are NULL unless grouped by 'launch'.
--   grid                  INTEGER[]  key    Blocks in x, y and z.
--   block                 INTEGER[]  key    Threads per block in x, y and z.
--   registers_per_thread  INTEGER    key    Registers per thread.
--   shared_memory_bytes   BIGINT     bytes  Shared memory per block.
--   calls                 BIGINT     -      Number of launches in the step.
--   total_ns              BIGINT     ns     Sum of the durations.
CREATE MACRO kernel_steps(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'name',
    name VARCHAR := NULL
) AS TABLE
    WITH
    _launches AS MATERIALIZED (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _placed AS (
        SELECT s.id, s.step
        FROM event_steps('_launches', run, worker, span) AS s
        INNER JOIN _launches AS l ON s.id = l.id
        WHERE NOT s.is_tail AND s.step IS NOT NULL AND l.end_ns <= s.step_end_ns
    ),

    _stepless AS (
        SELECT s.run, s.worker, s.span
        FROM steps AS s
        WHERE s.step IS NULL
    ),

    _kernels AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.name,
            d.grid,
            d.block,
            d.registers_per_thread,
            d.shared_memory_bytes,
            d.duration_ns,
            first_id(t.names, d.run, d.worker, d.span) AS trace,
            d.launch_id,
            d.event_id,
            d.op_id
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication')
            AND (name IS NULL OR d.name = name)
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    )

    SELECT
        k.run,
        k.worker,
        k.span,
        p.step,
        k.name,
        CASE WHEN group_by = 'launch' THEN coalesce(r.operator, o.operator) END AS operator,
        CASE WHEN group_by = 'launch' THEN k.grid END AS grid,
        CASE WHEN group_by = 'launch' THEN k.block END AS block,
        CASE WHEN group_by = 'launch' THEN k.registers_per_thread END AS registers_per_thread,
        CASE WHEN group_by = 'launch' THEN k.shared_memory_bytes END AS shared_memory_bytes,
        count(*) AS calls,
        sum(k.duration_ns)::BIGINT AS total_ns
    FROM _kernels AS k
    LEFT JOIN _placed AS p ON k.trace + k.launch_id = p.id
    LEFT JOIN _stepless AS s ON k.run = s.run AND k.worker = s.worker AND k.span = s.span
    LEFT JOIN operator_names(run, worker, span) AS o
        ON group_by = 'launch' AND k.trace + k.op_id = o.id
    LEFT JOIN matched_replays(run, worker, span) AS r
        ON
            group_by = 'launch' AND k.run = r.run AND k.worker = r.worker AND k.span = r.span
            AND k.event_id = r.event_id
    WHERE p.id IS NOT NULL OR s.run IS NOT NULL
    GROUP BY ALL;
