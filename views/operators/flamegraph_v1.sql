-- view: flamegraph
-- version: 1
-- since: 0.1
-- summary: Time or memory by call stack, for a flame graph.
-- needs: no_operators no_device_events no_memory
-- uses: checked_choice, overhangs, trace_names
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The widest stack of the flame graph is that of drawing pictures at random.
--
-- A stack has the names of all events that are around each other on a thread (annotations, Python
-- frames, operators, calls), the outermost first, with ';' between. A stack and its value on a line,
-- with a space between, is what speedscope and flamegraph.pl read. A ';' in a name becomes ',', a line
-- break a space, and the steps of the profiler are one, 'ProfilerStep*'. Threads are put together.
-- So this makes a file for them:
--
--     duckdb tracewh-warehouse/tracewh.duckdb -noheader -list -c \
--       "SELECT stack || ' ' || round(value_us)::BIGINT FROM flamegraph(run := 'R')" > host.txt
--
-- With metric 'host' the value of a stack is the time in which nothing recorded ran inside its last
-- event, so that the stacks of a thread add up to the time in which anything ran on it. An event that
-- lasts longer than the one in which it starts is inside that no longer than that lasts. With 'device'
-- a stack ends with the kernel, copy or set that was launched there, and with 'bytes' with the device on
-- which memory was allocated, in brackets; work and memory of unknown origin have no more than that.
-- Device time is a plain sum, and allocations count in full, whenever they were released.
--
-- params
--   name    type     unit  default  meaning
--   run, worker, span
--   metric  VARCHAR  -     'host'   'host', 'device' or 'bytes'.
-- columns
--   name         type     unit   meaning
--   run, worker, span
--   stack        VARCHAR  key    Names from the outermost to the innermost, with ';' between.
--   value_us     DOUBLE   us     Time of the stack itself, on the host or on the device; NULL with metric 'bytes'.
--   value_bytes  BIGINT   bytes  Memory that was allocated there; NULL with the others.
CREATE MACRO flamegraph_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    metric VARCHAR := 'host'
) AS TABLE
    WITH RECURSIVE
    host AS MATERIALIZED (
        SELECT
            r.first_id,
            r.first_id + r.event_id AS id,
            r.first_id + r.parent_id AS parent_id,
            CASE
                WHEN starts_with(r.name, 'ProfilerStep#') THEN 'ProfilerStep*' ELSE r.name
            END AS name,
            r.start_ns,
            r.start_ns + r.duration_ns AS end_ns
        FROM (
            SELECT
                list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span)
                * (1::BIGINT << 40) AS first_id,
                h.event_id,
                h.parent_id,
                h.name,
                h.start_ns,
                h.duration_ns
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                (
                    SELECT a.is_allowed
                    FROM checked_choice('metric', metric, ['host', 'device', 'bytes']) AS a
                )
                AND (run IS NULL OR h.run = run)
                AND (worker IS NULL OR h.worker = worker)
                AND (span IS NULL OR h.span = span)
        ) AS r
    ),

    longer AS MATERIALIZED (
        SELECT
            o.id,
            o.part_id,
            o.start_ns,
            o.end_ns,
            o.around_id
        FROM overhangs('host') AS o
    ),

    -- Each event, in parts where it lasts longer than its parent.
    parts AS MATERIALIZED (
        SELECT
            h.first_id,
            h.id,
            coalesce(p.part_id, h.parent_id) AS parent_id,
            h.name,
            h.start_ns,
            coalesce(l.start_ns, h.end_ns) AS end_ns
        FROM host AS h
        LEFT JOIN (
            SELECT
                o.id,
                min(o.start_ns) AS start_ns
            FROM longer AS o
            GROUP BY o.id
        ) AS l ON h.id = l.id
        LEFT JOIN longer AS p
            ON h.parent_id = p.id AND h.start_ns >= p.start_ns AND h.start_ns < p.end_ns
        UNION ALL
        SELECT
            h.first_id,
            l.part_id AS id,
            l.around_id AS parent_id,
            h.name,
            l.start_ns,
            l.end_ns
        FROM host AS h
        INNER JOIN longer AS l ON h.id = l.id
    ),

    -- A stack is a number until it is known which there are: few, and each as long as it is deep.
    events AS (
        SELECT
            p.first_id,
            p.id,
            hash(p.first_id, p.name) AS stack_id,
            NULL::UBIGINT AS outer_id,
            p.name,
            p.end_ns - p.start_ns AS duration_ns
        FROM parts AS p
        WHERE p.parent_id IS NULL
        UNION ALL
        SELECT
            p.first_id,
            p.id,
            hash(e.stack_id, p.name) AS stack_id,
            e.stack_id AS outer_id,
            p.name,
            p.end_ns - p.start_ns AS duration_ns
        FROM events AS e
        INNER JOIN parts AS p ON e.id = p.parent_id
    ),

    nodes AS MATERIALIZED (
        SELECT
            e.stack_id,
            any_value(e.outer_id) AS outer_id,
            any_value(e.first_id) AS first_id,
            translate(any_value(e.name), ';' || chr(10), ', ') AS name,
            sum(e.duration_ns)::BIGINT AS duration_ns
        FROM events AS e
        GROUP BY e.stack_id
    ),

    stacks AS (
        SELECT
            n.stack_id,
            n.name AS stack
        FROM nodes AS n
        WHERE n.outer_id IS NULL
        UNION ALL
        SELECT
            n.stack_id,
            s.stack || ';' || n.name AS stack
        FROM stacks AS s
        INNER JOIN nodes AS n ON s.stack_id = n.outer_id
    ),

    host_time AS (
        SELECT
            string_split(t.names[n.first_id >> 40], chr(0)) AS trace,
            n.stack_id,
            n.duration_ns - coalesce(i.inside_ns, 0) AS self_ns
        FROM nodes AS n
        CROSS JOIN trace_names(run, worker, span) AS t
        LEFT JOIN (
            SELECT
                c.outer_id,
                sum(c.duration_ns)::BIGINT AS inside_ns
            FROM nodes AS c
            GROUP BY c.outer_id
        ) AS i ON n.stack_id = i.outer_id
        WHERE metric = 'host'
    ),

    -- What happened at an event: a launch is told by its call, and where that is lost by the operator.
    happened AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            coalesce(d.launch_id, d.op_id) AS event_id,
            NULL::BIGINT AS time_ns,
            d.name AS leaf,
            d.duration_ns AS amount
        FROM device_events AS d
        WHERE
            metric = 'device' AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
        UNION ALL
        SELECT
            m.run,
            m.worker,
            m.span,
            m.op_id AS event_id,
            m.time_ns,
            '[' || concat_ws(':', m.device_type, m.device_id) || ']' AS leaf,
            m.bytes AS amount
        FROM memory_records AS m
        WHERE metric = 'bytes' AND m.bytes > 0
    ),

    amounts AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            e.stack_id,
            h.leaf,
            sum(h.amount)::BIGINT AS amount
        FROM (
            SELECT
                r.run,
                r.worker,
                r.span,
                list_position(t.names, r.run || chr(0) || r.worker || chr(0) || r.span)
                * (1::BIGINT << 40) + r.event_id AS id,
                r.time_ns,
                r.leaf,
                r.amount
            FROM happened AS r
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                (run IS NULL OR r.run = run)
                AND (worker IS NULL OR r.worker = worker)
                AND (span IS NULL OR r.span = span)
        ) AS h
        LEFT JOIN longer AS l ON h.id = l.id AND h.time_ns >= l.start_ns AND h.time_ns < l.end_ns
        LEFT JOIN events AS e ON coalesce(l.part_id, h.id) = e.id
        GROUP BY ALL
    ),

    rows_of_all AS (
        SELECT
            h.trace[1] AS run,
            h.trace[2] AS worker,
            h.trace[3] AS span,
            s.stack,
            h.self_ns AS amount
        FROM host_time AS h
        INNER JOIN stacks AS s ON h.stack_id = s.stack_id
        UNION ALL
        SELECT
            a.run,
            a.worker,
            a.span,
            concat_ws(';', s.stack, translate(a.leaf, ';' || chr(10), ', ')) AS stack,
            a.amount
        FROM amounts AS a
        LEFT JOIN stacks AS s ON a.stack_id = s.stack_id
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.stack,
        CASE WHEN metric <> 'bytes' THEN r.amount / 1000.0 END AS value_us,
        CASE WHEN metric = 'bytes' THEN r.amount END AS value_bytes
    FROM rows_of_all AS r
    WHERE r.amount > 0
    ORDER BY r.amount DESC, r.run ASC, r.worker ASC, r.span ASC, r.stack ASC;
