-- derive: serving_step_marks
-- since: 0.1
-- summary: Steps of a serving framework, numbered from 1 by start; see sql/blocks/serving_marks.sql.
INSERT INTO step_marks
WITH
annotations AS (
    SELECT
        concat_ws(chr(0), trace_of(h.event_id), h.pid, h.tid) AS lane,
        h.event_id AS id,
        h.name,
        h.ts_ns AS start_ns,
        h.ts_ns + greatest(h.dur_ns, 0) AS end_ns
    FROM raw_host AS h
    WHERE
        h.category = 'user_annotation'
        AND trace_of(h.event_id) NOT IN (SELECT trace_of(s.event_id) FROM step_marks AS s)
)

SELECT
    row_number() OVER (PARTITION BY trace_of(m.id) ORDER BY m.start_ns, m.id) AS step,
    m.id AS event_id,
    m.name,
    m.start_ns,
    m.end_ns,
    FALSE AS is_profilers
FROM serving_marks('annotations') AS m;
