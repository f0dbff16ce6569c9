-- derive: tables_out
-- since: 0.1
-- summary: One relation out_<table> per Parquet file, with epoch times: those that wait for no launch.

CREATE VIEW out_memory_records AS
SELECT
    m.*,
    m.ts_ns + base_ns() AS time_ns,
    device_type(try_cast(json_extract_string(m.args, '$."Device Type"') AS INTEGER)) AS device_type,
    CASE
        WHEN m.event_id = l.event_id THEN l.op_id ELSE error('memory_links is out of order')
    END AS op_id
FROM raw_memory AS m
POSITIONAL JOIN memory_links AS l;

CREATE VIEW out_counters AS
SELECT d.event_id, c.key AS counter, try_cast(c.value AS DOUBLE) AS value
FROM raw_device AS d, json_each(d.args) AS c
WHERE d.category = 'cuda_profiler_range' AND c.type IN ('DOUBLE', 'UBIGINT', 'BIGINT');

-- Where a series is not a plain number, raw keeps the arguments too.
CREATE VIEW out_counter_samples AS
WITH
series AS (
    SELECT
        c.event_id,
        s.key AS series,
        CASE WHEN s.type IN ('DOUBLE', 'UBIGINT', 'BIGINT') THEN try_cast(s.value AS DOUBLE) END
            AS value
    FROM raw_counter AS c, json_each(c.args) AS s
),

readable AS (
    SELECT s.event_id, bool_and(coalesce(abs(s.value) < 9e15, FALSE)) AS is_whole
    FROM series AS s
    GROUP BY s.event_id
)

SELECT
    c.event_id,
    c.raw_category AS category,
    c.ts_ns + base_ns() AS time_ns,
    c.pid,
    c.name,
    s.series,
    s.value,
    CASE
        WHEN coalesce(r.is_whole, c.args IS NULL) THEN c.raw
        ELSE '{"args":' || c.args::VARCHAR || coalesce(',' || substr(c.raw::VARCHAR, 2), '}')
    END AS raw
FROM raw_counter AS c
LEFT JOIN series AS s ON c.event_id = s.event_id
LEFT JOIN readable AS r ON c.event_id = r.event_id;

CREATE VIEW out_flows AS
SELECT
    f.* REPLACE (
        f.source_ns + base_ns() AS source_ns,
        f.target_ns + base_ns() AS target_ns
    ),
    CASE
        WHEN f.source_rest IS NULL AND f.target_rest IS NULL THEN NULL
        WHEN f.source_rest IS NULL THEN '{"target":' || f.target_rest || '}'
        WHEN f.target_rest IS NULL THEN '{"source":' || f.source_rest || '}'
        ELSE '{"source":' || f.source_rest || ',"target":' || f.target_rest || '}'
    END AS raw
FROM linked_flows AS f;

CREATE VIEW out_other_events AS
SELECT
    e.*,
    e.ts_ns + base_ns() AS time_ns,
    e.dur_ns AS duration_ns
FROM (SELECT o.* REPLACE (o.raw_category AS category) FROM raw_other AS o) AS e;

CREATE VIEW out_processes AS
WITH
facts AS (
    SELECT
        o.pid,
        o.tid,
        o.name,
        o.event_id,
        json_extract_string(o.args, ['$.name', '$.labels', '$.sort_index']) AS said
    FROM raw_other AS o
    WHERE o.phase = 'M'
),

named AS (
    SELECT
        f.pid,
        arg_max(f.said[1], f.event_id) FILTER (WHERE f.name = 'process_name') AS process_name,
        arg_max(f.said[2], f.event_id) FILTER (WHERE f.name = 'process_labels') AS process_labels,
        arg_max(try_cast(f.said[3] AS BIGINT), f.event_id)
        FILTER (WHERE f.name = 'process_sort_index') AS process_sort_index
    FROM facts AS f
    GROUP BY f.pid
),

threads_named AS (
    SELECT
        f.pid,
        f.tid,
        arg_max(f.said[1], f.event_id) FILTER (WHERE f.name = 'thread_name') AS thread_name,
        arg_max(try_cast(f.said[3] AS BIGINT), f.event_id)
        FILTER (WHERE f.name = 'thread_sort_index') AS thread_sort_index
    FROM facts AS f
    WHERE f.name LIKE 'thread%'
    GROUP BY f.pid, f.tid
)

SELECT
    n.pid, t.tid, n.process_name, n.process_labels, n.process_sort_index, t.thread_name,
    t.thread_sort_index
FROM named AS n
LEFT JOIN threads_named AS t ON n.pid IS NOT DISTINCT FROM t.pid;

-- What the events say about the trace as a whole. Generations are told by words that came and went.
-- The base time, where there is one, is the start of the quarter of the recording.
CREATE MACRO trace_facts(base_time BIGINT, worker VARCHAR, unpadded BOOLEAN) AS TABLE
    SELECT
        CASE
            WHEN s.has_2021_words THEN '2021'
            WHEN base_time >= epoch_ns(TIMESTAMP '2025-12-31') THEN '2026'
            WHEN base_time IS NOT NULL THEN '2024'
            WHEN unpadded THEN '2024-03'
            WHEN s.has_decimals THEN '2024-04'
            WHEN s.has_2022_words THEN '2022'
            ELSE '2023'
        END AS generation,
        s.process_id,
        -- The profiler's own handler names the worker after the host and the process.
        CASE
            WHEN worker LIKE '%\_' || s.process_id ESCAPE '\'
                THEN left(worker, length(worker) - length(s.process_id::VARCHAR) - 1)
        END AS worker_hostname,
        s.start_ns + base_ns() AS start_ns,
        s.end_ns + base_ns() AS end_ns
    FROM (
        SELECT
            bool_or(e.raw_category IN ('Operator', 'Runtime', 'Kernel', 'Memcpy', 'Memset'))
                AS has_2021_words,
            bool_or(e.ts_ns % 1000 <> 0) AS has_decimals,
            coalesce(
                (
                    SELECT bool_or(f.raw_category IN ('async_cpu_to_gpu', 'async_gpu'))
                    FROM raw_flow AS f
                ),
                FALSE
            ) OR bool_or(json_exists(e.args, '$."Trace iteration"')) AS has_2022_words,
            min(e.ts_ns) AS start_ns,
            max(e.ts_ns + e.dur_ns) AS end_ns,
            (
                SELECT try_cast(mode(h.pid) AS BIGINT) FROM raw_host AS h
                WHERE h.category <> 'overhead'
            ) AS process_id
        FROM (
            SELECT h.raw_category, h.ts_ns, h.dur_ns, h.args FROM raw_host AS h
            UNION ALL
            SELECT d.raw_category, d.ts_ns, d.dur_ns, NULL FROM raw_device AS d
        ) AS e
    ) AS s;
