-- derive: ncu
-- since: 0.2
-- summary: The rows of Nsight Compute's CSV as kernels with counters, without times.
--
-- ncu_rows holds the rows of the file, with the number of their table: several runs of ncu may print into one file. The details
-- page has a row per launch and metric; the raw page has a row per launch, a column per metric, and the units in the
-- first row. Numbers are in the locale of the user and in units that fit their size: both are undone. Nsight Compute
-- runs a kernel several times and says when none of them ran, so there are no times of events.

CREATE TABLE ncu_launch_columns AS
SELECT [
    'ID', 'Process ID', 'Process Name', 'Host Name', 'Kernel Name', 'Kernel Time', 'Context',
    'Stream', 'Block Size', 'Grid Size', 'Device', 'CC', 'Section Name', 'Metric Name',
    'Metric Unit',
    'Metric Value', 'Rule Name', 'Rule Type', 'Rule Description', 'Estimated Speedup Type',
    'Estimated Speedup'
] AS names;

-- The rows of the raw page with their fields as lists. This is a table of its own: a query would carry the text of a
-- row, with its thousand fields, along with each of them. The row of units is the first, and has no id. If it is
-- damaged, no value of the page can be read.
CREATE TABLE ncu_raw_rows AS
SELECT
    r.number,
    r.place,
    ncu_launch(r.number, r.fields) AS launch,
    json_keys(r.fields) AS metrics,
    json_extract_string(r.fields, '$.*') AS texts
FROM ncu_rows AS r
WHERE
    NOT json_exists(r.fields, '$."Metric Name"')
    AND (
        r.place = 0 OR ncu_process() IS NULL OR ncu_field(r.fields, 'Process ID') = ncu_process()
    );

CREATE TABLE ncu_values AS
SELECT
    ncu_launch(r.number, r.fields) AS launch,
    ncu_field(r.fields, 'Section Name') AS section,
    ncu_field(r.fields, 'Metric Name') AS metric,
    coalesce(ncu_field(r.fields, 'Metric Unit'), '') AS unit,
    ncu_field(r.fields, 'Metric Value') AS written
FROM ncu_rows AS r
WHERE
    ncu_field(r.fields, 'Metric Name') IS NOT NULL
    AND ncu_launch(r.number, r.fields) IS NOT NULL
    AND (ncu_process() IS NULL OR ncu_field(r.fields, 'Process ID') = ncu_process())
UNION ALL
SELECT
    w.launch,
    NULL,
    w.metric,
    coalesce(trim(u.unit), ''),
    nullif(trim(w.written), '')
FROM (
    SELECT
        r.number,
        r.launch,
        unnest(r.metrics) AS metric,
        unnest(r.texts) AS written
    FROM ncu_raw_rows AS r
    WHERE r.launch IS NOT NULL
) AS w
INNER JOIN (
    SELECT
        r.number,
        unnest(r.metrics) AS metric,
        unnest(r.texts) AS unit
    FROM ncu_raw_rows AS r
    WHERE r.place = 0 AND r.launch IS NULL
) AS u
    ON w.number = u.number AND w.metric = u.metric
CROSS JOIN ncu_launch_columns AS c
WHERE NOT list_contains(c.names, w.metric);

-- A file has one locale. A comma is the decimal mark if a number can only be read so.
CREATE TABLE ncu_locale AS
SELECT
    coalesce(bool_or(regexp_matches(
        v.written,
        '^[-+]?(\d+,(\d{1,2}|\d{4,})|\d{1,3}([. \x{A0}\x{202F}''’]\d{3})+,\d+'
        || '|\d{1,3}(\.\d{3}){2,}|0,\d+)$'
    )), FALSE)
    AND NOT coalesce(bool_or(regexp_matches(
        v.written, '^[-+]?(\d+\.(\d{1,2}|\d{4,})|\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,}|0\.\d+)$'
    )), FALSE) AS has_decimal_comma
FROM ncu_values AS v;

CREATE TABLE ncu_counters AS
SELECT
    v.launch,
    regexp_replace(
        ncu_metric(v.section, v.metric, v.unit),
        '^sm__sass_thread_inst_executed_op_([dfh](?:add|mul|fma))_pred_on\.sum$',
        'smsp__sass_thread_inst_executed_op_\1_pred_on.sum'
    ) AS counter,
    max(ncu_number(v.written, l.has_decimal_comma) * ncu_factor(v.unit)) AS value
FROM ncu_values AS v
CROSS JOIN ncu_locale AS l
GROUP BY ALL
HAVING value IS NOT NULL;

-- The roofline sections have rates only: with the duration they give the sums that the views need.
INSERT INTO ncu_counters
SELECT r.launch, r.counter, r.value
FROM (
    SELECT
        c.launch,
        CASE
            WHEN c.counter = 'dram__bytes.sum.per_second' THEN 'dram__bytes.sum'
            ELSE regexp_extract(
                c.counter,
                '^(smsp__sass_thread_inst_executed_op_[dfh](?:add|mul|fma)_pred_on\.sum)'
                || '\.per_cycle_elapsed$',
                1
            )
        END AS counter,
        c.value * CASE WHEN c.counter = 'dram__bytes.sum.per_second' THEN 1 ELSE f.value END
        * d.value / 1e9 AS value
    FROM ncu_counters AS c
    INNER JOIN ncu_counters AS d ON c.launch = d.launch AND d.counter = 'gpu__time_duration.sum'
    LEFT JOIN ncu_counters AS f
        ON c.launch = f.launch AND f.counter = 'smsp__cycles_elapsed.avg.per_second'
) AS r
WHERE
    r.counter <> ''
    AND r.value IS NOT NULL
    AND NOT EXISTS (
        FROM ncu_counters AS o
        WHERE
            r.launch = o.launch
            AND (
                r.counter = o.counter
                OR (r.counter = 'dram__bytes.sum' AND o.counter = 'dram__bytes_read.sum')
            )
    );

CREATE TABLE ncu_launches AS
SELECT
    ncu_launch(r.number, r.fields) AS launch,
    arg_min(r.fields, r.place) AS fields,
    min(r.place) AS place
FROM ncu_rows AS r
WHERE
    ncu_launch(r.number, r.fields) IS NOT NULL
    AND ncu_field(r.fields, 'Kernel Name') IS NOT NULL
    AND (ncu_process() IS NULL OR ncu_field(r.fields, 'Process ID') = ncu_process())
GROUP BY ALL;

INSERT INTO raw_device BY NAME
SELECT
    row_number() OVER (ORDER BY l.launch) - 1 AS event_id,
    'X' AS phase,
    'cuda_profiler_range' AS category,
    'ncu' AS raw_category,
    ncu_field(l.fields, 'Kernel Name') AS name,
    coalesce(ncu_field(l.fields, 'Device'), '0') AS pid,
    coalesce('stream ' || ncu_field(l.fields, 'Stream'), 'stream') AS tid,
    coalesce(try_cast(ncu_field(l.fields, 'Device') AS INTEGER), 0) AS device_id,
    try_cast(ncu_field(l.fields, 'Context') AS BIGINT) AS context_id,
    try_cast(ncu_field(l.fields, 'Stream') AS BIGINT) AS stream_id,
    try_cast('[' || trim(ncu_field(l.fields, 'Grid Size'), '() ') || ']' AS INTEGER[]) AS grid,
    try_cast('[' || trim(ncu_field(l.fields, 'Block Size'), '() ') || ']' AS INTEGER[]) AS block,
    (c.counters ->> '$."launch__registers_per_thread"')::DOUBLE::INTEGER AS registers_per_thread,
    c.counters AS args
FROM ncu_launches AS l
LEFT JOIN (
    SELECT k.launch, json_group_object(k.counter, k.value) AS counters
    FROM ncu_counters AS k
    GROUP BY k.launch
) AS c ON l.launch = c.launch
ORDER BY event_id;

-- What the raw page says about the devices, under the keys of Kineto's deviceProperties.
CREATE TABLE ncu_devices AS
SELECT
    d.device_id,
    json_merge_patch(
        json_object(
            'id', d.device_id,
            'name', max(v.written) FILTER (WHERE v.metric = 'device__attribute_display_name')
        ),
        json_object(
            'computeMajor', try_cast(string_split(any_value(d.capability), '.')[1] AS INTEGER),
            'computeMinor', try_cast(string_split(any_value(d.capability), '.')[2] AS INTEGER),
            'numSms', max(ncu_number(v.written, c.has_decimal_comma))
            FILTER (WHERE v.metric = 'device__attribute_multiprocessor_count')::INTEGER,
            'warpSize', max(ncu_number(v.written, c.has_decimal_comma))
            FILTER (WHERE v.metric = 'device__attribute_warp_size')::INTEGER,
            'maxThreadsPerBlock', max(ncu_number(v.written, c.has_decimal_comma))
            FILTER (WHERE v.metric = 'device__attribute_max_threads_per_block')::INTEGER,
            'maxThreadsPerMultiprocessor', max(ncu_number(v.written, c.has_decimal_comma))
            FILTER (WHERE v.metric = 'device__attribute_max_threads_per_multiprocessor')::INTEGER
        )
    ) AS properties
FROM (
    SELECT
        l.launch,
        coalesce(try_cast(ncu_field(l.fields, 'Device') AS INTEGER), 0) AS device_id,
        ncu_field(l.fields, 'CC') AS capability
    FROM ncu_launches AS l
) AS d
CROSS JOIN ncu_locale AS c
LEFT JOIN ncu_values AS v ON d.launch = v.launch AND starts_with(v.metric, 'device__attribute')
GROUP BY d.device_id;
