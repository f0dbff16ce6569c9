-- derive: host
-- since: 0.1
-- summary: Host events and memory records as intervals on numbered threads, ready for nesting.

-- Threads by number: sorting by two texts would be most of the cost of nesting.
CREATE TABLE threads AS
SELECT
    t.trace, t.pid, t.tid, row_number() OVER (ORDER BY t.trace, t.pid, t.tid)::INTEGER AS thread
FROM (
    SELECT trace_of(h.event_id) AS trace, h.pid, h.tid FROM raw_host AS h
    UNION
    SELECT trace_of(m.event_id), m.pid, m.tid FROM raw_memory AS m
) AS t;

-- Flags are numbers, which arrays share with the database.
CREATE VIEW intervals AS
SELECT
    h.rowid AS place,
    h.event_id AS row_id,
    t.thread,
    h.ts_ns AS start_ns,
    h.ts_ns + greatest(h.dur_ns, 0) AS end_ns,
    CASE WHEN is_op_category(h.category) THEN 1 ELSE 0 END::TINYINT AS is_op,
    CASE WHEN h.category = 'python_function' THEN 1 ELSE 0 END::TINYINT AS is_frame,
    0::TINYINT AS is_memory,
    -- Operators that the same line ran for different callers are on different stacks.
    -- Each trace has stacks of its own.
    hash(
        stack_name(h.name),
        h.category,
        CASE WHEN h.category = 'cpu_op' THEN h.call_stack END,
        trace_of(h.event_id)
    ) AS name_hash
FROM raw_host AS h
INNER JOIN threads AS t
    ON
        trace_of(h.event_id) = t.trace
        AND h.pid IS NOT DISTINCT FROM t.pid AND h.tid IS NOT DISTINCT FROM t.tid
UNION ALL
SELECT
    m.rowid,
    m.event_id,
    t.thread,
    -- Without a time it comes before all others of its thread, where nothing is open.
    coalesce(m.ts_ns, -(1::BIGINT << 62)) AS start_ns,
    start_ns AS end_ns,
    0::TINYINT,
    0::TINYINT,
    1::TINYINT,
    0::UBIGINT
FROM raw_memory AS m
INNER JOIN threads AS t
    ON
        trace_of(m.event_id) = t.trace
        AND m.pid IS NOT DISTINCT FROM t.pid AND m.tid IS NOT DISTINCT FROM t.tid;
