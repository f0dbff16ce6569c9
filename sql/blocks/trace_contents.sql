-- block: trace_contents
-- since: 0.1
-- summary: What each trace recorded, and what is missing in it.
-- grain: one row per trace
-- uses: is_known_category, is_wanted
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name              type     unit  meaning
--   operators         BIGINT   -     Number of operators; NULL without host events.
--   is_foreign        BOOLEAN  -     Whether it is a Chrome trace without the version that Kineto writes, and has host events, but no event of a kind that the PyTorch profiler records.
--   has_shapes        BOOLEAN  -     Whether any host event has input shapes.
--   has_stacks        BOOLEAN  -     Whether any host event has a call stack or is a Python frame.
--   has_frames        BOOLEAN  -     Whether any host event is a Python frame: frames come with those of modules.
--   has_modules       BOOLEAN  -     Whether any host event belongs to a module.
--   lacks_lightning   BOOLEAN  -     Whether PyTorch Lightning ran without the rows of its profiler.
--   partial_overlaps  BIGINT   -     Number of host events that end after the event in which they started; NULL for none.
--   launches          BIGINT   -     Number of launches whose kernels are missing; NULL for none.
--   orphans           BIGINT   -     Number of device events whose launch is missing; NULL without device events.
--   has_early_work    BOOLEAN  -     Whether there are device events whose launch is missing, and all of them start before those with a launch.
--   replays           BIGINT   -     Number of device events that a graph replayed; NULL without device events.
--   has_steps         BOOLEAN  -     Whether the trace has a numbered step.
--   is_empty          BOOLEAN  -     Whether nothing ran in its numbered steps.
--   has_memory        BOOLEAN  -     Whether the trace has memory records.
--   has_counters      BOOLEAN  -     Whether the trace has CUPTI counters.
CREATE MACRO trace_contents(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _files AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            coalesce(t.source, 'kineto') = 'kineto' AND t.schema_version IS NULL AS may_be_foreign,
            row_number() OVER () << 40 AS first_id
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ),

    _host AS MATERIALIZED (
        SELECT
            f.first_id,
            f.first_id + h.event_id AS id,
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND contains(h.name, 'Launch')
            AND (contains(h.name, 'Kernel') OR contains(h.name, 'Graph')) AS is_launch,
            contains(h.name, 'Graph') AS is_graph,
            h.category = 'cpu_op' AS is_operator,
            is_known_category(h.category) AS is_known,
            h.input_dims IS NOT NULL AS has_shapes,
            h.call_stack IS NOT NULL OR h.category = 'python_function' AS has_stack,
            h.category = 'python_function' AS is_frame,
            h.python_module_id IS NOT NULL OR h.module_hierarchy IS NOT NULL AS has_module,
            starts_with(h.name, '[pl]') AS is_lightning,
            h.category = 'python_function'
            AND (contains(h.name, 'pytorch_lightning/') OR contains(h.name, 'lightning/pytorch/'))
                AS is_lightning_frame
        FROM host_events AS h
        INNER JOIN _files AS f ON h.run = f.run AND h.worker = f.worker AND h.span = f.span
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _device AS MATERIALIZED (
        SELECT
            f.first_id,
            f.first_id + d.launch_id AS launch_id,
            d.start_ns,
            d.graph_id > 0 AS is_replay
        FROM device_events AS d
        INNER JOIN _files AS f ON d.run = f.run AND d.worker = f.worker AND d.span = f.span
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _host_facts AS (
        SELECT
            h.first_id,
            count(*) FILTER (WHERE h.is_operator) AS operators,
            bool_or(h.is_known) AS has_known_kinds,
            bool_or(h.has_shapes) AS has_shapes,
            bool_or(h.has_stack) AS has_stacks,
            bool_or(h.is_frame) AS has_frames,
            bool_or(h.has_module) AS has_modules,
            bool_or(h.is_lightning_frame) AND NOT bool_or(h.is_lightning) AS lacks_lightning
        FROM _host AS h
        GROUP BY h.first_id
    ),

    _overlapping AS (
        -- One event may outlive several. It is identified by its start: of two events that start together,
        -- the shorter one is inside the longer one.
        SELECT c.first_id, count(*) AS partial_overlaps
        FROM (
            SELECT DISTINCT f.first_id, h.pid, h.tid, h.overlap_start_ns
            FROM host_events AS h
            INNER JOIN _files AS f ON h.run = f.run AND h.worker = f.worker AND h.span = f.span
            WHERE
                h.overlap_start_ns IS NOT NULL
                AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS c
        GROUP BY c.first_id
    ),

    -- Also rows of waits and annotations: no other program writes them.
    _on_device AS (
        SELECT DISTINCT d.run, d.worker, d.span
        FROM device_events AS d
        WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _launches AS (
        SELECT h.first_id, count(*) AS without_kernels
        FROM _host AS h
        ANTI JOIN _device AS d ON h.id = d.launch_id
        WHERE h.is_launch
        GROUP BY h.first_id
    ),

    _device_facts AS (
        SELECT
            d.first_id,
            count(*) FILTER (WHERE d.launch_id IS NULL) AS without_launches,
            max(d.start_ns) FILTER (WHERE d.launch_id IS NULL)
            < min(d.start_ns) FILTER (WHERE d.launch_id IS NOT NULL) AS has_early_work,
            count(*) FILTER (WHERE d.is_replay OR h.is_graph) AS replays
        FROM _device AS d
        LEFT JOIN _host AS h ON d.launch_id = h.id AND h.is_launch
        GROUP BY d.first_id
    ),

    _stepped AS (
        -- A tail step follows a whole one, unless it is the only step and nothing ran in it.
        SELECT s.run, s.worker, s.span, bool_and(s.is_tail IS TRUE) AS is_empty
        FROM steps AS s
        WHERE
            s.step IS NOT NULL
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span
    ),

    _remembered AS (
        SELECT DISTINCT m.run, m.worker, m.span
        FROM memory_records AS m
        WHERE is_wanted(m.run, m.worker, m.span, run, worker, span)
    ),

    _counted AS (
        SELECT DISTINCT c.run, c.worker, c.span
        FROM counters AS c
        WHERE is_wanted(c.run, c.worker, c.span, run, worker, span)
    )

    SELECT
        f.run,
        f.worker,
        f.span,
        h.operators,
        coalesce(f.may_be_foreign AND NOT h.has_known_kinds AND e.run IS NULL, FALSE) AS is_foreign,
        h.has_shapes,
        h.has_stacks,
        h.has_frames,
        h.has_modules,
        h.lacks_lightning,
        o.partial_overlaps,
        l.without_kernels AS launches,
        d.without_launches AS orphans,
        coalesce(d.has_early_work, FALSE) AS has_early_work,
        d.replays,
        s.run IS NOT NULL AS has_steps,
        coalesce(s.is_empty, FALSE) AS is_empty,
        r.run IS NOT NULL AS has_memory,
        n.run IS NOT NULL AS has_counters
    FROM _files AS f
    LEFT JOIN _host_facts AS h ON f.first_id = h.first_id
    LEFT JOIN _device_facts AS d ON f.first_id = d.first_id
    LEFT JOIN _on_device AS e ON f.run = e.run AND f.worker = e.worker AND f.span = e.span
    LEFT JOIN _launches AS l ON f.first_id = l.first_id
    LEFT JOIN _overlapping AS o ON f.first_id = o.first_id
    LEFT JOIN _stepped AS s ON f.run = s.run AND f.worker = s.worker AND f.span = s.span
    LEFT JOIN _remembered AS r ON f.run = r.run AND f.worker = r.worker AND f.span = r.span
    LEFT JOIN _counted AS n ON f.run = n.run AND f.worker = n.worker AND f.span = n.span;
