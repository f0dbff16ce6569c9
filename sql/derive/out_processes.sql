-- derive: out_processes
-- since: 0.1
-- summary: Content of the Parquet file of processes and threads.
WITH
facts AS (
    SELECT
        trace_of(o.event_id) AS trace,
        o.pid,
        o.tid,
        o.name,
        o.event_id,
        list_transform(
            json_extract_string(o.args, ['$.name', '$.labels', '$.sort_index']),
            LAMBDA text: nullif(text, '')
        ) AS said
    FROM raw_other AS o
    WHERE o.phase = 'M'
),

named AS (
    SELECT
        f.trace,
        f.pid,
        arg_max(f.said[1], f.event_id) FILTER (WHERE f.name = 'process_name') AS process_name,
        arg_max(f.said[2], f.event_id) FILTER (WHERE f.name = 'process_labels') AS process_labels,
        arg_max(try_cast(f.said[3] AS BIGINT), f.event_id)
        FILTER (WHERE f.name = 'process_sort_index') AS process_sort_index
    FROM facts AS f
    GROUP BY f.trace, f.pid
),

threads_named AS (
    SELECT
        f.trace,
        f.pid,
        f.tid,
        arg_max(f.said[1], f.event_id) FILTER (WHERE f.name = 'thread_name') AS thread_name,
        arg_max(try_cast(f.said[3] AS BIGINT), f.event_id)
        FILTER (WHERE f.name = 'thread_sort_index') AS thread_sort_index
    FROM facts AS f
    WHERE f.name LIKE 'thread%'
    GROUP BY f.trace, f.pid, f.tid
)

SELECT
    n.trace,
    n.pid,
    t.tid,
    n.process_name,
    n.process_labels,
    n.process_sort_index,
    t.thread_name,
    t.thread_sort_index
FROM named AS n
LEFT JOIN threads_named AS t ON n.trace = t.trace AND n.pid IS NOT DISTINCT FROM t.pid
