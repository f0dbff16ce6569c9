-- derive: serving_step_marks
-- since: 0.1
-- summary: Steps of a serving framework, numbered from 1 by start; see sql/blocks/serving_marks.sql.
INSERT INTO step_marks
WITH
annotations AS (
    SELECT
        concat_ws(chr(0), h.pid, h.tid) AS lane,
        h.event_id AS id,
        h.name,
        h.ts_ns AS start_ns,
        h.ts_ns + greatest(h.dur_ns, 0) AS end_ns
    FROM raw_host AS h
    WHERE h.category = 'user_annotation'
)

SELECT
    row_number() OVER (ORDER BY m.start_ns, m.id) AS step,
    m.id AS event_id,
    m.name,
    m.start_ns,
    m.end_ns,
    FALSE AS is_profilers
FROM serving_marks('annotations') AS m;
