-- derive: lost_ends
-- since: 0.2
-- summary: Ends each Python frame that outlasts its caller with the caller; raw keeps the duration in the file.
--
-- With Python 3.12 the profiler may lose the end of a C function (github.com/pytorch/pytorch/issues/193440): of
-- `__exit__` of a context manager of pybind11, of the backward of compiled code and of custom operators. Such a
-- frame lasts until a function around it ends, or until the recording ends, and everything that ran in between
-- would be inside it. A difference of up to 1 us is rounding: older profilers wrote whole microseconds. The
-- caller of the first function of a thread is on another thread, and need not wait for it.
--
-- $unpadded says whether the file writes decimals of times without leading zeros.
WITH
-- Numbers only: these are many rows.
frames AS (
    SELECT
        h.rowid AS place,
        trace_of(h.event_id) AS trace,
        h.python_id,
        h.python_parent_id,
        h.ts_ns,
        h.ts_ns + h.dur_ns AS end_ns
    FROM raw_host AS h
    WHERE h.category = 'python_function' AND h.python_id IS NOT NULL
),

last_ends AS (
    SELECT f.trace, max(f.end_ns) AS end_ns
    FROM frames AS f
    GROUP BY f.trace
),

-- Where ends are lost, a frame lasts until the end of the recording, and its caller does not. To look at the
-- callers of all frames would take longer.
damaged AS (
    SELECT DISTINCT f.trace
    FROM frames AS f
    INNER JOIN last_ends AS l ON f.trace = l.trace AND f.end_ns >= l.end_ns - 1000
    INNER JOIN frames AS c ON f.trace = c.trace AND f.python_parent_id = c.python_id
    INNER JOIN raw_host AS g ON f.place = g.rowid
    INNER JOIN raw_host AS d ON c.place = d.rowid
    WHERE
        f.ts_ns >= c.ts_ns AND f.ts_ns < c.end_ns AND f.end_ns > c.end_ns + 1000
        AND g.pid IS NOT DISTINCT FROM d.pid AND g.tid IS NOT DISTINCT FROM d.tid
),

damaged_frames AS (
    SELECT f.*
    FROM frames AS f
    SEMI JOIN damaged AS d ON f.trace = d.trace
),

-- The last frame of that number: a file that was put together from several has some twice.
cut AS (
    SELECT f.place, c.end_ns
    FROM damaged_frames AS f
    ASOF INNER JOIN damaged_frames AS c
        ON f.trace = c.trace AND f.python_parent_id = c.python_id AND f.ts_ns >= c.ts_ns
    INNER JOIN raw_host AS g ON f.place = g.rowid
    INNER JOIN raw_host AS d ON c.place = d.rowid
    WHERE
        f.ts_ns < c.end_ns AND f.end_ns > c.end_ns + 1000
        AND g.pid IS NOT DISTINCT FROM d.pid AND g.tid IS NOT DISTINCT FROM d.tid
)

UPDATE raw_host SET
    dur_ns = c.end_ns - raw_host.ts_ns,
    raw = CASE
        WHEN json_exists(raw_host.raw, '$.dur') THEN raw_host.raw
        ELSE
            '{"dur":' || (raw_host.dur_ns // 1000) || '.'
            || CASE
                WHEN $unpadded THEN (raw_host.dur_ns % 1000)::VARCHAR
                ELSE lpad((raw_host.dur_ns % 1000)::VARCHAR, 3, '0')
            END
            || coalesce(',' || substr(nullif(raw_host.raw::VARCHAR, '{}'), 2), '}')
    END::JSON
FROM cut AS c
WHERE raw_host.rowid = c.place
RETURNING trace_of(raw_host.event_id) AS trace
