-- block: costliest_parts
-- since: 0.1
-- summary: Costliest kernels, collectives, operators, modules and lines of traces, as changes for a replay.
-- grain: one row per trace and part
-- uses: first_id, is_wanted, library_files, trace_names
--
-- The cost of kernels and collectives is the sum of their durations. That of an operator, a module and a line is
-- the time of threads in it, with all that runs in it, and the duration of the work launched there. Lines of
-- libraries are left out, and what is around the start of a step, such as the loop over the steps.
--
-- Tail steps do not count, unless a trace has no other steps: the cost is without all that starts on a thread between
-- their start and their end, and without the work launched there.
--
-- Of two parts in which the same time passes, such as an operator that does nothing but call another one, both are
-- listed.
--
-- params
--   name  type    unit  default  meaning
--   most  BIGINT  -     -        How many of each kind.
--   run, worker, span
-- columns
--   name     type     unit  meaning
--   trace    BIGINT   key   Number of the trace, as in trace_names.
--   change   VARCHAR  key   'kernels', 'collectives', 'operators', 'module' or 'line', as in parsed_changes.
--   target   VARCHAR  key   Name, or FILE:LINE.
--   cost_ns  BIGINT   ns    The cost, over the trace without its tail steps.
--   place    BIGINT   -     Place among the costliest of its kind, from 1.
CREATE MACRO costliest_parts(
    most BIGINT, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    -- From the first to the last of them there is no other step: the end of the recording cut them short.
    _tails AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            min(s.start_ns) FILTER (WHERE s.is_tail) AS from_ns,
            max(s.end_ns) FILTER (WHERE s.is_tail) AS to_ns
        FROM steps AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span
        HAVING bool_or(s.is_tail) AND NOT bool_and(s.is_tail IS TRUE)
    ),

    _tail_events AS MATERIALIZED (
        SELECT
            n.first_id + h.event_id AS id,
            n.first_id + h.parent_id AS parent_id,
            n.first_id + h.stack_id AS stack_id,
            h.duration_ns
        FROM host_events AS h
        INNER JOIN (
            SELECT s.*, first_id(t.names, s.run, s.worker, s.span) AS first_id
            FROM _tails AS s
            CROSS JOIN trace_names(run, worker, span) AS t
        ) AS n
            ON
                h.run = n.run AND h.worker = n.worker AND h.span = n.span
                AND h.start_ns >= n.from_ns AND h.start_ns < n.to_ns
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- Time of threads in tail steps that belongs to a stack itself, not to what runs in it.
    _tail_times AS (
        SELECT e.id, sum(e.duration_ns) AS duration_ns
        FROM (
            SELECT e.stack_id AS id, e.duration_ns
            FROM _tail_events AS e
            UNION ALL
            SELECT p.stack_id, -e.duration_ns
            FROM _tail_events AS e
            INNER JOIN _tail_events AS p ON e.parent_id = p.id
        ) AS e
        GROUP BY e.id
    ),

    _stacks AS MATERIALIZED (
        SELECT
            s.first_id + s.stack_id AS id,
            s.first_id + s.outer_stack_id AS outer_id,
            s.category,
            s.name,
            s.source_file,
            s.source_line,
            s.self_duration_ns
        FROM (
            SELECT s.*, first_id(t.names, s.run, s.worker, s.span) AS first_id
            FROM stacks AS s
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        ) AS s
    ),

    -- Lines of the call stacks of operators; operators with the same stack have the same.
    _called AS MATERIALIZED (
        SELECT c.id, c.place.file AS source_file, c.place.line AS source_line
        FROM (
            SELECT
                o.id,
                regexp_extract(
                    unnest(string_split(o.call_stack, ';')), '^(.*)\((\d+)\): .*$', ['file', 'line']
                ) AS place
            FROM (
                SELECT
                    first_id(t.names, h.run, h.worker, h.span) + h.stack_id AS id,
                    any_value(h.call_stack) AS call_stack
                FROM host_events AS h
                CROSS JOIN trace_names(run, worker, span) AS t
                WHERE
                    h.call_stack IS NOT NULL
                    AND is_wanted(h.run, h.worker, h.span, run, worker, span)
                GROUP BY ALL
            ) AS o
        ) AS c
    ),

    _lines AS MATERIALIZED (
        SELECT s.id, s.source_file, s.source_line::VARCHAR AS source_line
        FROM _stacks AS s
        WHERE s.category = 'python_function' AND s.source_line IS NOT NULL
        UNION ALL
        SELECT c.id, c.source_file, c.source_line
        FROM _called AS c
    ),

    _libraries AS MATERIALIZED (FROM library_files('_lines')),

    _parts AS MATERIALIZED (
        SELECT s.id, 'operators' AS change, s.name AS target
        FROM _stacks AS s
        WHERE s.category = 'cpu_op'
        UNION ALL
        SELECT s.id, 'module', substr(s.name, 12)
        FROM _stacks AS s
        WHERE starts_with(s.name, 'nn.Module: ')
        UNION ALL
        SELECT n.id, 'line', n.source_file || ':' || n.source_line
        FROM _lines AS n
        ANTI JOIN _libraries AS l ON n.source_file = l.source_file
        WHERE n.source_file <> ''
    ),

    -- Each stack with the stacks around it, itself included.
    _around AS (
        SELECT s.id, s.id AS outer_id
        FROM _stacks AS s
        UNION ALL
        SELECT a.id, s.outer_id
        FROM _around AS a
        INNER JOIN _stacks AS s ON a.outer_id = s.id
        WHERE s.outer_id IS NOT NULL
    ),

    _launched AS (
        SELECT l.id, sum(l.duration_ns)::BIGINT AS duration_ns
        FROM (
            SELECT
                first_id(t.names, d.run, d.worker, d.span) + h.stack_id AS id,
                d.duration_ns
            FROM device_events AS d
            INNER JOIN host_events AS h
                ON
                    d.run = h.run AND d.worker = h.worker AND d.span = h.span
                    AND d.launch_id = h.event_id
            CROSS JOIN trace_names(run, worker, span) AS t
            ANTI JOIN _tail_events AS e
                ON first_id(t.names, d.run, d.worker, d.span) + d.launch_id = e.id
            WHERE
                d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
                AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS l
        GROUP BY l.id
    ),

    -- What is around the start of a step.
    _loops AS (
        SELECT DISTINCT a.id >> 40 AS trace, p.change, p.target
        FROM _stacks AS s
        INNER JOIN _around AS a ON s.id = a.id
        INNER JOIN _parts AS p ON a.outer_id = p.id
        WHERE s.category = 'user_annotation' AND s.name = 'ProfilerStep*'
    ),

    _costs AS (
        SELECT
            p.trace,
            p.change,
            p.target,
            sum(
                s.self_duration_ns - coalesce(e.duration_ns, 0) + coalesce(l.duration_ns, 0)
            )::BIGINT AS cost_ns
        FROM (
            SELECT DISTINCT a.id, a.id >> 40 AS trace, p.change, p.target
            FROM _around AS a
            INNER JOIN _parts AS p ON a.outer_id = p.id
        ) AS p
        INNER JOIN _stacks AS s ON p.id = s.id
        LEFT JOIN _launched AS l ON p.id = l.id
        LEFT JOIN _tail_times AS e ON p.id = e.id
        GROUP BY p.trace, p.change, p.target
        UNION ALL
        SELECT
            first_id(t.names, d.run, d.worker, d.span) >> 40 AS trace,
            CASE d.kind WHEN 'compute' THEN 'kernels' ELSE 'collectives' END,
            d.name,
            sum(d.duration_ns)::BIGINT
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        LEFT JOIN _tails AS s ON d.run = s.run AND d.worker = s.worker AND d.span = s.span
        ANTI JOIN _tail_events AS e
            ON first_id(t.names, d.run, d.worker, d.span) + d.launch_id = e.id
        WHERE
            d.kind IN ('compute', 'communication')
            -- Work without a call is of the step in which it starts.
            AND (
                d.launch_id IS NOT NULL
                OR s.from_ns IS NULL
                OR d.start_ns < s.from_ns
                OR d.start_ns >= s.to_ns
            )
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY ALL
    )

    SELECT c.trace, c.change, c.target, c.cost_ns, c.place
    FROM (
        SELECT
            c.*,
            row_number() OVER (
                PARTITION BY c.trace, c.change ORDER BY c.cost_ns DESC, c.target ASC
            ) AS place
        FROM _costs AS c
        ANTI JOIN _loops AS l
            ON c.trace = l.trace AND c.change = l.change AND c.target = l.target
        WHERE c.trace IS NOT NULL AND c.cost_ns > 0
    ) AS c
    WHERE c.place <= most;
