-- derive: step_marks
-- since: 0.1
-- summary: Events that are steps: annotations of the profiler, or else of a serving framework; and numbered steps of JAX.
CREATE TABLE step_marks AS
WITH
of_profiler AS (
    SELECT
        try_cast(substr(h.name, length('ProfilerStep#') + 1) AS BIGINT) AS step,
        h.event_id,
        h.name,
        h.ts_ns AS start_ns,
        h.ts_ns + greatest(h.dur_ns, 0) AS end_ns,
        TRUE AS is_profilers
    FROM raw_host AS h
    WHERE is_op_category(h.category) AND h.name LIKE 'ProfilerStep#%'
),

-- jax.profiler.StepTraceAnnotation and tf.profiler.experimental.Trace number the steps of a loop:
-- https://docs.jax.dev/en/latest/_autosummary/jax.profiler.StepTraceAnnotation.html
numbered AS (
    SELECT
        trace_of(h.event_id) AS trace,
        try_cast(h.args ->> '$.step_num' AS BIGINT) AS step,
        h.event_id,
        h.name,
        h.ts_ns AS start_ns,
        h.ts_ns + greatest(h.dur_ns, 0) AS end_ns,
        {
            'pid': h.pid,
            'tid': h.tid,
            -- xprof calls the steps of train "train 0", "train 1" and so on.
            'name': CASE
                WHEN ends_with(h.name, ' ' || (h.args ->> '$.step_num'))
                    THEN h.name[:-2 - length(h.args ->> '$.step_num')]
                ELSE h.name
            END
        } AS loop
    FROM raw_host AS h
    WHERE h.category IS NULL AND contains(h.args::VARCHAR, '"step_num"')
),

counted AS (
    SELECT
        n.*,
        count(*) OVER (PARTITION BY n.trace, n.loop) AS steps
    FROM numbered AS n
    ANTI JOIN of_profiler AS p ON n.trace = trace_of(p.event_id)
    WHERE n.step IS NOT NULL
),

-- A program that trains and evaluates has several loops. The one with the most steps counts.
chosen AS (
    SELECT c.trace, c.step, c.event_id, c.name, c.start_ns, c.end_ns
    FROM counted AS c
    QUALIFY dense_rank() OVER (PARTITION BY c.trace ORDER BY c.steps DESC, c.loop ASC) = 1
)

-- A program that counts from 0 in each epoch, or in training and in validation, has several steps of one number.
SELECT
    CASE
        WHEN count(DISTINCT m.step) OVER whole = count(*) OVER whole THEN m.step
        ELSE
            row_number() OVER (PARTITION BY trace_of(m.event_id) ORDER BY m.start_ns, m.event_id)
            - 1
    END AS step,
    m.event_id,
    m.name,
    m.start_ns,
    m.end_ns,
    m.is_profilers
FROM (
    FROM of_profiler
    UNION ALL
    SELECT c.step, c.event_id, c.name, c.start_ns, c.end_ns, FALSE FROM chosen AS c
) AS m
WINDOW whole AS (PARTITION BY trace_of(m.event_id));
