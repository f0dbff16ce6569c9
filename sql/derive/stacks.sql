-- derive: stacks
-- since: 0.1
-- summary: Stacks of `family`, each one once, by number and by name; see ingest/stacks.py.
CREATE TABLE linked_stacks AS
SELECT
    trace_of(s.first_event_id) AS trace,
    row_number() OVER (
        PARTITION BY trace_of(s.first_event_id) ORDER BY s.first_event_id
    ) AS stack_id,
    s.*
FROM (
    SELECT
        f.stack_hash,
        any_value(f.outer_hash) AS outer_hash,
        min(f.event_id) AS first_event_id,
        min(f.place) AS place,
        count(*) AS calls,
        sum(f.innermost_ns)::BIGINT AS self_duration_ns
    FROM family AS f
    WHERE NOT f.is_memory
    GROUP BY f.stack_hash
) AS s;

-- Python frames have names like `file.py(123): function`, and so do the lines of call stacks.
CREATE TABLE out_stacks AS
SELECT
    n.trace,
    n.stack_id,
    o.stack_id AS outer_stack_id,
    n.category,
    n.name,
    nullif(n.place.source_file, '') AS source_file,
    try_cast(n.place.source_line AS INTEGER) AS source_line,
    nullif(n.place.source_function, '') AS source_function,
    n.calls,
    n.self_duration_ns
FROM (
    SELECT
        s.trace,
        s.stack_id,
        s.outer_hash,
        h.category,
        stack_name(h.name) AS name,
        regexp_extract(
            CASE
                WHEN h.category = 'python_function' THEN h.name
                ELSE executed_line(h.category, h.call_stack)
            END,
            '^(.*)\((\d+)\): (.*)$',
            ['source_file', 'source_line', 'source_function']
        ) AS place,
        s.calls,
        s.self_duration_ns
    FROM linked_stacks AS s
    INNER JOIN raw_host AS h ON s.place = h.rowid
) AS n
LEFT JOIN linked_stacks AS o ON n.outer_hash = o.stack_hash
ORDER BY n.trace, n.stack_id;
