-- view: source_lines
-- version: 1
-- since: 0.1
-- summary: What each line of Python cost on the host and on the device, and what it allocated.
-- needs: no_stacks
-- uses: overhangs, trace_names
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
-- inside that no longer than that lasts. Device work belongs to the innermost line around its launch, memory
-- to that around the operator which allocated it; releases are not counted.
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
            list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span)
            * (1::BIGINT << 40) AS first_id,
            bool_or(h.category = 'python_function') AS has_frames
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (
                (h.category = 'python_function' AND h.source_line IS NOT NULL)
                OR (h.category = 'cpu_op' AND h.call_stack <> '')
            )
            AND (run IS NULL OR h.run = run)
            AND (worker IS NULL OR h.worker = worker)
            AND (span IS NULL OR h.span = span)
        GROUP BY ALL
    ),

    host AS MATERIALIZED (
        SELECT
            r.first_id,
            r.first_id + r.event_id AS id,
            r.first_id + r.parent_id AS parent_id,
            r.is_frame,
            CASE
                WHEN r.is_frame THEN r.name
                WHEN NOT w.has_frames THEN nullif(split_part(r.call_stack, ';', 1), '')
            END AS line,
            r.start_ns,
            r.start_ns + r.duration_ns AS end_ns
        FROM (
            SELECT
                list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span)
                * (1::BIGINT << 40) AS first_id,
                h.event_id,
                h.parent_id,
                h.category = 'python_function' AND h.source_line IS NOT NULL AS is_frame,
                h.name,
                CASE WHEN h.category = 'cpu_op' THEN h.call_stack END AS call_stack,
                h.start_ns,
                h.duration_ns
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                (run IS NULL OR h.run = run)
                AND (worker IS NULL OR h.worker = worker)
                AND (span IS NULL OR h.span = span)
        ) AS r
        INNER JOIN with_lines AS w ON r.first_id = w.first_id
    ),

    lines AS MATERIALIZED (
        SELECT DISTINCT hash(h.line) AS line_id, h.line
        FROM host AS h
        WHERE h.line IS NOT NULL
    ),

    longer AS MATERIALIZED (
        SELECT o.id, o.part_id, o.start_ns, o.end_ns, o.around_id
        FROM overhangs('host') AS o
    ),

    -- Each event, in parts where it lasts longer than its parent.
    parts AS MATERIALIZED (
        SELECT
            h.first_id,
            h.id,
            coalesce(p.part_id, h.parent_id) AS parent_id,
            h.is_frame,
            CASE WHEN h.line IS NOT NULL THEN hash(h.line) END AS line_id,
            coalesce(l.start_ns, h.end_ns) - h.start_ns AS duration_ns
        FROM host AS h
        LEFT JOIN (SELECT o.id, min(o.start_ns) AS start_ns FROM longer AS o GROUP BY o.id) AS l
            ON h.id = l.id
        LEFT JOIN longer AS p
            ON h.parent_id = p.id AND h.start_ns >= p.start_ns AND h.start_ns < p.end_ns
        UNION ALL
        SELECT
            h.first_id,
            l.part_id AS id,
            l.around_id AS parent_id,
            h.is_frame,
            CASE WHEN h.line IS NOT NULL THEN hash(h.line) END AS line_id,
            l.end_ns - l.start_ns AS duration_ns
        FROM host AS h
        INNER JOIN longer AS l ON h.id = l.id
    ),

    -- Each event with the line it is in, and where a line is entered with the one around that. Lines
    -- and chains of lines are numbers until it is known which there are.
    events AS (
        SELECT
            h.first_id,
            h.id,
            h.line_id IS NOT NULL AS is_entry,
            h.line_id,
            CASE WHEN h.line_id IS NOT NULL THEN hash(h.first_id, h.line_id) END AS chain_id,
            NULL::UBIGINT AS outer_id,
            h.duration_ns
        FROM parts AS h
        WHERE h.parent_id IS NULL
        UNION ALL
        SELECT
            c.first_id,
            c.id,
            c.is_entry,
            coalesce(c.line_id, c.outer_line_id) AS line_id,
            CASE
                WHEN c.is_entry THEN hash(coalesce(c.outer_id, c.first_id), c.line_id)
                ELSE c.outer_id
            END AS chain_id,
            c.outer_id,
            c.duration_ns
        FROM (
            SELECT
                h.first_id,
                h.id,
                h.is_frame OR h.line_id <> coalesce(e.line_id, 0) AS is_entry,
                h.line_id,
                e.line_id AS outer_line_id,
                e.chain_id AS outer_id,
                h.duration_ns
            FROM events AS e
            INNER JOIN parts AS h ON e.id = h.parent_id
        ) AS c
    ),

    chains AS MATERIALIZED (
        SELECT
            e.chain_id,
            any_value(e.outer_id) AS outer_id,
            any_value(e.first_id) AS first_id,
            any_value(e.line_id) AS line_id,
            count(*) FILTER (WHERE e.id > 0) AS calls,
            sum(e.duration_ns)::BIGINT AS total_ns
        FROM events AS e
        WHERE e.is_entry
        GROUP BY e.chain_id
    ),

    around AS (
        SELECT c.chain_id, [c.line_id] AS lines, TRUE AS is_outermost
        FROM chains AS c
        WHERE c.outer_id IS NULL
        UNION ALL
        SELECT
            c.chain_id,
            list_append(a.lines, c.line_id) AS lines,
            NOT list_contains(a.lines, c.line_id) AS is_outermost
        FROM around AS a
        INNER JOIN chains AS c ON a.chain_id = c.outer_id
    ),

    -- A launch is told by its call, and where that is lost by the operator.
    happened AS MATERIALIZED (
        SELECT
            r.first_id,
            coalesce(l.part_id, r.first_id + r.event_id) AS id,
            r.device_ns,
            r.bytes
        FROM (
            SELECT
                list_position(t.names, d.run || chr(0) || d.worker || chr(0) || d.span)
                * (1::BIGINT << 40) AS first_id,
                coalesce(d.launch_id, d.op_id) AS event_id,
                NULL::BIGINT AS time_ns,
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
                m.time_ns,
                NULL::BIGINT AS device_ns,
                greatest(m.bytes, 0) AS bytes
            FROM memory_records AS m
            CROSS JOIN trace_names(run, worker, span) AS t
        ) AS r
        INNER JOIN with_lines AS w ON r.first_id = w.first_id
        LEFT JOIN longer AS l
            ON
                r.first_id + r.event_id = l.id
                AND r.time_ns >= l.start_ns AND r.time_ns < l.end_ns
    ),

    recorded AS (
        SELECT p.first_id, count(p.device_ns) > 0 AS has_device, count(p.bytes) > 0 AS has_memory
        FROM happened AS p
        GROUP BY p.first_id
    ),

    -- By itself, or the planner groups all events before the join.
    placed_amounts AS MATERIALIZED (
        SELECT e.chain_id, p.device_ns, p.bytes
        FROM happened AS p
        INNER JOIN events AS e ON p.id = e.id
    ),

    amounts AS (
        SELECT a.chain_id, sum(a.device_ns)::BIGINT AS device_ns, sum(a.bytes)::BIGINT AS bytes
        FROM placed_amounts AS a
        GROUP BY a.chain_id
    ),

    by_line AS (
        SELECT
            c.first_id,
            c.line_id,
            sum(c.calls)::BIGINT AS calls,
            sum(c.total_ns - coalesce(i.inside_ns, 0)) AS self_ns,
            sum(CASE WHEN a.is_outermost THEN c.total_ns ELSE 0 END) AS total_ns,
            sum(m.device_ns) AS device_ns,
            sum(m.bytes)::BIGINT AS bytes
        FROM chains AS c
        INNER JOIN around AS a ON c.chain_id = a.chain_id
        LEFT JOIN (
            SELECT n.outer_id, sum(n.total_ns)::BIGINT AS inside_ns
            FROM chains AS n
            GROUP BY n.outer_id
        ) AS i ON c.chain_id = i.outer_id
        LEFT JOIN amounts AS m ON c.chain_id = m.chain_id
        GROUP BY c.first_id, c.line_id
    ),

    placed AS (
        SELECT
            string_split(t.names[b.first_id >> 40], chr(0)) AS trace,
            regexp_extract(l.line, '^(.*)\((\d+)\): (.*)$', ['file', 'line', 'function']) AS place,
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
        p.trace[1] AS run,
        p.trace[2] AS worker,
        p.trace[3] AS span,
        p.place.file AS source_file,
        try_cast(p.place.line AS INTEGER) AS source_line,
        p.place.function AS source_function,
        CASE WHEN p.has_frames THEN 'definition' ELSE 'executed' END AS line_kind,
        p.calls,
        p.self_ns / 1000.0 AS host_self_us,
        p.total_ns / 1000.0 AS host_total_us,
        p.device_ns / 1000.0 AS device_us,
        p.bytes AS allocated_bytes
    FROM placed AS p
    ORDER BY
        p.self_ns DESC, p.trace ASC, p.place.file ASC, try_cast(p.place.line AS INTEGER) ASC,
        p.place.function ASC;
