-- view: source_lines
-- version: 1
-- since: 0.1
-- summary: Host time, device time and allocations of each line of Python.
-- distributes: trace
-- order: is_waiting, host_self_us DESC, run, worker, span, source_file, source_line, source_function
-- needs: no_stacks
-- empty: No Python line was recorded: {record stacks}.
-- notes: replay_notes
-- uses: checked_choice, first_id, graph_kernels_v1, is_wanted, library_files, trace_names
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The function in record.py that reads an image costs more than the whole backward pass, which the training loop starts.
--
-- If Python frames were recorded, a line is that of a function definition. The figures are those of the
-- function, and line_kind is 'definition'. torch 2.14 also records the line of each call: CallFrom in args
-- of host_events.
-- Without frames, a line is the innermost one of an operator's call stack. The figures are those of the
-- operators that it ran, and line_kind is 'executed'.
--
-- With frame 'user', a library's lines count for the user's line that called them. Libraries are torch,
-- everything in site-packages, the standard library, and code that these generate (see the block
-- library_files). If no line of the user is around, as on the threads of autograd, the innermost line
-- counts, and is_library is TRUE. With frame 'innermost', every line counts for itself. With either value
-- the sums of self time, device work and memory are the same, and a function has the same calls and
-- total time.
--
-- Each instant on a thread is self time of the innermost line of code that is open. Operators, runtime
-- calls, builtin functions and everything else without a line count for the line that called them. So the
-- self times of a thread add up to the time in which any line was open. Total time is the time in which
-- the line was open; a line that calls itself counts once. An event that ends after the event in which it
-- started is a sibling of that event, under the parent of both. This concerns record_function ranges, which
-- start inside the function that opens them. Device work belongs to the innermost line around its launch,
-- and memory to the innermost line around the operator that allocated it. Releases do not count. Work that a
-- CUDA or HIP graph replayed belongs to the line that captured it, if the capture is known (see graph_replays).
--
-- A thread that waits for work is in a line of the standard library that does nothing else, such as wait of
-- threading.py, or in such a line of torch.compile's own threads. These lines have is_waiting and come last,
-- however long they take. With frame 'user', a wait that a user's line called is a part of that line, and
-- callee names it.
--
-- params
--   name   type     unit  default  meaning
--   run, worker, span
--   frame  VARCHAR  -     'user'   'user' for the innermost line outside of libraries, 'innermost' for the innermost of all lines.
-- columns
--   name             type     unit   meaning
--   run, worker, span
--   source_file      VARCHAR  key    File, as Python names it.
--   source_line      INTEGER  key    Line number.
--   source_function  VARCHAR  key    Name of the function.
--   line_kind        VARCHAR  -      'definition' or 'executed'.
--   calls            BIGINT   -      Calls of the function; for an executed line, the operators that it ran itself.
--   host_self_us     DOUBLE   us     Host time in which it was the innermost line; with frame 'user', the innermost line of the user.
--   host_total_us    DOUBLE   us     Host time in which it was open.
--   device_us        DOUBLE   us     Device work that it launched; NULL where the trace does not link device work to the host.
--   allocated_bytes  BIGINT   bytes  Memory that its operators allocated; NULL where memory was not recorded.
--   is_library       BOOLEAN  -      Whether the line belongs to a library.
--   callee           VARCHAR  -      The called library line with the most of host_self_us, as 'file(line): function'; NULL if the line itself has the most.
--   is_waiting       BOOLEAN  -      Whether it is a line of a library that only waits: for other threads, processes or connections.
--   replayed_us      DOUBLE   us     Part of device_us that graphs replayed.
CREATE MACRO source_lines_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    frame VARCHAR := 'user'
) AS TABLE
    WITH RECURSIVE
    with_lines AS MATERIALIZED (
        SELECT
            first_id(t.names, s.run, s.worker, s.span) AS first_id,
            bool_or(s.category = 'python_function') AS has_frames
        FROM stacks AS s
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            s.source_line IS NOT NULL
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY ALL
    ),

    read AS MATERIALIZED (
        SELECT
            r.*,
            r.first_id + r.stack_id AS id,
            w.has_frames
        FROM (
            SELECT
                first_id(t.names, s.run, s.worker, s.span) AS first_id,
                s.stack_id,
                s.outer_stack_id,
                s.category = 'python_function' AS is_frame,
                s.source_file,
                s.source_line,
                s.source_function,
                s.calls,
                s.self_duration_ns
            FROM stacks AS s
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        ) AS r
        INNER JOIN with_lines AS w ON r.first_id = w.first_id
    ),

    -- The call stacks of operators, if there are no frames: the operators of a stack have the same.
    written AS MATERIALIZED (
        SELECT c.call_stack, list(c.id) AS ids
        FROM (
            SELECT
                first_id(t.names, e.run, e.worker, e.span) + e.stack_id AS id,
                any_value(e.call_stack) AS call_stack
            FROM host_events AS e
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                frame = 'user'
                AND e.category = 'cpu_op'
                AND e.call_stack IS NOT NULL
                AND is_wanted(e.run, e.worker, e.span, run, worker, span)
            GROUP BY ALL
        ) AS c
        GROUP BY c.call_stack
    ),

    called AS MATERIALIZED (
        SELECT
            f.call_stack,
            f.position,
            f.place.source_file,
            try_cast(f.place.source_line AS INTEGER) AS source_line,
            f.place.source_function
        FROM (
            SELECT
                w.call_stack,
                unnest(range(1, len(string_split(w.call_stack, ';')) + 1)) AS position,
                regexp_extract(
                    unnest(string_split(w.call_stack, ';')),
                    '^(.*)\((\d+)\): (.*)$',
                    ['source_file', 'source_line', 'source_function']
                ) AS place
            FROM written AS w
        ) AS f
    ),

    files AS (
        SELECT r.source_file FROM read AS r
        UNION
        SELECT c.source_file FROM called AS c
    ),

    libraries AS MATERIALIZED (
        SELECT l.source_file FROM library_files('files') AS l
    ),

    -- The user's line of each call stack, and the line that it called.
    entered AS MATERIALIZED (
        SELECT
            unnest(w.ids) AS id,
            u.source_file,
            u.source_line,
            u.source_function,
            hash(b.source_file, b.source_line, b.source_function) AS callee_id,
            b.position IS NOT NULL AS has_callee
        FROM (
            SELECT c.call_stack, min(c.position) AS position
            FROM called AS c
            ANTI JOIN libraries AS l ON c.source_file = l.source_file
            WHERE c.source_line IS NOT NULL AND c.source_file <> ''
            GROUP BY c.call_stack
        ) AS p
        INNER JOIN called AS u ON p.call_stack = u.call_stack AND p.position = u.position
        INNER JOIN written AS w ON p.call_stack = w.call_stack
        LEFT JOIN called AS b
            ON
                p.call_stack = b.call_stack AND p.position - 1 = b.position
                AND b.source_line IS NOT NULL
    ),

    nodes AS MATERIALIZED (
        SELECT
            r.first_id,
            r.id,
            r.first_id + r.outer_stack_id AS outer_id,
            r.is_frame,
            coalesce(e.source_file, r.source_file) AS source_file,
            coalesce(e.source_line, r.source_line) AS source_line,
            coalesce(e.source_function, r.source_function) AS source_function,
            l.source_file IS NOT NULL AND e.id IS NULL AS is_library,
            CASE
                WHEN (r.is_frame OR NOT r.has_frames) AND r.source_line IS NOT NULL
                    THEN
                        hash(
                            coalesce(e.source_file, r.source_file),
                            coalesce(e.source_line, r.source_line),
                            coalesce(e.source_function, r.source_function)
                        )
            END AS line_id,
            CASE WHEN e.has_callee THEN e.callee_id END AS callee_id,
            r.calls,
            r.self_duration_ns
        FROM read AS r
        LEFT JOIN libraries AS l ON r.source_file = l.source_file
        LEFT JOIN entered AS e ON r.id = e.id AND NOT r.has_frames
    ),

    -- For each stack: the innermost line, the user's line and the line that it called, whether the last
    -- event enters a line, and all lines.
    placed AS (
        SELECT
            n.first_id,
            n.id,
            n.line_id AS inner_id,
            CASE WHEN NOT n.is_library THEN n.line_id END AS user_id,
            n.callee_id,
            n.line_id AS entry_id,
            CASE WHEN n.line_id IS NULL THEN [] ELSE [n.line_id] END AS line_ids,
            n.calls,
            n.self_duration_ns
        FROM nodes AS n
        WHERE n.outer_id IS NULL
        UNION ALL
        SELECT
            n.first_id,
            n.id,
            coalesce(n.line_id, o.inner_id) AS inner_id,
            CASE
                WHEN n.line_id IS NULL OR n.is_library THEN o.user_id ELSE n.line_id
            END AS user_id,
            CASE
                WHEN n.line_id IS NULL THEN o.callee_id
                WHEN NOT n.is_library THEN n.callee_id
                WHEN o.user_id IS NOT NULL THEN coalesce(o.callee_id, n.line_id)
            END AS callee_id,
            CASE
                WHEN n.is_frame OR (n.line_id IS DISTINCT FROM o.inner_id) THEN n.line_id
            END AS entry_id,
            CASE
                WHEN n.line_id IS NULL OR list_contains(o.line_ids, n.line_id) THEN o.line_ids
                ELSE list_append(o.line_ids, n.line_id)
            END AS line_ids,
            n.calls,
            n.self_duration_ns
        FROM placed AS o
        INNER JOIN nodes AS n ON o.id = n.outer_id
    ),

    counted AS (
        SELECT
            p.first_id,
            p.id,
            CASE WHEN frame = 'user' THEN coalesce(p.user_id, p.inner_id) ELSE p.inner_id END
                AS line_id,
            CASE WHEN frame = 'user' THEN p.callee_id END AS callee_id,
            p.entry_id,
            p.line_ids,
            p.calls,
            p.self_duration_ns
        FROM placed AS p
        WHERE (
            SELECT a.is_allowed
            FROM checked_choice('frame', frame, ['user', 'innermost']) AS a
        )
    ),

    replayed AS MATERIALIZED (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.event_id,
            k.source_file,
            k.source_line,
            k.source_function,
            k.is_library,
            (k.duration_us * 1000)::BIGINT AS duration_ns
        FROM graph_kernels_v1(run, worker, span, frame) AS k
        WHERE k.source_line IS NOT NULL
    ),

    replayed_lines AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.source_file,
            r.source_line,
            r.source_function,
            r.is_library,
            sum(r.duration_ns)::BIGINT AS device_ns
        FROM replayed AS r
        GROUP BY ALL
    ),

    -- A launch belongs to its call, or to the operator if the call is lost.
    happened AS MATERIALIZED (
        SELECT r.first_id, r.event_id, r.device_ns, r.bytes
        FROM (
            SELECT
                first_id(t.names, d.run, d.worker, d.span) AS first_id,
                coalesce(d.launch_id, d.op_id) AS event_id,
                d.duration_ns AS device_ns,
                NULL::BIGINT AS bytes
            FROM device_events AS d
            ANTI JOIN replayed AS p
                ON
                    d.run = p.run AND d.worker = p.worker AND d.span = p.span
                    AND d.event_id = p.event_id
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND coalesce(d.launch_id, d.op_id) IS NOT NULL
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
            UNION ALL
            SELECT
                first_id(t.names, m.run, m.worker, m.span) AS first_id,
                m.op_id AS event_id,
                NULL::BIGINT AS device_ns,
                greatest(m.bytes, 0) AS bytes
            FROM memory_records AS m
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(m.run, m.worker, m.span, run, worker, span)
        ) AS r
        INNER JOIN with_lines AS w ON r.first_id = w.first_id
    ),

    recorded AS (
        SELECT p.first_id, count(p.device_ns) > 0 AS has_device, count(p.bytes) > 0 AS has_memory
        FROM happened AS p
        GROUP BY p.first_id
    ),

    -- A CTE of its own; otherwise the planner groups all events before the join.
    amounts AS MATERIALIZED (
        SELECT h.first_id + h.stack_id AS id, p.device_ns, p.bytes
        FROM happened AS p
        INNER JOIN (
            SELECT
                first_id(t.names, e.run, e.worker, e.span) AS first_id,
                e.event_id,
                e.stack_id
            FROM host_events AS e
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(e.run, e.worker, e.span, run, worker, span)
        ) AS h ON p.first_id = h.first_id AND p.event_id = h.event_id
    ),

    by_stack AS (
        SELECT
            c.first_id,
            c.line_id,
            c.callee_id,
            NULL::BIGINT AS calls,
            c.self_duration_ns AS self_ns,
            NULL::BIGINT AS total_ns,
            NULL::BIGINT AS device_ns,
            NULL::BIGINT AS bytes
        FROM counted AS c
        UNION ALL
        SELECT c.first_id, c.entry_id, NULL, c.calls, NULL, NULL, NULL, NULL
        FROM counted AS c
        UNION ALL
        SELECT c.first_id, unnest(c.line_ids), NULL, NULL, NULL, c.self_duration_ns, NULL, NULL
        FROM counted AS c
        UNION ALL
        SELECT c.first_id, c.line_id, NULL, NULL, NULL, NULL, a.device_ns, a.bytes
        FROM counted AS c
        INNER JOIN (
            SELECT
                m.id, sum(m.device_ns)::BIGINT AS device_ns, sum(m.bytes)::BIGINT AS bytes
            FROM amounts AS m
            GROUP BY m.id
        ) AS a ON c.id = a.id
    ),

    by_callee AS MATERIALIZED (
        SELECT
            b.first_id,
            b.line_id,
            b.callee_id,
            sum(b.calls)::BIGINT AS calls,
            sum(b.self_ns) AS self_ns,
            sum(b.total_ns) AS total_ns,
            sum(b.device_ns) AS device_ns,
            sum(b.bytes)::BIGINT AS bytes
        FROM by_stack AS b
        WHERE b.line_id IS NOT NULL
        GROUP BY b.first_id, b.line_id, b.callee_id
    ),

    lines AS MATERIALIZED (
        SELECT
            p.*,
            hash(p.source_file, p.source_line, p.source_function) AS line_id,
            l.source_file IS NOT NULL AS is_library,
            format('{}({}): {}', p.source_file, p.source_line, p.source_function) AS callee
        FROM (
            SELECT n.source_file, n.source_line, n.source_function
            FROM nodes AS n
            WHERE n.line_id IS NOT NULL
            UNION
            SELECT c.source_file, c.source_line, c.source_function
            FROM called AS c
            WHERE c.source_line IS NOT NULL
        ) AS p
        LEFT JOIN libraries AS l ON p.source_file = l.source_file
    ),

    -- A library line without self time, which encloses only lines of the user, has no row of its own.
    by_line AS (
        SELECT
            b.first_id,
            b.line_id,
            arg_max(
                { 'callee': c.callee },
                { 'self_ns': b.self_ns, 'callee': coalesce(c.callee, '') }
            ) FILTER (WHERE b.self_ns IS NOT NULL).callee AS callee,
            sum(b.calls)::BIGINT AS calls,
            sum(b.self_ns) AS self_ns,
            sum(b.total_ns) AS total_ns,
            sum(b.device_ns) AS device_ns,
            sum(b.bytes)::BIGINT AS bytes
        FROM by_callee AS b
        LEFT JOIN lines AS c ON b.callee_id = c.line_id
        GROUP BY b.first_id, b.line_id
    ),

    found AS (
        SELECT
            string_split(t.names[b.first_id >> 40], chr(0)) AS trace,
            l.source_file,
            l.source_line,
            l.source_function,
            l.is_library,
            l.is_library
            AND regexp_matches(
                replace(l.source_file, '\', '/') || ':' || coalesce(l.source_function, ''),
                '(^|/)('
                || 'threading\.py:(acquire|join|wait|wait_for|_wait_for_tstate_lock)'
                || '|queue\.py:get|selectors\.py:select|socket\.py:accept'
                || '|subprocess\.py:(wait|_wait|_try_wait)'
                || '|multiprocessing/connection\.py:(accept|poll|_poll|_recv|wait)'
                || '|multiprocessing/popen_[a-z_]+\.py:(poll|wait)'
                || '|multiprocessing/synchronize\.py:(acquire|wait)'
                || '|concurrent/futures/(thread\.py:_worker|_base\.py:(result|wait))'
                || '|torch/_inductor/compile_worker/(subproc_pool\.py:_recv_msg|timer\.py:check)'
                || ')$'
            ) AS is_waiting,
            w.has_frames,
            b.callee,
            b.calls,
            coalesce(b.self_ns, 0) AS self_ns,
            b.total_ns,
            CASE WHEN r.has_device THEN coalesce(b.device_ns, 0) END AS device_ns,
            CASE WHEN r.has_memory THEN coalesce(b.bytes, 0) END AS bytes
        FROM by_line AS b
        INNER JOIN lines AS l ON b.line_id = l.line_id
        CROSS JOIN trace_names(run, worker, span) AS t
        INNER JOIN with_lines AS w ON b.first_id = w.first_id
        LEFT JOIN recorded AS r ON b.first_id = r.first_id
        WHERE b.self_ns IS NOT NULL OR NOT l.is_library
    ),

    joined AS (
        SELECT
            coalesce(f.trace[1], r.run) AS run,
            coalesce(f.trace[2], r.worker) AS worker,
            coalesce(f.trace[3], r.span) AS span,
            coalesce(f.source_file, r.source_file) AS source_file,
            coalesce(f.source_line, r.source_line) AS source_line,
            coalesce(f.source_function, r.source_function) AS source_function,
            CASE WHEN f.has_frames IS NOT FALSE THEN 'definition' ELSE 'executed' END AS line_kind,
            CASE WHEN f.trace IS NULL THEN 0 ELSE f.calls END AS calls,
            CASE WHEN f.trace IS NULL THEN 0 ELSE f.self_ns END AS self_ns,
            CASE WHEN f.trace IS NULL THEN 0 ELSE f.total_ns END AS total_ns,
            CASE
                WHEN r.run IS NULL THEN f.device_ns
                ELSE coalesce(f.device_ns, 0) + r.device_ns
            END AS device_ns,
            f.bytes,
            coalesce(f.is_library, r.is_library) AS is_library,
            f.callee,
            coalesce(f.is_waiting, FALSE) AS is_waiting,
            coalesce(r.device_ns, 0) AS replayed_ns
        FROM found AS f
        FULL JOIN replayed_lines AS r
            ON
                f.trace[1] = r.run AND f.trace[2] = r.worker AND f.trace[3] = r.span
                AND f.source_file = r.source_file AND f.source_line = r.source_line
                AND f.source_function = r.source_function
    )

    SELECT
        j.run,
        j.worker,
        j.span,
        j.source_file,
        j.source_line,
        j.source_function,
        j.line_kind,
        j.calls,
        j.self_ns / 1000.0 AS host_self_us,
        j.total_ns / 1000.0 AS host_total_us,
        j.device_ns / 1000.0 AS device_us,
        j.bytes AS allocated_bytes,
        j.is_library,
        j.callee,
        j.is_waiting,
        j.replayed_ns / 1000.0 AS replayed_us
    FROM joined AS j
    ORDER BY
        j.is_waiting ASC, j.self_ns DESC, j.run ASC, j.worker ASC, j.span ASC, j.source_file ASC,
        j.source_line ASC, j.source_function ASC;
