-- derive: host
-- since: 0.1
-- summary: Host events as intervals on numbered threads, ready for nesting.

CREATE TYPE ROW_KIND AS ENUM('step', 'op', 'frame', 'call', 'memory');

-- Threads by number: sorting by two texts would be most of the cost of nesting.
CREATE TABLE threads AS
SELECT t.pid, t.tid, row_number() OVER (ORDER BY t.pid, t.tid)::INTEGER AS thread
FROM (
    SELECT h.pid, h.tid FROM raw_host AS h
    UNION
    SELECT m.pid, m.tid FROM raw_memory AS m
) AS t;

CREATE TABLE host AS
SELECT
    h.event_id AS row_id,
    t.thread,
    h.ts_ns AS start_ns,
    h.ts_ns + greatest(h.dur_ns, 0) AS end_ns,
    CASE
        WHEN is_op_category(h.category) AND h.name LIKE 'ProfilerStep#%' THEN 'step'
        WHEN is_op_category(h.category) THEN 'op'
        WHEN h.category = 'python_function' THEN 'frame'
        ELSE 'call'
    END::ROW_KIND AS kind
FROM raw_host AS h
INNER JOIN threads AS t ON h.pid IS NOT DISTINCT FROM t.pid AND h.tid IS NOT DISTINCT FROM t.tid;

CREATE VIEW all_rows AS
SELECT h.row_id, h.kind, h.thread, h.start_ns, h.end_ns, TRUE AS is_candidate FROM host AS h;

-- Operators and annotations enclose everything else on their thread, memory records included.
CREATE VIEW op_rows AS
SELECT
    h.row_id, h.kind, h.thread, h.start_ns, h.end_ns,
    h.kind IN ('step', 'op') AS is_candidate
FROM host AS h
UNION ALL
SELECT m.event_id, 'memory'::ROW_KIND, t.thread, m.ts_ns AS start_ns, m.ts_ns AS end_ns, FALSE
FROM raw_memory AS m
INNER JOIN threads AS t ON m.pid IS NOT DISTINCT FROM t.pid AND m.tid IS NOT DISTINCT FROM t.tid;
