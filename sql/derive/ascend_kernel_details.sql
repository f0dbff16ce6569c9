-- derive: ascend_kernel_details
-- since: 0.2
-- summary: The rows of kernel_details.csv: shapes and counters of the device events, or events of their own.
--
-- kernel_details holds the rows as JSON objects. A row belongs to the device event with its name that starts at
-- the same time; old files round times to 100 ns. The columns after the last known one are counters of the
-- hardware, chosen with aic_metrics.
CREATE TABLE ascend_kernels AS
SELECT
    k.place,
    cell(k.fields, 'Name') AS name,
    nanoseconds(cell(k.fields, 'Start Time(us)')) AS ts_ns,
    nanoseconds(cell(k.fields, 'Duration(us)')) AS dur_ns,
    cell(k.fields, 'Accelerator Core') AS core,
    cell(k.fields, 'Type') AS operator_type,
    try_cast(coalesce(cell(k.fields, 'Device_id'), cell(k.fields, 'Device ID')) AS INTEGER)
        AS device_id,
    try_cast(cell(k.fields, 'Stream ID') AS BIGINT) AS stream_id,
    try_cast(coalesce(cell(k.fields, 'Block Dim'), cell(k.fields, 'Block Num')) AS INTEGER)
        AS blocks,
    k.fields
FROM kernel_details AS k;

DELETE FROM ascend_kernels WHERE name IS NULL OR ts_ns IS NULL OR dur_ns IS NULL;

CREATE TABLE ascend_kernel_keys AS
SELECT
    json_keys(k.fields) AS names,
    [
        'Step Id', 'Step ID', 'Device_id', 'Device ID', 'Model ID', 'Task ID', 'Stream ID', 'Name',
        'Type', 'OP State', 'Accelerator Core', 'Start Time(us)', 'Duration(us)', 'Wait Time(us)',
        'Block Dim', 'Block Num', 'Mix Block Dim', 'Mix Block Num', 'HF32 Eligible', 'Input Shapes',
        'Input Data Types', 'Input Formats', 'Output Shapes', 'Output Data Types', 'Output Formats',
        'Context ID'
    ] AS known
FROM kernel_details AS k
LIMIT 1;

CREATE TABLE ascend_matches AS
SELECT k.place, d.event_id
FROM ascend_kernels AS k
ASOF INNER JOIN raw_device AS d ON k.name = d.name AND k.ts_ns + 500 >= d.ts_ns
WHERE k.ts_ns - 500 <= d.ts_ns
QUALIFY row_number() OVER (PARTITION BY d.event_id ORDER BY k.place) = 1;

-- Rows without a device event become events, with numbers behind those of the trace.
INSERT INTO ascend_matches
SELECT
    k.place,
    first_free_id() + row_number() OVER (ORDER BY k.ts_ns, k.ts_ns + k.dur_ns, k.place) - 1
FROM ascend_kernels AS k
ANTI JOIN ascend_matches AS m ON k.place = m.place;

INSERT INTO raw_device BY NAME
SELECT
    m.event_id,
    'X' AS phase,
    CASE
        WHEN is_ascend_copy(k.name, k.core) THEN 'gpu_memcpy'
        WHEN is_ascend_sync(k.name, k.core) THEN 'cuda_sync'
        ELSE 'kernel'
    END AS category,
    k.core AS raw_category,
    k.name,
    coalesce(k.device_id, 0)::VARCHAR AS pid,
    coalesce('stream ' || k.stream_id, 'communication') AS tid,
    k.ts_ns,
    k.dur_ns,
    coalesce(k.device_id, 0) AS device_id,
    k.stream_id,
    collective_of(k.name) AS collective,
    nullif(regexp_extract(k.name, '^hcom_\w+?__(\d+)_', 1), '') AS group_name,
    '{}'::JSON AS args
FROM ascend_kernels AS k
INNER JOIN ascend_matches AS m ON k.place = m.place
WHERE m.event_id >= first_free_id()
ORDER BY m.event_id;

-- Copies and waits have no rows in the file: they ran on the device of the kernels of their process.
CREATE TABLE ascend_device_ids AS
SELECT d.device_id AS place_of_process, any_value(k.device_id) AS device_id
FROM ascend_kernels AS k
INNER JOIN ascend_matches AS m ON k.place = m.place
INNER JOIN raw_device AS d ON m.event_id = d.event_id
WHERE d.event_id < first_free_id()
GROUP BY d.device_id
HAVING count(DISTINCT k.device_id) = 1;

UPDATE raw_device SET device_id = i.device_id
FROM ascend_device_ids AS i
WHERE raw_device.device_id = i.place_of_process AND raw_device.event_id < first_free_id();

UPDATE raw_device SET
    device_id = coalesce(k.device_id, raw_device.device_id),
    grid = CASE WHEN k.blocks > 0 THEN [k.blocks, 1, 1] END,
    args = json_merge_patch(
        coalesce(raw_device.args, '{}'::JSON),
        json_object(
            'Type', k.operator_type,
            'Accelerator Core', k.core,
            'OP State', cell(k.fields, 'OP State'),
            'Input Shapes', cell(k.fields, 'Input Shapes'),
            'Input Data Types', cell(k.fields, 'Input Data Types'),
            'Input Formats', cell(k.fields, 'Input Formats'),
            'Output Shapes', cell(k.fields, 'Output Shapes'),
            'Output Data Types', cell(k.fields, 'Output Data Types'),
            'Output Formats', cell(k.fields, 'Output Formats'),
            'Wait Time(us)', try_cast(cell(k.fields, 'Wait Time(us)') AS DOUBLE),
            'Mix Block Dim', try_cast(coalesce(
                cell(k.fields, 'Mix Block Dim'), cell(k.fields, 'Mix Block Num')
            ) AS INTEGER),
            'Step Id', try_cast(
                coalesce(cell(k.fields, 'Step Id'), cell(k.fields, 'Step ID')) AS BIGINT
            )
        )
    )
FROM ascend_kernels AS k, ascend_matches AS m
WHERE raw_device.event_id = m.event_id AND m.place = k.place;

-- The counters of a kernel hang on a row of their own, as those of CUPTI do. The row has no times, which are those
-- of the kernel. The views look for the duration under the name of NVIDIA's counter.
CREATE TABLE ascend_counters AS
SELECT
    n.first_id + row_number() OVER (ORDER BY c.kernel_id) - 1 AS event_id,
    c.kernel_id,
    c.args
FROM (
    SELECT
        m.event_id AS kernel_id,
        json_group_object(e.name, e.value) AS args
    FROM ascend_kernels AS k
    INNER JOIN ascend_matches AS m ON k.place = m.place
    CROSS JOIN ascend_kernel_keys AS y
    CROSS JOIN
        LATERAL (
            SELECT
                u.name,
                CASE
                    WHEN u.name = 'gpu__time_duration.sum' THEN k.dur_ns::DOUBLE
                    ELSE try_cast(cell(k.fields, u.name) AS DOUBLE)
                END AS value
            FROM (
                SELECT unnest(list_append(
                    list_filter(y.names, LAMBDA n: NOT list_contains(y.known, n)),
                    'gpu__time_duration.sum'
                )) AS name
            ) AS u
        ) AS e
    WHERE e.value IS NOT NULL
    GROUP BY m.event_id
    HAVING count(*) > 1
) AS c
CROSS JOIN (
    SELECT greatest(first_free_id(), max(r.event_id) + 1) AS first_id FROM raw_device AS r
) AS n;

INSERT INTO raw_device BY NAME
SELECT
    c.event_id,
    'X' AS phase,
    'cuda_profiler_range' AS category,
    'aic_metrics' AS raw_category,
    d.name,
    d.pid,
    d.tid,
    d.device_id,
    d.stream_id,
    d.correlation_id,
    c.args
FROM ascend_counters AS c
INNER JOIN raw_device AS d ON c.kernel_id = d.event_id
ORDER BY c.event_id;

-- They have the launch and the operator of the kernel.
INSERT INTO raw_link
SELECT c.event_id, k.launch_id, k.caller_id
FROM ascend_counters AS c
INNER JOIN raw_link AS k ON c.kernel_id = k.event_id;
