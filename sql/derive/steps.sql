-- derive: steps
-- since: 0.1
-- summary: Steps, extended to the device work that they launched; see sql/tables/steps.sql.
CREATE TABLE linked_steps AS
WITH
marks AS (
    SELECT
        trace_of(m.event_id) AS trace,
        m.step,
        m.event_id,
        m.name,
        m.start_ns,
        m.end_ns,
        m.is_profilers,
        row_number() OVER (
            PARTITION BY trace_of(m.event_id) ORDER BY m.start_ns, m.event_id
        ) AS position
    FROM step_marks AS m
),

device AS (
    SELECT
        trace_of(d.event_id) AS trace,
        d.event_id,
        d.ts_ns AS start_ns,
        d.ts_ns + d.dur_ns AS end_ns,
        min(m.position) AS position
    FROM raw_device AS d
    INNER JOIN device_links AS l ON d.event_id = l.event_id
    LEFT JOIN raw_host AS c ON l.launch_id = c.event_id
    -- Compared twice instead of once for equality, by which DuckDB would compare each call with each step.
    LEFT JOIN marks AS m
        ON
            c.ts_ns >= m.start_ns AND c.ts_ns + c.dur_ns <= m.end_ns
            AND trace_of(c.event_id) >= m.trace AND trace_of(c.event_id) <= m.trace
    WHERE l.kind NOT IN ('sync', 'annotation')
    GROUP BY ALL
),

launched AS (
    SELECT
        d.trace,
        d.position,
        count(*) AS device_events,
        min(d.start_ns) AS start_ns,
        max(d.end_ns) AS end_ns
    FROM device AS d
    WHERE d.position IS NOT NULL
    GROUP BY d.trace, d.position
),

-- Work launched before the steps still occupies the device when the first step starts.
leftover AS (
    SELECT d.trace, max(d.end_ns) AS end_ns
    FROM device AS d
    INNER JOIN launched AS l ON d.trace = l.trace AND l.position = 1
    WHERE d.position IS NULL AND d.end_ns < l.start_ns
    GROUP BY d.trace
),

on_host AS (
    SELECT DISTINCT m.trace FROM marks AS m
    ANTI JOIN device AS d ON m.trace = d.trace
),

-- Operators and annotations that begin in a step of such a trace.
held AS (
    SELECT m.trace, m.position, count(*) AS operators
    FROM (
        SELECT h.event_id, h.ts_ns
        FROM raw_host AS h
        SEMI JOIN on_host AS o ON trace_of(h.event_id) = o.trace
        ANTI JOIN marks AS s ON h.event_id = s.event_id
        WHERE is_op_category(h.category)
    ) AS h
    INNER JOIN marks AS m
        ON
            h.ts_ns >= m.start_ns AND h.ts_ns < m.end_ns
            AND trace_of(h.event_id) >= m.trace AND trace_of(h.event_id) <= m.trace
    GROUP BY m.trace, m.position
),

walked AS (
    SELECT
        m.*,
        coalesce(l.device_events, 0) AS device_events,
        max(
            greatest(
                m.start_ns,
                m.end_ns,
                coalesce(l.end_ns, m.end_ns),
                CASE WHEN m.position = 1 THEN coalesce(o.end_ns, m.start_ns) ELSE m.start_ns END
            )
        ) OVER walk AS reach_ns,
        lag(coalesce(l.device_events, 0)) OVER walk AS device_events_before,
        max(CASE WHEN l.device_events > 0 THEN m.position END) OVER whole AS last_position,
        n.trace IS NOT NULL AS is_on_host,
        count(*) OVER whole AS steps,
        coalesce(h.operators, 0) AS operators,
        min(coalesce(h.operators, 0)) OVER before AS least_operators_before,
        o.end_ns AS leftover_end_ns
    FROM marks AS m
    LEFT JOIN launched AS l ON m.trace = l.trace AND m.position = l.position
    LEFT JOIN on_host AS n ON m.trace = n.trace
    LEFT JOIN held AS h ON m.trace = h.trace AND m.position = h.position
    LEFT JOIN leftover AS o ON m.trace = o.trace
    WINDOW
        whole AS (PARTITION BY m.trace),
        walk AS (PARTITION BY m.trace ORDER BY m.position),
        before AS (
            PARTITION BY m.trace ORDER BY m.position
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
)

SELECT
    w.trace,
    w.step,
    w.name,
    w.event_id,
    w.start_ns,
    w.end_ns,
    greatest(
        w.start_ns,
        coalesce(
            lag(w.reach_ns) OVER (PARTITION BY w.trace ORDER BY w.position),
            w.leftover_end_ns,
            w.start_ns
        )
    ) AS extended_start_ns,
    w.reach_ns AS extended_end_ns,
    w.device_events,
    coalesce(
        w.position > w.last_position
        OR (
            w.position = w.last_position AND w.position > 1
            -- Steps of serving differ: one that decodes launches less than one that prefills.
            AND w.is_profilers
            AND 0.8 * w.device_events_before > w.device_events
        )
        -- Whoever leaves the loop leaves the step that has just begun, too. The work of a longer step
        -- without operators ran in Python, or on threads that were not recorded.
        OR (
            w.is_on_host AND w.position = w.steps AND w.is_profilers
            AND (
                0.8 * w.least_operators_before > w.operators
                OR (w.position = 1 AND w.operators = 0 AND w.end_ns - w.start_ns < 10000000)
            )
        ),
        FALSE
    ) AS is_tail
FROM walked AS w
UNION ALL
-- A trace without steps has one step, from its first event to its last.
SELECT
    e.trace, NULL, NULL, NULL, min(e.start_ns), max(e.end_ns), min(e.start_ns), max(e.end_ns),
    count(*) FILTER (WHERE e.counts), FALSE
FROM (
    SELECT
        trace_of(h.event_id) AS trace,
        h.ts_ns AS start_ns,
        h.ts_ns + h.dur_ns AS end_ns,
        FALSE AS counts
    FROM raw_host AS h
    UNION ALL
    SELECT
        trace_of(d.event_id),
        d.ts_ns,
        d.ts_ns + d.dur_ns,
        l.kind NOT IN ('sync', 'annotation')
    FROM raw_device AS d
    INNER JOIN device_links AS l ON d.event_id = l.event_id
) AS e
WHERE e.trace NOT IN (SELECT m.trace FROM marks AS m)
GROUP BY e.trace;
