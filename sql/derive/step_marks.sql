-- derive: step_marks
-- since: 0.1
-- summary: Annotations that are steps: those of the profiler, or of a serving framework in a trace without any.
CREATE TABLE step_marks AS
SELECT
    try_cast(substr(h.name, length('ProfilerStep#') + 1) AS BIGINT) AS step,
    h.event_id,
    h.name,
    h.ts_ns AS start_ns,
    h.ts_ns + greatest(h.dur_ns, 0) AS end_ns,
    TRUE AS is_profilers
FROM raw_host AS h
WHERE is_op_category(h.category) AND h.name LIKE 'ProfilerStep#%';
