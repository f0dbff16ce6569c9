-- derive: recordings
-- since: 0.2
-- summary: Rows of the input pipeline and of CPU use, from the lines of recordings beside a trace.
--
-- Only what was recorded during the trace: a recording may have begun long before, and have gone on since. Lines that
-- are not JSON are damaged; the last line of a recording that is still being written may be one. If several lines
-- describe a loader, the first one counts.
CREATE TABLE recorded AS
WITH
bounds AS (
    SELECT
        min(e.ts_ns) + base_ns(0) AS start_ns,
        max(e.ts_ns + e.dur_ns) + base_ns(0) AS end_ns
    FROM (
        SELECT h.ts_ns, h.dur_ns FROM raw_host AS h
        UNION ALL
        SELECT d.ts_ns, d.dur_ns FROM raw_device AS d
    ) AS e
),

lines AS (
    SELECT r.file, r.number, try_cast(r.line AS JSON) AS line FROM recorded_lines AS r
),

timed AS (
    SELECT
        r.file,
        r.number,
        r.line,
        json_extract_string(r.line, '$.kind') AS kind,
        try_cast(json_extract_string(r.line, '$.time_ns') AS BIGINT) AS time_ns
    FROM lines AS r
)

SELECT
    t.file,
    t.number,
    t.line,
    t.kind,
    t.time_ns,
    coalesce(t.time_ns BETWEEN b.start_ns AND b.end_ns, FALSE) AS is_inside
FROM timed AS t
CROSS JOIN bounds AS b;

CREATE TABLE recorded_pipelines AS
SELECT b.file, row_number() OVER (ORDER BY b.file) - 1 AS pipeline, b.has_fetches
FROM (
    SELECT r.file, bool_or(json_exists(r.line, '$.fetch_ns')) AS has_fetches
    FROM recorded AS r
    WHERE r.kind = 'batch' AND r.is_inside
    GROUP BY r.file
) AS b;

INSERT INTO raw_pipeline_operators BY NAME
SELECT
    p.pipeline,
    o.operator_id,
    o.operator,
    o.parent_id,
    CASE
        WHEN o.operator_id > 0 THEN try_cast(json_extract_string(r.line, '$.workers') AS BIGINT)
        ELSE 0
    END AS workers,
    CASE
        WHEN o.operator_id = 0
            THEN try_cast(json_extract_string(r.line, '$.queue_capacity') AS BIGINT)
    END AS queue_capacity
FROM recorded_pipelines AS p
INNER JOIN recorded AS r ON p.file = r.file AND r.kind = 'pipeline'
CROSS JOIN (
    VALUES (0, 'DataLoader', NULL), (1, 'Collate', 0), (2, 'Dataset', 1)
) AS o (operator_id, operator, parent_id)
WHERE o.operator_id = 0 OR p.has_fetches
QUALIFY row_number() OVER (PARTITION BY p.pipeline, o.operator_id ORDER BY r.number) = 1
ORDER BY p.pipeline, o.operator_id;

INSERT INTO raw_pipeline_batches BY NAME
SELECT
    p.pipeline,
    'iterator' AS stage,
    try_cast(json_extract_string(r.line, '$.batch') AS BIGINT) AS batch,
    r.time_ns,
    try_cast(json_extract_string(r.line, '$.get_ns') AS BIGINT) AS get_ns,
    try_cast(json_extract_string(r.line, '$.get_ns') AS BIGINT) AS total_ns,
    try_cast(json_extract_string(r.line, '$.queue_size') AS BIGINT) AS queue_size,
    o.queue_capacity,
    try_cast(json_extract_string(r.line, '$.loader_worker') AS BIGINT) AS loader_worker,
    try_cast(json_extract_string(r.line, '$.loader_pid') AS BIGINT) AS loader_pid,
    try_cast(json_extract_string(r.line, '$.samples') AS BIGINT) AS samples,
    try_cast(json_extract_string(r.line, '$.fetch_start_ns') AS BIGINT) AS fetch_start_ns,
    try_cast(json_extract_string(r.line, '$.fetch_ns') AS BIGINT) AS fetch_ns,
    try_cast(json_extract_string(r.line, '$.collate_ns') AS BIGINT) AS collate_ns,
    try_cast(json_extract_string(r.line, '$.cpu_ns') AS BIGINT) AS cpu_ns
FROM recorded AS r
INNER JOIN recorded_pipelines AS p ON r.file = p.file
LEFT JOIN raw_pipeline_operators AS o ON p.pipeline = o.pipeline AND o.operator_id = 0
WHERE r.kind = 'batch' AND r.is_inside
ORDER BY p.pipeline, r.time_ns, batch;

INSERT INTO raw_samples BY NAME
WITH
samples AS (
    SELECT r.file, r.time_ns, r.line FROM recorded AS r WHERE r.kind = 'cpu' AND r.is_inside
),

owners AS (
    SELECT r.file, json_extract_string(r.line, '$.pid') AS pid FROM recorded AS r WHERE r.number = 0
),

processes AS (
    SELECT s.file, s.time_ns, unnest(json_extract(s.line, '$.processes[*]')) AS line
    FROM samples AS s
),

placed AS (
    SELECT s.time_ns, NULL AS pid, 'host' AS name, s.line FROM samples AS s
    UNION ALL
    SELECT s.time_ns, NULL, 'host', r.line
    FROM recorded AS r
    INNER JOIN samples AS s ON r.file = s.file
    WHERE r.kind = 'host'
    UNION ALL
    SELECT
        p.time_ns,
        json_extract_string(p.line, '$.pid'),
        CASE
            WHEN json_extract_string(p.line, '$.pid') = o.pid THEN 'process' ELSE 'child_process'
        END,
        p.line
    FROM processes AS p
    INNER JOIN owners AS o ON p.file = o.file
)

SELECT
    'cpu_utilization' AS category,
    p.time_ns,
    p.pid,
    p.name,
    v.key AS series,
    try_cast(v.value AS DOUBLE) AS value
FROM placed AS p, json_each(p.line) AS v
WHERE
    v.key IN (
        'user_pct',
        'system_pct',
        'io_wait_pct',
        'idle_pct',
        'runnable_processes',
        'context_switches',
        'cores'
    )
    AND v.type <> 'NULL'
ORDER BY p.time_ns ASC, p.name DESC, p.pid ASC, series ASC;
