-- derive: mindspore
-- since: 0.2
-- summary: The text files of MindSpore's profiler as events in the words of Kineto.
--
-- Each ms_ table holds the lines of one file, or none. All times of a GPU run are on the clock of the GPU; host
-- operators are moved to it by the two start times. Durations on the CPU are milliseconds, on the GPU microseconds.

CREATE MACRO ms_nanoseconds(text, unit) AS round(coalesce(
    try_cast(text AS DECIMAL(28, 9)) * unit, try_cast(text AS DOUBLE) * unit
))::BIGINT;

-- 'Default/network/conv-Conv2d/Conv2D-op36' is an operator of type Conv2D in the scope before it.
CREATE MACRO ms_short_name(full_name) AS string_split(full_name, '/')[-1];
CREATE MACRO ms_type(full_name) AS regexp_replace(string_split(full_name, '/')[-1], '-[^-]*$', '');
CREATE MACRO ms_scope(full_name) AS
    nullif(array_to_string(string_split(full_name, '/')[1:-2], '/'), '');

CREATE TABLE ms_clock AS
SELECT
    max(try_cast(trim(string_split(s.text, ':')[-1]) AS BIGINT))
    FILTER (WHERE s.text ^@ 'gpu_start_time')
    - max(try_cast(trim(string_split(s.text, ':')[-1]) AS BIGINT))
    FILTER (WHERE s.text ^@ 'host_monotonic') AS shift_ns
FROM ms_start_time AS s;

CREATE TABLE ms_launches AS
SELECT
    c.file,
    c.line,
    c.parts[1] AS full_name,
    c.on_gpu,
    c.number,
    try_cast(c.launch[1] AS BIGINT) + CASE
        WHEN c.on_gpu THEN 0 ELSE (SELECT coalesce(k.shift_ns, 0) FROM ms_clock AS k)
    END AS ts_ns,
    ms_nanoseconds(c.launch[2], CASE WHEN c.on_gpu THEN 1000 ELSE 1000000 END) AS dur_ns,
    c.launch[3] AS tid
FROM (
    SELECT
        l.file,
        l.line,
        l.parts,
        l.on_gpu,
        string_split(trim(t.launches[t.number]), ',') AS launch,
        t.number
    FROM (
        SELECT 'cpu_op_execute_timestamp' AS file, o.line, string_split(o.text, ';') AS parts, FALSE AS on_gpu
        FROM ms_cpu_op_execute_timestamp AS o
        UNION ALL
        SELECT 'gpu_op_execute_timestamp', o.line, string_split(o.text, ';'), TRUE
        FROM ms_gpu_op_execute_timestamp AS o
    ) AS l
    CROSS JOIN LATERAL (
        SELECT
            s.launches,
            unnest(range(1, 1 + len(s.launches))) AS number
        FROM (
            SELECT regexp_split_to_array(trim(coalesce(l.parts[3], '?')), ' +') AS launches
        ) AS s
    ) AS t
) AS c;

CREATE TABLE ms_kernels AS
SELECT
    a.line,
    array_to_string(a.parts[1:-4], ';') AS name,
    try_cast(a.parts[-3] AS BIGINT) AS stream_id,
    try_cast(a.parts[-2] AS BIGINT) AS ts_ns,
    ms_nanoseconds(a.parts[-1], 1000) AS dur_ns
FROM (
    SELECT k.line, string_split(k.text, ';') AS parts FROM ms_activity_execute_timestamp AS k
) AS a;

-- One line per step if kernels are launched asynchronously; else one line per point, in units of 10 ns. A step
-- of the second form starts where the last operator of the step before it starts, as in MindSpore's own reports.
CREATE TABLE ms_points AS
WITH
words AS (
    SELECT s.line, regexp_split_to_array(trim(s.text), '\s+') AS words FROM ms_step_trace_profiling AS s
),

is_async AS (
    SELECT len(string_split(arg_min(w.words, w.line)[1], ',')) = 2 AS holds FROM words AS w
),

points AS (
    SELECT
        row_number() OVER (ORDER BY w.line) AS point,
        w.words[1] AS operator,
        list_transform(
            w.words[2:],
            LAMBDA t: {
                'start': try_cast(string_split(t, ',')[1] AS BIGINT) * 10,
                'end': try_cast(string_split(t, ',')[2] AS BIGINT) * 10
            }
        ) AS times,
        w.line
    FROM words AS w
    WHERE NOT (SELECT i.holds FROM is_async AS i)
)

SELECT
    row_number() OVER (ORDER BY w.line) AS step,
    w.line,
    try_cast(string_split(w.words[1], ',')[2] AS BIGINT) AS start_ns,
    try_cast(string_split(w.words[2], ',')[2] AS BIGINT) AS fp_ns,
    try_cast(string_split(w.words[3], ',')[2] AS BIGINT) AS bp_ns,
    try_cast(string_split(w.words[4], ',')[2] AS BIGINT) AS end_ns,
    string_split(w.words[2], ',')[1] AS fp_operator,
    string_split(w.words[3], ',')[1] AS bp_operator
FROM words AS w
WHERE (SELECT i.holds FROM is_async AS i)
UNION ALL
SELECT
    n.step,
    f.line,
    CASE WHEN n.step = 1 THEN f.times[1].start ELSE e.times[n.step - 1].start END,
    f.times[n.step].start,
    b.times[n.step]."end",
    e.times[n.step]."end",
    f.operator,
    b.operator
FROM (FROM points AS p WHERE p.point = 1) AS f
INNER JOIN (FROM points AS p WHERE p.point = 2) AS b ON TRUE
INNER JOIN (FROM points AS p WHERE p.point = 3) AS e ON TRUE
CROSS JOIN LATERAL (SELECT unnest(range(1, 1 + len(f.times))) AS step) AS n;

CREATE TABLE ms_damaged AS
SELECT l.file, l.line
FROM ms_launches AS l
WHERE l.ts_ns IS NULL OR l.dur_ns IS NULL OR coalesce(l.full_name, '') = ''
UNION ALL
SELECT 'activity_execute_timestamp', k.line
FROM ms_kernels AS k
WHERE k.ts_ns IS NULL OR k.dur_ns IS NULL OR k.stream_id IS NULL OR coalesce(k.name, '') = ''
UNION ALL
SELECT 'step_trace_profiling', p.line
FROM ms_points AS p
WHERE coalesce(p.start_ns + p.fp_ns + p.bp_ns + p.end_ns) IS NULL;

-- The shapes of the n-th run of an operator are in the n-th line with its name.
CREATE TABLE ms_shapes AS
SELECT
    s.short_name,
    row_number() OVER (PARTITION BY s.on_gpu, s.short_name ORDER BY s.line) AS number,
    s.on_gpu,
    to_json(list_transform(
        list_filter(s.parts[4:], LAMBDA p: p <> ''),
        LAMBDA p: coalesce(
            try_cast(regexp_extract(p, ':\s*(\[.*\])$', 1) AS BIGINT[]), []::BIGINT[]
        )
    )) AS input_dims
FROM (
    SELECT
        f.line, FALSE AS on_gpu, string_split(f.text, ';') AS parts,
        ms_short_name(string_split(f.text, ';')[2]) AS short_name
    FROM ms_cpu_framework AS f
    UNION ALL
    SELECT
        f.line, TRUE, string_split(f.text, ';'), ms_short_name(string_split(f.text, ';')[2])
    FROM ms_gpu_framework AS f
) AS s;

CREATE TABLE ms_rows AS
WITH
all_rows AS (
    SELECT
        'user_annotation' AS category,
        'step_trace' AS raw_category,
        'ProfilerStep#' || p.step AS name,
        'steps' AS tid,
        p.start_ns AS ts_ns,
        greatest(p.end_ns - p.start_ns, 0) AS dur_ns,
        NULL::VARCHAR AS module_hierarchy,
        NULL::JSON AS input_dims,
        json_object(
            'fp_start_ns', p.fp_ns, 'bp_end_ns', p.bp_ns, 'fp_operator', p.fp_operator,
            'bp_operator', p.bp_operator
        ) AS args
    FROM ms_points AS p
    WHERE p.start_ns + p.fp_ns + p.bp_ns + p.end_ns IS NOT NULL
    UNION ALL
    SELECT
        'cpu_op',
        CASE WHEN l.on_gpu THEN 'GpuOps' ELSE 'HostCpuOps' END,
        ms_type(l.full_name),
        CASE WHEN l.on_gpu THEN 'GpuOps' ELSE coalesce(l.tid, '0') END,
        l.ts_ns,
        l.dur_ns,
        ms_scope(l.full_name),
        coalesce(s.input_dims, f.input_dims),
        json_object('op_full_name', l.full_name)
    FROM ms_launches AS l
    LEFT JOIN ms_shapes AS s
        ON ms_short_name(l.full_name) = s.short_name AND l.on_gpu = s.on_gpu AND l.number = s.number
    LEFT JOIN ms_shapes AS f
        ON ms_short_name(l.full_name) = f.short_name AND l.on_gpu = f.on_gpu AND f.number = 1
    WHERE l.ts_ns IS NOT NULL AND l.dur_ns IS NOT NULL AND l.full_name <> ''
)

SELECT
    row_number() OVER (ORDER BY r.ts_ns, r.ts_ns + r.dur_ns DESC, r.tid, r.name) - 1 AS event_id,
    r.*
FROM all_rows AS r;

INSERT INTO raw_host BY NAME
SELECT
    r.event_id, 'X' AS phase, r.category, r.raw_category, r.name, ms_device() AS pid, r.tid, r.ts_ns,
    r.dur_ns, r.input_dims, r.module_hierarchy, r.args
FROM ms_rows AS r
ORDER BY r.event_id;

-- Grid and block are those of the first launch of a kernel: the file has one row per name.
INSERT INTO raw_device BY NAME
SELECT
    (SELECT count(*) FROM ms_rows)
    + row_number() OVER (ORDER BY k.ts_ns, k.ts_ns + k.dur_ns, k.stream_id, k.line) - 1 AS event_id,
    'X' AS phase,
    CASE
        WHEN regexp_matches(k.name, '^(?i:(cu)?memcpy)') THEN 'gpu_memcpy'
        WHEN regexp_matches(k.name, '^(?i:(cu)?memset)') THEN 'gpu_memset'
        ELSE 'kernel'
    END AS category,
    d.fields ->> '$.type' AS raw_category,
    k.name,
    ms_device() AS pid,
    k.stream_id::VARCHAR AS tid,
    k.ts_ns,
    k.dur_ns,
    try_cast(ms_device() AS INTEGER) AS device_id,
    k.stream_id,
    try_cast('[' || (d.fields ->> '$.grid_dim') || ']' AS INTEGER[]) AS grid,
    try_cast('[' || (d.fields ->> '$.block_dim') || ']' AS INTEGER[]) AS block,
    CASE
        WHEN d.fields ->> '$.op_full_name' IS NOT NULL
            THEN json_object('op_full_name', d.fields ->> '$.op_full_name')
    END AS args
FROM ms_kernels AS k
LEFT JOIN (
    SELECT g.fields ->> '$.name' AS name, arg_min(g.fields, g.place) AS fields
    FROM ms_gpu_activity_data AS g
    GROUP BY g.fields ->> '$.name'
) AS d ON k.name = d.name
WHERE k.ts_ns IS NOT NULL AND k.dur_ns IS NOT NULL AND k.stream_id IS NOT NULL AND k.name <> ''
ORDER BY 1;

INSERT INTO raw_other BY NAME
SELECT
    (SELECT count(*) FROM raw_host) + (SELECT count(*) FROM raw_device) AS event_id,
    'M' AS phase, 'process_name' AS name, ms_device() AS pid, '0' AS tid,
    json_object('name', 'MindSpore') AS args
WHERE EXISTS (FROM ms_rows) OR EXISTS (FROM raw_device);
