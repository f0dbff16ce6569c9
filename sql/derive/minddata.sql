-- derive: minddata
-- since: 0.2
-- summary: The input pipeline and the CPU use that the files of MindData hold.
--
-- Times are those of the machine's clock since it started, in milliseconds. A list of samples is only combined with
-- the times of the samples if it is known which entry belongs to which time:
--
--     - a list as long as the list of times
--     - the list of the process, one entry shorter: its first sample has no entry
--     - lists of the host, several times as long, because each sample is written several times, the first time with
--       the figures. Some of them are cut to the length of the list of times.
--
-- Any other list is left out.
CREATE TABLE minddata_json AS
SELECT t.kind, try_cast(t.text AS JSON) AS content
FROM minddata_texts AS t
WHERE t.kind IN ('pipeline_profiling', 'minddata_cpu_utilization');

-- An unfinished last line is damaged, as every other line that is not made of the right numbers.
CREATE TABLE minddata_lines AS
SELECT
    l.kind,
    l.place,
    CASE
        WHEN l.kind = 'minddata_getnext_profiling'
            THEN
                regexp_full_match(l.line, '\w+ \d+ \d+ \d+')
                AND split_part(l.line, ' ', 1) LIKE 'GetNext%'
        ELSE regexp_full_match(l.line, '\d+ \d+ \d+ \d+ \d+')
    END AS is_whole,
    list_transform(string_split(l.line, ' '), LAMBDA f: try_cast(f AS BIGINT)) AS fields
FROM (
    SELECT
        t.kind,
        generate_subscripts(t.lines, 1) AS place,
        trim(unnest(t.lines), ' ' || chr(13)) AS line
    FROM (
        SELECT f.kind, string_split(f.text, chr(10)) AS lines
        FROM minddata_texts AS f
        WHERE f.kind NOT IN ('pipeline_profiling', 'minddata_cpu_utilization')
    ) AS t
) AS l
WHERE l.line <> '';

CREATE TABLE minddata_series AS
WITH
cpu AS (
    SELECT
        j.content,
        coalesce(try_cast(json_extract(j.content, '$.time_stamp') AS BIGINT[]), []) AS times
    FROM minddata_json AS j
    WHERE j.kind = 'minddata_cpu_utilization'
),

operators AS (
    SELECT unnest(json_extract(j.content, '$.op_info[*]')) AS operator
    FROM minddata_json AS j
    WHERE j.kind = 'pipeline_profiling'
),

busy_operators AS (
    SELECT unnest(json_extract(c.content, '$.op_info[*]')) AS operator FROM cpu AS c
),

lists AS (
    SELECT 'host' AS name, NULL AS pid, v.key, v.value AS list
    FROM cpu AS c, json_each(c.content, '$.device_info') AS v
    UNION ALL
    SELECT 'process', NULL, v.key, v.value
    FROM cpu AS c, json_each(c.content, '$.process_info') AS v
    UNION ALL
    SELECT 'operator', json_extract_string(o.operator, '$.op_id'), v.key, v.value
    FROM busy_operators AS o, json_each(o.operator, '$.metrics') AS v
    UNION ALL
    SELECT
        'output_queue',
        json_extract_string(o.operator, '$.op_id'),
        'output_queue',
        json_extract(o.operator, '$.metrics.output_queue.size')
    FROM operators AS o
),

named AS (
    SELECT
        l.name,
        l.pid,
        CASE l.key
            WHEN 'user_utilization' THEN 'user_pct'
            WHEN 'sys_utilization' THEN 'system_pct'
            WHEN 'io_utilization' THEN 'io_wait_pct'
            WHEN 'idle_utilization' THEN 'idle_pct'
            WHEN 'runnable_process' THEN 'runnable_processes'
            WHEN 'runable_processes' THEN 'runnable_processes'
            WHEN 'context_switch_count' THEN 'context_switches'
            WHEN 'output_queue' THEN ''
        END AS series,
        try_cast(l.list AS DOUBLE[]) AS samples
    FROM lists AS l
),

clocked AS (
    SELECT
        n.name,
        n.pid,
        n.series,
        n.samples,
        len(n.samples) AS entries,
        coalesce((SELECT c.times FROM cpu AS c), []) AS times,
        max(len(n.samples)) OVER (PARTITION BY n.name) AS longest
    FROM named AS n
    WHERE n.series IS NOT NULL AND n.samples IS NOT NULL
)

SELECT
    c.name,
    c.pid,
    c.series,
    c.samples,
    c.times,
    -- Entry number i * stride + first belongs to time number i, both from 0.
    CASE
        WHEN c.name = 'host' AND len(c.times) > 0 AND c.longest % len(c.times) = 0
            THEN CASE WHEN c.entries IN (len(c.times), c.longest) THEN c.longest // len(c.times) END
        WHEN c.entries = len(c.times) THEN 1
        WHEN c.name = 'process' AND c.entries = len(c.times) - 1 THEN 1
    END AS stride,
    CASE WHEN c.name = 'process' THEN c.entries - len(c.times) ELSE 0 END AS first
FROM clocked AS c;

INSERT INTO raw_pipeline_operators BY NAME
WITH
operators AS (
    SELECT unnest(json_extract(j.content, '$.op_info[*]')) AS operator
    FROM minddata_json AS j
    WHERE j.kind = 'pipeline_profiling'
),

facts AS (
    SELECT
        try_cast(json_extract_string(o.operator, '$.op_id') AS BIGINT) AS operator_id,
        regexp_replace(json_extract_string(o.operator, '$.op_type'), 'Op$', '') AS operator,
        try_cast(json_extract(o.operator, '$.children') AS BIGINT[]) AS children,
        try_cast(json_extract_string(o.operator, '$.num_workers') AS BIGINT) AS workers,
        try_cast(json_extract_string(o.operator, '$.metrics.output_queue.length') AS BIGINT)
            AS queue_capacity
    FROM operators AS o
)

SELECT
    0 AS pipeline,
    f.operator_id,
    f.operator,
    (
        SELECT min(p.operator_id) FROM facts AS p
        WHERE list_contains(p.children, f.operator_id)
    ) AS parent_id,
    f.workers,
    f.queue_capacity
FROM facts AS f
WHERE f.operator_id IS NOT NULL
ORDER BY f.operator_id;

-- Fields of a line: type, subtype, batch, value, time. Type 0 has times of 0 the wait for the pipeline, 1 the push,
-- 2 both; type 1 has the size of the queue as value and its capacity as subtype.
INSERT INTO raw_pipeline_batches BY NAME
SELECT
    0 AS pipeline,
    CASE WHEN l.kind = 'device_queue_profiling' THEN 'device_queue' ELSE 'iterator' END AS stage,
    l.fields[3] AS batch,
    max(l.fields[5]) * 1000000 AS time_ns,
    max(l.fields[4]) FILTER (WHERE l.fields[1] = 0 AND l.fields[2] = 0) * 1000000 AS get_ns,
    max(l.fields[4]) FILTER (WHERE l.fields[1] = 0 AND l.fields[2] = 1) * 1000000 AS push_ns,
    max(l.fields[4]) FILTER (WHERE l.fields[1] = 0 AND l.fields[2] = 2) * 1000000 AS total_ns,
    max(l.fields[4]) FILTER (WHERE l.fields[1] = 1) AS queue_size,
    max(l.fields[2]) FILTER (WHERE l.fields[1] = 1) AS queue_capacity
FROM minddata_lines AS l
WHERE l.is_whole AND l.kind IN ('device_queue_profiling', 'dataset_iterator_profiling')
GROUP BY l.kind, batch
ORDER BY stage, batch;

INSERT INTO raw_pipeline_batches BY NAME
SELECT
    0 AS pipeline,
    'get_next' AS stage,
    row_number() OVER (ORDER BY l.fields[2], l.fields[3]) AS batch,
    l.fields[3] AS time_ns,
    l.fields[3] - l.fields[2] AS get_ns,
    l.fields[3] - l.fields[2] AS total_ns,
    l.fields[4] AS queue_size
FROM minddata_lines AS l
WHERE l.is_whole AND l.kind = 'minddata_getnext_profiling'
ORDER BY batch;

-- A queue without the times of its samples is placed by the interval between two, from 0.
INSERT INTO raw_samples BY NAME
SELECT
    CASE WHEN s.name = 'output_queue' THEN 'data_queue' ELSE 'cpu_utilization' END AS category,
    coalesce(s.times[i.number + 1], i.number * p.interval_ms)::BIGINT * 1000000 AS time_ns,
    s.pid,
    s.name,
    s.series,
    s.samples[
        (
            i.number * coalesce(s.stride, 1) + 1
            + CASE WHEN s.stride IS NULL THEN 0 ELSE s.first END
        )::BIGINT
    ] AS value
FROM minddata_series AS s
CROSS JOIN (
    SELECT
        coalesce(
            max(try_cast(json_extract_string(j.content, '$.sampling_interval') AS BIGINT)), 1
        ) AS interval_ms
    FROM minddata_json AS j
) AS p
CROSS JOIN (
    SELECT unnest(range(0, coalesce(max(greatest(len(t.samples), len(t.times))), 0))) AS number
    FROM minddata_series AS t
) AS i
WHERE
    i.number < CASE
        WHEN s.stride IS NOT NULL THEN len(s.times)
        WHEN s.name = 'output_queue' AND len(s.times) = 0 THEN len(s.samples)
        ELSE 0
    END
    AND value IS NOT NULL
ORDER BY category, time_ns, s.name, s.pid, s.series;

INSERT INTO raw_samples BY NAME
SELECT DISTINCT
    'cpu_utilization' AS category,
    s.time_ns,
    s.name,
    'cores' AS series,
    try_cast(json_extract_string(j.content, '$.cpu_processor_num') AS DOUBLE) AS value
FROM raw_samples AS s
CROSS JOIN minddata_json AS j
WHERE
    s.name = 'host'
    AND j.kind = 'minddata_cpu_utilization'
    AND json_exists(j.content, '$.cpu_processor_num')
ORDER BY s.time_ns;

CREATE TABLE minddata_damage AS
SELECT
    l.kind,
    'line ' || l.place || ': it is not made of the numbers of a batch' AS cause
FROM minddata_lines AS l
WHERE NOT l.is_whole
UNION ALL
SELECT j.kind, 'it is not JSON' FROM minddata_json AS j WHERE j.content IS NULL
UNION ALL
SELECT
    CASE WHEN s.name = 'output_queue' THEN 'pipeline_profiling' ELSE 'minddata_cpu_utilization' END,
    coalesce(nullif(s.series, ''), 'output_queue') || ' of ' || s.name || coalesce(' ' || s.pid, '')
    || ': its ' || len(s.samples) || ' entries cannot be assigned to ' || len(s.times) || ' times'
FROM minddata_series AS s
WHERE
    s.stride IS NULL AND len(s.samples) > 0
    AND NOT (s.name = 'output_queue' AND len(s.times) = 0);
