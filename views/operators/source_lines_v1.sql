-- view: source_lines
-- version: 1
-- since: 0.1
-- summary: What each line of Python cost on the host and on the device, and what it allocated.
-- distributes: trace
-- order: host_self_us DESC, run, worker, span, source_file, source_line, source_function
-- needs: no_stacks
-- empty: No line of Python was recorded: record with ProfilerActivity.CPU and with_stack=True.
-- uses: trace_names
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The function in record.py that draws the pictures costs more than all of the backward pass, which autograd/graph.py runs.
--
-- Where Python frames were recorded a line is that of a function's definition, which is all that the
-- profiler says since torch 1.12: the figures are those of the function, and line_kind is 'definition'.
-- Without frames it is the innermost line of the call stack of an operator: the figures are those of
-- the operators that it ran, and line_kind is 'executed'.
--
-- An instant on a thread is the self time of the innermost line: operators, runtime calls, builtin
-- functions and what else has no line of its own belong to the line that called them. Total time is
-- that in which the line was open, counted once where it calls itself. So the self times of a thread
-- add up to the time that any line was open. What lasts longer than the event in which it starts is
-- beside that, in what is around both: so is a region of record_function, which starts in a function that
-- opens it. Device work belongs to the innermost line around its launch, memory to that around the
-- operator which allocated it; releases are not counted.
--
-- params
--   name  type  unit  default  meaning
--   run, worker, span
-- columns
--   name             type     unit   meaning
--   run, worker, span
--   source_file      VARCHAR  key    File, as Python knows it.
--   source_line      INTEGER  key    Number of the line.
--   source_function  VARCHAR  key    Name of the function.
--   line_kind        VARCHAR  -      'definition' or 'executed'.
--   calls            BIGINT   -      Calls of the function; operators that an executed line ran itself.
--   host_self_us     DOUBLE   us     Host time in which it was the innermost line.
--   host_total_us    DOUBLE   us     Host time in which it was open.
--   device_us        DOUBLE   us     Device work that it launched; NULL where the trace links none to the host.
--   allocated_bytes  BIGINT   bytes  Memory that its operators allocated; NULL where memory was not recorded.
CREATE MACRO source_lines_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    with_lines AS MATERIALIZED (
        SELECT
            list_position(t.names, s.run || chr(0) || s.worker || chr(0) || s.span)
            * (1::BIGINT << 40) AS first_id,
            bool_or(s.category = 'python_function') AS has_frames
        FROM stacks AS s
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            s.source_line IS NOT NULL
            AND (run IS NULL OR s.run = run)
            AND (worker IS NULL OR s.worker = worker)
            AND (span IS NULL OR s.span = span)
        GROUP BY ALL
    ),

    nodes AS MATERIALIZED (
        SELECT
            r.first_id,
            r.first_id + r.stack_id AS id,
            r.first_id + r.outer_stack_id AS outer_id,
            r.is_frame,
            CASE
                WHEN (r.is_frame OR NOT w.has_frames) AND r.source_line IS NOT NULL
                    THEN hash(r.source_file, r.source_line, r.source_function)
            END AS line_id,
            r.source_file,
            r.source_line,
            r.source_function,
            r.calls,
            r.self_duration_ns
        FROM (
            SELECT
                list_position(t.names, s.run || chr(0) || s.worker || chr(0) || s.span)
                * (1::BIGINT << 40) AS first_id,
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
            WHERE
                (run IS NULL OR s.run = run)
                AND (worker IS NULL OR s.worker = worker)
                AND (span IS NULL OR s.span = span)
        ) AS r
        INNER JOIN with_lines AS w ON r.first_id = w.first_id
    ),

    -- Each stack with the innermost line in it, whether its last event enters that, and all lines.
    placed AS (
        SELECT
            n.first_id,
            n.id,
            n.line_id,
            n.line_id IS NOT NULL AS is_entry,
            CASE WHEN n.line_id IS NULL THEN [] ELSE [n.line_id] END AS line_ids,
            n.calls,
            n.self_duration_ns
        FROM nodes AS n
        WHERE n.outer_id IS NULL
        UNION ALL
        SELECT
            n.first_id,
            n.id,
            coalesce(n.line_id, o.line_id) AS line_id,
            n.line_id IS NOT NULL AND (n.is_frame OR n.line_id IS DISTINCT FROM o.line_id)
                AS is_entry,
            CASE
                WHEN n.line_id IS NULL OR list_contains(o.line_ids, n.line_id) THEN o.line_ids
                ELSE list_append(o.line_ids, n.line_id)
            END AS line_ids,
            n.calls,
            n.self_duration_ns
        FROM placed AS o
        INNER JOIN nodes AS n ON o.id = n.outer_id
    ),

    -- A launch is told by its call, and where that is lost by the operator.
    happened AS MATERIALIZED (
        SELECT r.first_id, r.event_id, r.device_ns, r.bytes
        FROM (
            SELECT
                list_position(t.names, d.run || chr(0) || d.worker || chr(0) || d.span)
                * (1::BIGINT << 40) AS first_id,
                coalesce(d.launch_id, d.op_id) AS event_id,
                d.duration_ns AS device_ns,
                NULL::BIGINT AS bytes
            FROM device_events AS d
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND coalesce(d.launch_id, d.op_id) IS NOT NULL
            UNION ALL
            SELECT
                list_position(t.names, m.run || chr(0) || m.worker || chr(0) || m.span)
                * (1::BIGINT << 40) AS first_id,
                m.op_id AS event_id,
                NULL::BIGINT AS device_ns,
                greatest(m.bytes, 0) AS bytes
            FROM memory_records AS m
            CROSS JOIN trace_names(run, worker, span) AS t
        ) AS r
        INNER JOIN with_lines AS w ON r.first_id = w.first_id
    ),

    recorded AS (
        SELECT p.first_id, count(p.device_ns) > 0 AS has_device, count(p.bytes) > 0 AS has_memory
        FROM happened AS p
        GROUP BY p.first_id
    ),

    -- By itself, or the planner groups all events before the join.
    amounts AS MATERIALIZED (
        SELECT h.first_id + h.stack_id AS id, p.device_ns, p.bytes
        FROM happened AS p
        INNER JOIN (
            SELECT
                list_position(t.names, e.run || chr(0) || e.worker || chr(0) || e.span)
                * (1::BIGINT << 40) AS first_id,
                e.event_id,
                e.stack_id
            FROM host_events AS e
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                (run IS NULL OR e.run = run)
                AND (worker IS NULL OR e.worker = worker)
                AND (span IS NULL OR e.span = span)
        ) AS h ON p.first_id = h.first_id AND p.event_id = h.event_id
    ),

    by_stack AS (
        SELECT
            p.first_id,
            p.line_id,
            CASE WHEN p.is_entry THEN p.calls END AS calls,
            p.self_duration_ns AS self_ns,
            NULL::BIGINT AS total_ns,
            NULL::BIGINT AS device_ns,
            NULL::BIGINT AS bytes
        FROM placed AS p
        UNION ALL
        SELECT p.first_id, unnest(p.line_ids), NULL, NULL, p.self_duration_ns, NULL, NULL
        FROM placed AS p
        UNION ALL
        SELECT p.first_id, p.line_id, NULL, NULL, NULL, a.device_ns, a.bytes
        FROM placed AS p
        INNER JOIN (
            SELECT
                m.id, sum(m.device_ns)::BIGINT AS device_ns, sum(m.bytes)::BIGINT AS bytes
            FROM amounts AS m
            GROUP BY m.id
        ) AS a ON p.id = a.id
    ),

    by_line AS (
        SELECT
            b.first_id,
            b.line_id,
            sum(b.calls)::BIGINT AS calls,
            sum(b.self_ns) AS self_ns,
            sum(b.total_ns) AS total_ns,
            sum(b.device_ns) AS device_ns,
            sum(b.bytes)::BIGINT AS bytes
        FROM by_stack AS b
        WHERE b.line_id IS NOT NULL
        GROUP BY b.first_id, b.line_id
    ),

    lines AS (
        SELECT DISTINCT n.line_id, n.source_file, n.source_line, n.source_function
        FROM nodes AS n
        WHERE n.line_id IS NOT NULL
    ),

    found AS (
        SELECT
            string_split(t.names[b.first_id >> 40], chr(0)) AS trace,
            l.source_file,
            l.source_line,
            l.source_function,
            w.has_frames,
            b.calls,
            b.self_ns,
            b.total_ns,
            CASE WHEN r.has_device THEN coalesce(b.device_ns, 0) END AS device_ns,
            CASE WHEN r.has_memory THEN coalesce(b.bytes, 0) END AS bytes
        FROM by_line AS b
        INNER JOIN lines AS l ON b.line_id = l.line_id
        CROSS JOIN trace_names(run, worker, span) AS t
        INNER JOIN with_lines AS w ON b.first_id = w.first_id
        LEFT JOIN recorded AS r ON b.first_id = r.first_id
    )

    SELECT
        f.trace[1] AS run,
        f.trace[2] AS worker,
        f.trace[3] AS span,
        f.source_file,
        f.source_line,
        f.source_function,
        CASE WHEN f.has_frames THEN 'definition' ELSE 'executed' END AS line_kind,
        f.calls,
        f.self_ns / 1000.0 AS host_self_us,
        f.total_ns / 1000.0 AS host_total_us,
        f.device_ns / 1000.0 AS device_us,
        f.bytes AS allocated_bytes
    FROM found AS f
    ORDER BY
        f.self_ns DESC, f.trace ASC, f.source_file ASC, f.source_line ASC, f.source_function ASC;
