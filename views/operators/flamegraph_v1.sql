-- view: flamegraph
-- version: 1
-- since: 0.1
-- summary: Time or memory by call stack, as input for a flame graph.
-- distributes: trace
-- order: value_us DESC, run, worker, span, stack
-- empty: Nothing was recorded for metric '{metric}'; recording_advice says how to record operators (metric 'host'), device work ('device') and memory ('bytes').
-- notes: replay_notes
-- uses: checked_choice, first_id, is_wanted, matched_replays, replayed_stacks, trace_names
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The widest stack waits for storage (sleep), inside the data loader.
--
-- A stack lists the names of nested events of a thread (annotations, Python frames, operators, calls),
-- the outermost first, separated by ';'. In names, a ';' becomes ',' and a line break becomes a space. All
-- profiler steps become one, 'ProfilerStep*'. Threads are merged. speedscope and flamegraph.pl read lines
-- of a stack, a space and its value. This command writes a file for them:
--
--     duckdb tracewh-warehouse/tracewh.duckdb -noheader -list -c \
--       "SELECT stack || ' ' || round(value_us)::BIGINT FROM flamegraph(run := 'R')" > host.txt
--
-- With metric 'host', the value of a stack is the self time of its last event: the time in which no
-- recorded event ran inside it. So the stacks of a thread add up to the time in which anything ran on it.
-- An event that ends after the event in which it started is a sibling of that event, under the parent of
-- both. With 'device', a stack ends with the kernel, copy or memset that was launched there. With 'bytes', it
-- ends with the device on which memory was allocated, in brackets. Work and memory of unknown origin have a
-- stack of only this last name. Work that a CUDA or HIP graph replayed is below the call that launched the
-- graph, and there below the stack that captured it, if that is known (see graph_replays). Device time is a plain sum. Allocations count in full, whenever they
-- were released.
--
-- params
--   name    type     unit  default  meaning
--   run, worker, span
--   metric  VARCHAR  -     'host'   'host', 'device' or 'bytes'.
-- columns
--   name         type     unit   meaning
--   run, worker, span
--   stack        VARCHAR  key    Names from the outermost to the innermost, separated by ';'.
--   value_us     DOUBLE   us     Time of the stack itself, on the host or on the device; NULL with metric 'bytes'.
--   value_bytes  BIGINT   bytes  Memory allocated there; NULL with the other metrics.
--   replayed_us  DOUBLE   us     Part of value_us that graphs replayed; NULL unless the metric is 'device'.
CREATE MACRO flamegraph_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    metric VARCHAR := 'host'
) AS TABLE
    WITH RECURSIVE
    nodes AS MATERIALIZED (
        SELECT
            r.first_id + r.stack_id AS id,
            r.first_id + r.outer_stack_id AS outer_id,
            r.run,
            r.worker,
            r.span,
            translate(r.name, ';' || chr(10), ', ') AS name,
            r.self_duration_ns
        FROM (
            SELECT
                first_id(t.names, s.run, s.worker, s.span) AS first_id,
                s.stack_id,
                s.outer_stack_id,
                s.run,
                s.worker,
                s.span,
                s.name,
                s.self_duration_ns
            FROM stacks AS s
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                (
                    SELECT a.is_allowed
                    FROM checked_choice('metric', metric, ['host', 'device', 'bytes']) AS a
                )
                AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        ) AS r
    ),

    named AS (
        SELECT n.id, n.name AS stack
        FROM nodes AS n
        WHERE n.outer_id IS NULL
        UNION ALL
        SELECT n.id, o.stack || ';' || n.name AS stack
        FROM named AS o
        INNER JOIN nodes AS n ON o.id = n.outer_id
    ),

    replayed AS (
        SELECT e.run, e.worker, e.span, e.event_id
        FROM matched_replays(run, worker, span) AS e
        WHERE metric = 'device'
    ),

    -- What happened at an event. A launch belongs to its call, or to the operator if the call is lost.
    happened AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            coalesce(d.launch_id, d.op_id) AS event_id,
            d.name AS leaf,
            d.duration_ns AS amount
        FROM device_events AS d
        ANTI JOIN replayed AS p
            ON
                d.run = p.run AND d.worker = p.worker AND d.span = p.span
                AND d.event_id = p.event_id
        WHERE
            metric = 'device' AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        UNION ALL
        SELECT
            m.run,
            m.worker,
            m.span,
            m.op_id AS event_id,
            '[' || concat_ws(':', m.device_type, m.device_id) || ']' AS leaf,
            m.bytes AS amount
        FROM memory_records AS m
        WHERE
            metric = 'bytes' AND m.bytes > 0
            AND is_wanted(m.run, m.worker, m.span, run, worker, span)
    ),

    host AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.stack_id
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            metric <> 'host'
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    amounts AS (
        SELECT
            w.run,
            w.worker,
            w.span,
            h.first_id + h.stack_id AS id,
            w.leaf,
            sum(w.amount)::BIGINT AS amount
        FROM (
            SELECT
                r.run,
                r.worker,
                r.span,
                first_id(t.names, r.run, r.worker, r.span) AS first_id,
                r.event_id,
                r.leaf,
                r.amount
            FROM happened AS r
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(r.run, r.worker, r.span, run, worker, span)
        ) AS w
        LEFT JOIN host AS h ON w.first_id = h.first_id AND w.event_id = h.event_id
        GROUP BY ALL
    ),

    rows_of_all AS (
        SELECT n.run, n.worker, n.span, s.stack, n.self_duration_ns AS amount, 0 AS replayed_ns
        FROM nodes AS n
        INNER JOIN named AS s ON n.id = s.id
        WHERE metric = 'host' AND n.self_duration_ns > 0
        UNION ALL
        SELECT
            a.run,
            a.worker,
            a.span,
            concat_ws(';', s.stack, translate(a.leaf, ';' || chr(10), ', ')) AS stack,
            a.amount,
            0
        FROM amounts AS a
        LEFT JOIN named AS s ON a.id = s.id
        WHERE a.amount > 0
        UNION ALL
        SELECT
            p.run,
            p.worker,
            p.span,
            concat_ws(';', s.stack, p.stack, translate(p.name, ';' || chr(10), ', ')) AS stack,
            p.duration_ns AS amount,
            p.duration_ns AS replayed_ns
        FROM replayed_stacks(run, worker, span) AS p
        CROSS JOIN trace_names(run, worker, span) AS t
        LEFT JOIN host AS h
            ON first_id(t.names, p.run, p.worker, p.span) = h.first_id AND p.launch_id = h.event_id
        LEFT JOIN named AS s ON h.first_id + h.stack_id = s.id
        WHERE metric = 'device' AND p.duration_ns > 0
    ),

    summed AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.stack,
            sum(r.amount)::BIGINT AS amount,
            sum(r.replayed_ns)::BIGINT AS replayed_ns
        FROM rows_of_all AS r
        GROUP BY r.run, r.worker, r.span, r.stack
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.stack,
        CASE WHEN metric <> 'bytes' THEN s.amount / 1000.0 END AS value_us,
        CASE WHEN metric = 'bytes' THEN s.amount END AS value_bytes,
        CASE WHEN metric = 'device' THEN s.replayed_ns / 1000.0 END AS replayed_us
    FROM summed AS s
    ORDER BY s.amount DESC, s.run ASC, s.worker ASC, s.span ASC, s.stack ASC;
