-- block: replay_targets
-- since: 0.1
-- summary: What the changes of a replay name: time of threads, and work on devices.
-- grain: one row per change, and work or range of time on a thread
-- uses: first_id, is_wanted, merged_intervals, trace_names
--
-- - kernels: kernels other than collectives whose name matches the pattern. collectives and device: likewise,
--   collectives and all work.
-- - launches: the calls that launch work. loader: the events in which a thread gets the next batch. host: all
--   time of threads.
-- - operators, modules and lines: the time in which such an event is open on its thread, with all that runs
--   in it, and the work of the calls that start meanwhile. So a module with the factor 0.8 takes 0.8 times as
--   long on its thread, and so does the work that it launches.
--
-- A module is given by the names of modules from outer to inner, with `/` between: the last names of its path in
-- module_costs. A name may be without its number, and lower and upper case are the same: `/encoder` is each
-- module of a class Encoder, `layer_0/linear` each Linear directly in Layer_0. Only calls are recorded, so the
-- backward pass of a module does not count.
--
-- A line is that of a function, if Python frames were recorded, and then the time is that of the function.
-- Otherwise it is any line in the call stack of an operator. A file may be without folders before it.
--
-- params
--   name     type     unit  default  meaning
--   changes  VARCHAR  -     -        Name of a relation with number (1 or more), change and target, as of parsed_changes, and trace: the only trace that changes, or NULL for all.
--   events   VARCHAR  -     -        Name of a relation, as of replay_events.
--   work     VARCHAR  -     -        Name of a relation, as of replay_work.
--   run, worker, span
-- columns
--   name      type    unit  meaning
--   number    BIGINT  key   As given; 0 for the time in which a thread loads data.
--   trace     BIGINT  -     Number of the trace, as in trace_names.
--   lane      BIGINT  key   Thread; NULL for work.
--   start_ns  BIGINT  ns    Start of the range; NULL for work.
--   end_ns    BIGINT  ns    End of the range; NULL for work.
--   id        BIGINT  key   The work, as in replay_work; NULL for a range of time.
CREATE MACRO replay_targets(
    changes VARCHAR,
    events VARCHAR,
    work VARCHAR,
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _changes AS MATERIALIZED (
        SELECT
            c.number,
            c.trace,
            c.change,
            c.target,
            '/' || replace(regexp_escape(trim(lower(c.target), '/')), '\/', '(_\d+)?/')
            || '(_\d+)?$' AS path,
            regexp_extract(c.target, '^(.+):([0-9]+)$', ['file', 'line']) AS place
        FROM query_table(changes) AS c
        UNION ALL
        -- For replay_changes, which asks where a change covers data loading.
        SELECT 0, NULL, 'loading', NULL, NULL, NULL
    ),

    _stacks AS MATERIALIZED (
        SELECT
            s.first_id + s.stack_id AS id,
            s.first_id + s.outer_stack_id AS outer_id,
            s.category,
            s.name,
            starts_with(s.name, 'nn.Module: ') AS is_module,
            replace(s.source_file, '\', '/') AS file,
            s.source_line AS line
        FROM (
            SELECT s.*, first_id(t.names, s.run, s.worker, s.span) AS first_id
            FROM stacks AS s
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        ) AS s
        WHERE s.category IN ('cpu_op', 'python_function', 'user_annotation')
    ),

    -- The modules around each stack.
    _paths AS (
        SELECT
            s.id,
            s.is_module,
            CASE WHEN s.is_module THEN '/' || lower(substr(s.name, 12)) ELSE '' END AS path
        FROM _stacks AS s
        WHERE
            s.outer_id IS NULL
            AND 'module' IN (SELECT c.change FROM _changes AS c)
        UNION ALL
        SELECT
            s.id,
            s.is_module,
            p.path || CASE WHEN s.is_module THEN '/' || lower(substr(s.name, 12)) ELSE '' END
        FROM _paths AS p
        INNER JOIN _stacks AS s ON p.id = s.outer_id
    ),

    -- Operators with the same stack have the same call stack.
    _called AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.stack_id AS id,
            any_value(replace(h.call_stack, '\', '/')) AS call_stack
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            h.call_stack IS NOT NULL
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
            AND 'line' IN (SELECT c.change FROM _changes AS c)
        GROUP BY ALL
    ),

    _named AS MATERIALIZED (
        SELECT c.number, s.id
        FROM _changes AS c
        INNER JOIN _stacks AS s ON coalesce(s.name LIKE c.target, TRUE)
        WHERE
            c.change = 'operators'
            AND s.category = 'cpu_op'
            AND coalesce(c.trace = s.id >> 40, TRUE)
        UNION ALL
        SELECT c.number, p.id
        FROM _changes AS c
        INNER JOIN _paths AS p ON regexp_matches(p.path, c.path)
        WHERE
            c.change = 'module'
            AND p.is_module
            AND coalesce(c.trace = p.id >> 40, TRUE)
        UNION ALL
        SELECT c.number, s.id
        FROM _changes AS c
        INNER JOIN _stacks AS s ON s.line = try_cast(c.place.line AS INTEGER)
        WHERE
            c.change = 'line'
            AND s.category = 'python_function'
            AND coalesce(c.trace = s.id >> 40, TRUE)
            AND ends_with('/' || s.file, '/' || replace(c.place.file, '\', '/'))
        UNION ALL
        SELECT c.number, s.id
        FROM _changes AS c
        INNER JOIN _called AS s
            ON
                regexp_matches(
                    s.call_stack,
                    '(^|[;/])' || regexp_escape(replace(c.place.file, '\', '/'))
                    || '\(0*' || c.place.line || '\): '
                )
        WHERE c.change = 'line' AND coalesce(c.trace = s.id >> 40, TRUE)
    ),

    _opened AS (
        SELECT
            h.first_id,
            h.pid,
            h.tid,
            n.number,
            h.start_ns,
            h.end_ns
        FROM (
            SELECT
                first_id(t.names, h.run, h.worker, h.span) AS first_id,
                h.stack_id,
                h.pid,
                h.tid,
                h.start_ns,
                h.start_ns + h.duration_ns AS end_ns
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                h.category IN ('cpu_op', 'python_function')
                AND h.stack_id IS NOT NULL
                AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS h
        INNER JOIN _named AS n ON h.first_id + h.stack_id = n.id
    ),

    _times AS (
        SELECT o.number, e.lane, o.start_ns, o.end_ns
        FROM _opened AS o
        INNER JOIN (
            SELECT DISTINCT e.trace, e.lane, e.pid, e.tid FROM query_table(events) AS e
        ) AS e
            ON
                o.first_id = e.trace << 40
                AND o.pid IS NOT DISTINCT FROM e.pid
                AND o.tid IS NOT DISTINCT FROM e.tid
        UNION ALL
        SELECT c.number, e.lane, e.start_ns, e.end_ns
        FROM _changes AS c
        INNER JOIN query_table(events) AS e ON e.is_loading
        WHERE c.change IN ('loader', 'loading') AND coalesce(c.trace = e.trace, TRUE)
        UNION ALL
        SELECT DISTINCT c.number, w.call_lane, w.call_ns, w.call_end_ns
        FROM _changes AS c
        INNER JOIN query_table(work) AS w ON w.call_id IS NOT NULL
        WHERE c.change = 'launches' AND coalesce(c.trace = w.trace, TRUE)
        UNION ALL
        SELECT c.number, e.lane, min(e.start_ns), max(e.end_ns)
        FROM _changes AS c
        CROSS JOIN query_table(events) AS e
        WHERE c.change = 'host' AND coalesce(c.trace = e.trace, TRUE)
        GROUP BY c.number, e.lane
    ),

    -- Change and thread are one number.
    _intervals AS (
        SELECT
            (t.number::BIGINT << 32) + t.lane AS key,
            t.start_ns,
            t.end_ns - t.start_ns AS duration_ns
        FROM _times AS t
        WHERE t.end_ns > t.start_ns
    ),

    _merged AS MATERIALIZED (
        SELECT
            c.number,
            l.trace,
            l.lane,
            m.start_ns,
            m.start_ns + m.duration_ns AS end_ns,
            c.change IN ('operators', 'module', 'line') AS takes_work
        FROM merged_intervals('_intervals') AS m
        INNER JOIN (SELECT DISTINCT e.trace, e.lane FROM query_table(events) AS e) AS l
            ON m.key & (1::BIGINT << 32) - 1 = l.lane
        INNER JOIN _changes AS c ON m.key >> 32 = c.number AND coalesce(c.trace = l.trace, TRUE)
    ),

    _launched AS (
        SELECT
            m.number,
            w.trace,
            w.id,
            w.call_ns < m.end_ns AS is_inside
        FROM (
            SELECT l.number, w.trace, w.id, w.call_lane AS lane, w.call_ns
            FROM query_table(work) AS w
            INNER JOIN (
                SELECT DISTINCT m.number, m.lane FROM _merged AS m WHERE m.takes_work
            ) AS l
                ON w.call_lane = l.lane
        ) AS w
        ASOF INNER JOIN _merged AS m
            ON w.number = m.number AND w.lane = m.lane AND w.call_ns >= m.start_ns
    )

    SELECT m.number, m.trace, m.lane, m.start_ns, m.end_ns, NULL::BIGINT AS id
    FROM _merged AS m
    UNION ALL
    SELECT l.number, l.trace, NULL, NULL, NULL, l.id
    FROM _launched AS l
    WHERE l.is_inside
    UNION ALL
    SELECT c.number, d.first_id >> 40, NULL, NULL, NULL, d.first_id + d.event_id
    FROM _changes AS c
    INNER JOIN (
        SELECT first_id(t.names, d.run, d.worker, d.span) AS first_id, d.event_id, d.kind, d.name
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ) AS d
        ON
            CASE c.change
                WHEN 'device' THEN TRUE
                WHEN 'kernels' THEN d.kind = 'compute'
                WHEN 'collectives' THEN d.kind = 'communication'
                ELSE FALSE
            END
            AND (c.target IS NULL OR d.name LIKE c.target)
    WHERE d.first_id IS NOT NULL AND coalesce(c.trace = d.first_id >> 40, TRUE);
