-- view: memory_at_peak
-- version: 1
-- since: 0.1
-- summary: Memory allocated at a device's peak, by the operator, module and source line that allocated it.
-- distributes: trace
-- order: live_bytes DESC, run, worker, span, device, operator, module, source_file, source_line, blocks
-- needs: no_memory
-- empty: The memory records have no totals; the PyTorch profiler records them since torch 1.10.
-- uses: checked_choice, first_id, is_wanted, library_files, module_events, operator_names, percentage, trace_names
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The outputs of two relus (aten::clamp_min) of Block_0 are a fifth of the peak: the backward pass still needs them.
--
-- The peak of a device is the first record with the most allocated bytes. Two kinds of blocks are live at
-- the peak: those that were allocated by then and not released, and those whose later release is in the
-- trace but whose allocation is not. The rest was allocated before the recording and not released in it; it
-- has a row with NULL blocks. So the rows of a device add up to its peak. The exception is memory that
-- another process sent, as data loader workers do: the totals do not include it.
--
-- The module is the innermost one around the operator that allocated. The line is that of the innermost
-- Python frame of the user around the operator, that is, not of torch, of another package, or of the
-- standard library (see the block library_files). If there is no such frame, or with frame 'innermost', it
-- is the innermost frame with a source file. Frames are those recorded since torch 1.12, whose line is that
-- of the function's def, or else those of the operator's call stack. Module and line are looked up on the
-- thread of the allocation, so they are mostly NULL for the backward pass. If an annotation allocated and
-- no operator did, they are those around the annotation. Traces recorded before torch 1.10 have neither
-- addresses nor totals, and so no rows.
--
-- params
--   name    type     unit  default  meaning
--   run, worker, span
--   device  VARCHAR  -     NULL     Device as in the column, e.g. 'cpu' or 'cuda:0'; NULL reports all.
--   frame   VARCHAR  -     'user'   'user' for the innermost line outside of libraries, 'innermost' for the innermost of all lines.
-- columns
--   name         type     unit   meaning
--   run, worker, span
--   device       VARCHAR  key    Type of the device, with its number if it has one: 'cpu', 'cuda:0', 'hip:1'.
--   operator     VARCHAR  key    Operator or annotation that allocated; 'parent (operator)' for aten::empty*. NULL where unknown.
--   module       VARCHAR  key    Module in which the operator ran, e.g. 'Linear_3'; NULL where not recorded.
--   source_file  VARCHAR  key    Python source file; NULL where not recorded.
--   source_line  INTEGER  key    Line in the file.
--   live_bytes   BIGINT   bytes  Total size of the blocks.
--   blocks       BIGINT   -      Number of blocks; NULL for memory allocated before the recording and not released in it.
--   share_pct    DOUBLE   pct    Share of all memory allocated at the peak.
--   peak_ns      BIGINT   ns     Time of the peak, nanoseconds since the epoch.
--   is_library   BOOLEAN  -      Whether the line belongs to a library; NULL without a line.
--   callee       VARCHAR  -      The called library line through which the most of live_bytes was allocated, as 'file(line): function'; NULL if the line itself allocated the most.
CREATE MACRO memory_at_peak_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    device VARCHAR := NULL,
    frame VARCHAR := 'user'
) AS TABLE
    WITH RECURSIVE
    names AS MATERIALIZED (
        SELECT o.id, o.operator, o.parent_id
        FROM operator_names(run, worker, span) AS o
    ),

    records AS MATERIALIZED (
        SELECT
            m.run,
            m.worker,
            m.span,
            concat_ws(':', m.device_type, m.device_id) AS device,
            m.address,
            m.bytes,
            m.time_ns,
            m.event_id,
            m.total_allocated_bytes,
            first_id(t.names, m.run, m.worker, m.span) + m.op_id AS op_id
        FROM memory_records AS m
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            is_wanted(m.run, m.worker, m.span, run, worker, span)
            AND (device IS NULL OR concat_ws(':', m.device_type, m.device_id) = device)
    ),

    highest AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.device,
            max(r.total_allocated_bytes) AS total_allocated_bytes
        FROM records AS r
        GROUP BY r.run, r.worker, r.span, r.device
    ),

    peaks AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.device,
            h.total_allocated_bytes,
            min({ 'time_ns': r.time_ns, 'event_id': r.event_id }) AS at,
            row_number() OVER () AS number
        FROM highest AS h
        INNER JOIN records AS r
            ON
                h.run = r.run AND h.worker = r.worker AND h.span = r.span
                AND h.device = r.device AND h.total_allocated_bytes = r.total_allocated_bytes
        GROUP BY h.run, h.worker, h.span, h.device, h.total_allocated_bytes
    ),

    placed AS (
        SELECT
            r.*,
            p.number,
            r.time_ns < p.at.time_ns
            OR (r.time_ns = p.at.time_ns AND r.event_id <= p.at.event_id) AS is_by_then
        FROM records AS r
        INNER JOIN peaks AS p
            ON
                r.run = p.run AND r.worker = p.worker AND r.span = p.span
                AND r.device = p.device
        WHERE r.address IS NOT NULL AND r.bytes IS NOT NULL
    ),

    -- Sorted before the window, not by it: then the window needs no memory.
    in_order AS (
        SELECT p.*
        FROM placed AS p
        ORDER BY p.number, p.address, p.time_ns, p.event_id
    ),

    neighbours AS (
        SELECT
            o.*,
            CASE
                WHEN lag((o.number, o.address)) OVER () = (o.number, o.address)
                    THEN lag(o.bytes) OVER ()
            END AS previous_bytes,
            CASE
                WHEN lead((o.number, o.address)) OVER () = (o.number, o.address)
                    THEN lead(o.is_by_then) OVER ()
            END AS is_next_by_then
        FROM in_order AS o
    ),

    alive AS MATERIALIZED (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.device,
            abs(n.bytes) AS bytes,
            CASE WHEN n.total_allocated_bytes > 0 OR n.bytes < 0 THEN abs(n.bytes) ELSE 0 END
                AS counted_bytes,
            n.time_ns,
            CASE WHEN n.bytes > 0 THEN n.op_id END AS op_id
        FROM neighbours AS n
        WHERE
            (n.bytes > 0 AND n.is_by_then AND n.is_next_by_then IS NOT TRUE)
            OR (n.bytes < 0 AND NOT n.is_by_then AND n.previous_bytes IS NULL)
    ),

    links AS MATERIALIZED (
        SELECT
            r.first_id + r.event_id AS id,
            r.first_id + r.parent_id AS parent_id
        FROM (
            SELECT
                first_id(t.names, h.run, h.worker, h.span) AS first_id,
                h.event_id,
                h.parent_id
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS r
    ),

    around AS (
        SELECT DISTINCT a.run, a.worker, a.span, a.op_id, a.time_ns, a.op_id AS id, 0 AS levels
        FROM alive AS a
        WHERE a.op_id IS NOT NULL
        UNION ALL
        SELECT o.run, o.worker, o.span, o.op_id, o.time_ns, l.parent_id, o.levels + 1
        FROM around AS o
        INNER JOIN links AS l ON o.id = l.id
        WHERE l.parent_id IS NOT NULL
    ),

    -- Materialized: or else DuckDB joins them with all events by time, before it compares the numbers.
    events_around AS MATERIALIZED (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.op_id,
            o.time_ns,
            o.levels,
            o.id - first_id(t.names, o.run, o.worker, o.span) AS event_id
        FROM around AS o
        CROSS JOIN trace_names(run, worker, span) AS t
    ),

    -- Frames are events with a file of their own, or texts of the operator.
    said AS MATERIALIZED (
        SELECT
            o.op_id,
            o.time_ns,
            o.levels,
            h.source_file,
            h.source_line,
            h.source_function,
            h.call_stack
        FROM host_events AS h
        INNER JOIN events_around AS o
            ON
                h.run = o.run AND h.worker = o.worker AND h.span = o.span
                AND h.event_id = o.event_id
        WHERE
            (h.source_file IS NOT NULL OR h.call_stack IS NOT NULL)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
            -- An event may end after the event in which it starts: then that event is not around it.
            AND h.start_ns + h.duration_ns > o.time_ns
    ),

    -- Not by parents: an event that starts in a frame that is never closed is still inside the module.
    inside AS MATERIALIZED (
        SELECT e.id, e.module_id, e.end_ns
        FROM module_events(run, worker, span) AS e
    ),

    module_names AS MATERIALIZED (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            regexp_replace(h.name, '^nn\.Module: ', '') AS module
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            h.python_module_id IS NOT NULL
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    modules AS (
        SELECT a.op_id, a.time_ns, n.module
        FROM (SELECT DISTINCT w.op_id, w.time_ns FROM alive AS w) AS a
        INNER JOIN inside AS e ON a.op_id = e.id
        INNER JOIN inside AS m ON e.module_id = m.id AND m.end_ns > a.time_ns
        INNER JOIN module_names AS n ON m.id = n.id
    ),

    frames AS MATERIALIZED (
        SELECT
            s.op_id,
            s.time_ns,
            FALSE AS is_written,
            s.levels,
            0 AS position,
            s.source_file,
            s.source_line,
            s.source_function
        FROM said AS s
        WHERE s.source_file IS NOT NULL
        UNION ALL
        SELECT
            w.op_id,
            w.time_ns,
            TRUE,
            w.levels,
            w.position,
            w.place.source_file,
            try_cast(w.place.source_line AS INTEGER),
            w.place.source_function
        FROM (
            SELECT
                s.op_id,
                s.time_ns,
                s.levels,
                unnest(range(len(string_split(s.call_stack, ';')))) AS position,
                regexp_extract(
                    unnest(string_split(s.call_stack, ';')),
                    '^(.*)\((\d+)\): (.*)$',
                    ['source_file', 'source_line', 'source_function']
                ) AS place
            FROM said AS s
            WHERE s.call_stack IS NOT NULL
        ) AS w
        WHERE w.place.source_file <> ''
    ),

    libraries AS (
        SELECT l.source_file FROM library_files('frames') AS l
    ),

    called AS (
        SELECT
            f.*,
            l.source_file IS NOT NULL AS is_library,
            lag(format('{}({}): {}', f.source_file, f.source_line, f.source_function)) OVER (
                PARTITION BY f.op_id, f.time_ns, f.is_written ORDER BY f.levels, f.position
            ) AS callee
        FROM frames AS f
        LEFT JOIN libraries AS l ON f.source_file = l.source_file
    ),

    innermost AS (
        SELECT
            c.op_id,
            c.time_ns,
            arg_min(
                {
                    'file': c.source_file,
                    'line': c.source_line,
                    'is_library': c.is_library,
                    'callee': c.callee
                },
                {
                    'is_last': frame = 'user' AND c.is_library,
                    'is_written': c.is_written,
                    'levels': c.levels,
                    'position': c.position
                }
            ) AS source
        FROM called AS c
        WHERE (
            SELECT a.is_allowed
            FROM checked_choice('frame', frame, ['user', 'innermost']) AS a
        )
        GROUP BY c.op_id, c.time_ns
    ),

    by_callee AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.device,
            CASE
                WHEN starts_with(o.operator, 'aten::empty') AND p.operator IS NOT NULL
                    THEN format('{} ({})', p.operator, o.operator)
                ELSE o.operator
            END AS operator,
            m.module,
            i.source.file AS source_file,
            i.source.line AS source_line,
            i.source.is_library,
            i.source.callee,
            sum(a.bytes) AS live_bytes,
            sum(a.counted_bytes) AS counted_bytes,
            count(*) AS blocks
        FROM alive AS a
        LEFT JOIN names AS o ON a.op_id = o.id
        LEFT JOIN names AS p ON o.parent_id = p.id
        LEFT JOIN modules AS m ON a.op_id = m.op_id AND a.time_ns = m.time_ns
        LEFT JOIN innermost AS i ON a.op_id = i.op_id AND a.time_ns = i.time_ns
        GROUP BY ALL
    ),

    grouped AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.device,
            b.operator,
            b.module,
            b.source_file,
            b.source_line,
            b.is_library,
            arg_max(
                { 'callee': b.callee },
                { 'live_bytes': b.live_bytes, 'callee': coalesce(b.callee, '') }
            ).callee AS callee,
            sum(b.live_bytes) AS live_bytes,
            sum(b.counted_bytes) AS counted_bytes,
            sum(b.blocks)::BIGINT AS blocks
        FROM by_callee AS b
        GROUP BY ALL
    ),

    held AS (
        SELECT
            g.run,
            g.worker,
            g.span,
            g.device,
            g.operator,
            g.module,
            g.source_file,
            g.source_line,
            g.live_bytes,
            g.blocks,
            g.is_library,
            g.callee
        FROM grouped AS g
        UNION ALL
        SELECT
            p.run,
            p.worker,
            p.span,
            p.device,
            NULL,
            NULL,
            NULL,
            NULL,
            p.total_allocated_bytes - coalesce(sum(g.counted_bytes), 0) AS live_bytes,
            NULL,
            NULL,
            NULL
        FROM peaks AS p
        LEFT JOIN grouped AS g
            ON
                p.run = g.run AND p.worker = g.worker AND p.span = g.span
                AND p.device = g.device
        GROUP BY p.run, p.worker, p.span, p.device, p.total_allocated_bytes
    )

    SELECT
        h.run,
        h.worker,
        h.span,
        h.device,
        h.operator,
        h.module,
        h.source_file,
        h.source_line,
        h.live_bytes::BIGINT AS live_bytes,
        h.blocks,
        percentage(h.live_bytes, p.total_allocated_bytes) AS share_pct,
        p.at.time_ns AS peak_ns,
        h.is_library,
        h.callee
    FROM held AS h
    INNER JOIN peaks AS p
        ON h.run = p.run AND h.worker = p.worker AND h.span = p.span AND h.device = p.device
    WHERE h.blocks IS NOT NULL OR h.live_bytes > 0
    ORDER BY
        h.live_bytes DESC,
        h.run ASC, h.worker ASC, h.span ASC, h.device ASC, h.operator ASC, h.module ASC,
        h.source_file ASC, h.source_line ASC, h.blocks ASC;
