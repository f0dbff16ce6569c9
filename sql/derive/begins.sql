-- derive: begins
-- since: 0.2
-- summary: Makes a host event of each row that begins an event (phase B) and the row that ends it (phase E).
--
-- Chrome's format lets a program write an event as two rows of a thread; tlparse and py-spy do. An end closes the
-- event of its name that began last on its thread and is still open: tlparse writes what ran on several threads as one.
-- If a row of the thread has no name, an end closes the last event of any name. Rows without a partner stay in raw_other,
-- and so do the ends: they may have arguments. If a row that begins an event has a duration of its own, raw keeps it.
CREATE TABLE ended AS
WITH
named AS (
    SELECT
        o.event_id,
        o.phase,
        o.ts_ns,
        { 'trace': trace_of(o.event_id), 'pid': o.pid, 'tid': o.tid } AS thread,
        CASE
            WHEN
                bool_and(o.name <> '' AND o.name IS NOT NULL) OVER (
                    PARTITION BY trace_of(o.event_id), o.pid, o.tid
                )
                THEN o.name
        END AS name
    FROM raw_other AS o
    WHERE o.phase IN ('B', 'E') AND o.ts_ns IS NOT NULL
),

-- Each begin and its end have the same level. So may an end without a begin.
levels AS (
    SELECT
        n.*,
        sum(CASE n.phase WHEN 'B' THEN 1 ELSE -1 END) OVER (
            PARTITION BY n.thread, n.name ORDER BY n.ts_ns, n.event_id
        ) + CASE n.phase WHEN 'B' THEN 0 ELSE 1 END AS level
    FROM named AS n
),

-- The next row of the same level.
followed AS (
    SELECT
        l.event_id,
        l.phase,
        l.ts_ns,
        lead(l.phase) OVER of_level AS next_phase,
        lead(l.ts_ns) OVER of_level AS end_ns
    FROM levels AS l
    WINDOW of_level AS (
        PARTITION BY l.thread, l.name, l.level ORDER BY l.ts_ns, l.event_id
    )
)

SELECT f.event_id, f.end_ns - f.ts_ns AS dur_ns
FROM followed AS f
WHERE f.phase = 'B' AND f.next_phase = 'E';

INSERT INTO raw_host BY NAME
SELECT
    o.event_id,
    o.category,
    o.raw_category,
    o.name,
    o.pid,
    o.tid,
    o.ts_ns,
    e.dur_ns,
    o.args,
    (
        '{"ph":"B"'
        || CASE
            WHEN o.dur_ns IS NULL OR coalesce(json_exists(o.raw, '$.dur'), FALSE) THEN ''
            ELSE ',"dur":' || (o.dur_ns // 1000) || '.' || lpad((o.dur_ns % 1000)::VARCHAR, 3, '0')
        END
        || coalesce(',' || substr(nullif(o.raw::VARCHAR, '{}'), 2), '}')
    )::JSON AS raw
FROM raw_other AS o
INNER JOIN ended AS e ON o.event_id = e.event_id
WHERE event_table('X', o.category, o.name, TRUE, FALSE) = 'host';

DELETE FROM raw_other AS o
USING raw_host AS h
WHERE o.event_id = h.event_id;

DROP TABLE ended;
