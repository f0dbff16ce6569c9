-- derive: ascend_trace_view
-- since: 0.2
-- summary: The events of an Ascend trace_view.json in the words of Kineto.
--
-- The full parse placed the events by phase and category. Most rows of the device and of CANN have no category:
-- the name of their process tells what they are.

CREATE TABLE ascend_processes AS
SELECT o.pid, arg_max(o.args ->> '$.name', o.event_id) AS name
FROM raw_other AS o
WHERE o.phase = 'M' AND o.name = 'process_name'
GROUP BY o.pid;

CREATE TABLE ascend_threads AS
SELECT o.pid, o.tid, arg_max(o.args ->> '$.name', o.event_id) AS name
FROM raw_other AS o
WHERE o.phase = 'M' AND o.name = 'thread_name'
GROUP BY o.pid, o.tid;

-- The process that ran the operators. CANN's calls were made by its threads.
CREATE TABLE ascend_host AS
SELECT coalesce(mode(h.pid), any_value(p.pid)) AS pid
FROM (FROM raw_host AS r WHERE r.raw_category = 'cpu_op') AS h
FULL JOIN (FROM ascend_processes AS a WHERE a.name IN ('Python', 'MindSpore')) AS p
    ON h.pid = p.pid;

-- What each row is, by its place.
CREATE TABLE ascend_rows AS
SELECT
    h.event_id,
    h.pid,
    CASE
        WHEN p.name = 'Overlap Analysis' THEN 'sum'
        WHEN h.raw_category IS NOT NULL AND p.name IS DISTINCT FROM 'Ascend Hardware' THEN 'host'
        WHEN p.name = 'CANN' THEN 'call'
        WHEN p.name IN ('HCCL', 'Communication')
            THEN CASE WHEN t.name LIKE 'Plane%' THEN 'task' ELSE 'collective' END
        WHEN
            p.name = 'Ascend Hardware'
            THEN
                CASE
                    WHEN
                        h.name ^@ 'hcom_' AND EXISTS (
                            FROM ascend_processes AS c
                            INNER JOIN ascend_threads AS g ON c.pid = g.pid
                            WHERE
                                c.name IN ('HCCL', 'Communication') AND g.name NOT LIKE 'Plane%'
                        )
                        THEN 'task'
                    ELSE 'device'
                END
        WHEN p.name = 'Python GC' THEN 'host'
        WHEN p.name IN ('Python', 'MindSpore') THEN 'host'
        ELSE 'task'
    END AS role
FROM raw_host AS h
LEFT JOIN ascend_processes AS p ON h.pid = p.pid
LEFT JOIN ascend_threads AS t ON h.pid = t.pid AND h.tid = t.tid;

-- One device per process of the hardware, in the order of the processes.
CREATE TABLE ascend_devices AS
SELECT r.pid, (row_number() OVER (ORDER BY try_cast(r.pid AS BIGINT), r.pid) - 1)::INTEGER AS device_id
FROM (SELECT DISTINCT a.pid FROM ascend_rows AS a WHERE a.role = 'device') AS r;

INSERT INTO raw_device BY NAME
SELECT
    h.event_id,
    h.phase,
    CASE
        WHEN h.args ->> '$."Task Type"' SIMILAR TO '(MEMCPY_ASYNC|SDMA|PCIE_DMA).*' THEN 'gpu_memcpy'
        WHEN h.name = 'MEMCPY_ASYNC' THEN 'gpu_memcpy'
        WHEN
            h.args ->> '$."Task Type"' SIMILAR TO '(EVENT_|NOTIFY_|MODEL_).*'
            OR h.name SIMILAR TO '(EVENT_|NOTIFY_|MODEL_|Notify_).*'
            THEN 'cuda_sync'
        ELSE 'kernel'
    END AS category,
    h.raw_category,
    h.name,
    h.pid,
    h.tid,
    h.ts_ns,
    h.dur_ns,
    CASE WHEN r.role = 'device' THEN coalesce(d.device_id, 0) ELSE coalesce(m.device_id, 0) END
        AS device_id,
    coalesce(
        try_cast(h.args ->> '$."Stream Id"' AS BIGINT),
        try_cast(h.args ->> '$."Physic Stream Id"' AS BIGINT),
        CASE WHEN r.role = 'device' THEN try_cast(h.tid AS BIGINT) END
    ) AS stream_id,
    CASE
        WHEN try_cast(h.args ->> '$.connection_id' AS BIGINT) > 0
            THEN (h.args ->> '$.connection_id')::BIGINT
    END AS correlation_id,
    collective_of(h.name) AS collective,
    CASE h.args ->> '$.data_type'
        WHEN 'FP32' THEN 'Float' WHEN 'FP16' THEN 'Half' WHEN 'BFP16' THEN 'BFloat16'
        WHEN 'FP64' THEN 'Double' WHEN 'INT8' THEN 'Char' WHEN 'UINT8' THEN 'Byte'
        WHEN 'INT16' THEN 'Short' WHEN 'INT32' THEN 'Int' WHEN 'INT64' THEN 'Long'
        ELSE h.args ->> '$.data_type'
    END AS collective_dtype,
    try_cast(h.args ->> '$.count' AS BIGINT) AS in_elements,
    CASE
        WHEN r.role = 'collective'
            THEN coalesce(regexp_extract(t.name, '^Group (.*) Communication$', 1), t.name)
        ELSE nullif(regexp_extract(h.name, '^hcom_\w+?__(\d+)_', 1), '')
    END AS group_name,
    h.args
FROM raw_host AS h
INNER JOIN ascend_rows AS r ON h.event_id = r.event_id AND r.role IN ('device', 'collective')
LEFT JOIN ascend_devices AS d ON h.pid = d.pid
LEFT JOIN ascend_threads AS t ON h.pid = t.pid AND h.tid = t.tid
LEFT JOIN (SELECT min(a.device_id) AS device_id FROM ascend_devices AS a) AS m ON TRUE
ORDER BY h.event_id;

-- Parts of collectives, scopes and other lanes that other rows add up to, or that are no work of their own.
INSERT INTO raw_other BY NAME
SELECT
    h.event_id, h.phase, 'ascend_task' AS category, 'ascend_task' AS raw_category, h.name, h.pid, h.tid,
    h.ts_ns, h.dur_ns, h.args
FROM raw_host AS h
INNER JOIN ascend_rows AS r ON h.event_id = r.event_id AND r.role = 'task';

DELETE FROM raw_host WHERE event_id IN (
    SELECT r.event_id FROM ascend_rows AS r WHERE r.role NOT IN ('host', 'call')
);

UPDATE raw_host SET
    category = 'cann_runtime',
    pid = (SELECT coalesce(p.pid, raw_host.pid) FROM ascend_host AS p),
    correlation_id = CASE
        WHEN try_cast(raw_host.args ->> '$.connection_id' AS BIGINT) > 0
            THEN (raw_host.args ->> '$.connection_id')::BIGINT
    END
WHERE event_id IN (SELECT r.event_id FROM ascend_rows AS r WHERE r.role = 'call');

-- The queue between the operators and CANN: torch_npu's own runtime.
UPDATE raw_host SET category = 'task_queue_runtime'
WHERE raw_category IN ('enqueue', 'dequeue');

UPDATE raw_host SET category = 'python_gc'
WHERE category IS NULL AND pid IN (SELECT p.pid FROM ascend_processes AS p WHERE p.name = 'Python GC');

-- Arrows from CANN start at a thread of the process.
UPDATE raw_flow SET pid = (SELECT coalesce(p.pid, raw_flow.pid) FROM ascend_host AS p)
WHERE pid IN (SELECT p.pid FROM ascend_processes AS p WHERE p.name = 'CANN');

-- The texts of times are how this profiler writes every time.
UPDATE raw_host SET raw = NULL;
UPDATE raw_flow SET raw = NULL;
UPDATE raw_counter SET raw = NULL;
UPDATE raw_other SET raw = NULL;

-- Where each arrow to a device event starts.
CREATE TABLE ascend_arrows AS
SELECT d.event_id, s.raw_category AS kind, s.pid, s.tid, s.ts_ns
FROM raw_flow AS s
INNER JOIN raw_flow AS f
    ON s.raw_category = f.raw_category AND s.flow_id = f.flow_id AND f.phase = 'f'
INNER JOIN raw_device AS d ON f.pid = d.pid AND f.tid = d.tid AND f.ts_ns = d.ts_ns
WHERE s.phase = 's' AND s.raw_category IN ('async_npu', 'HostToDevice');

-- The operator, annotation or queue row that is open there: of those that start last, the shortest.
CREATE TABLE ascend_callers AS
SELECT a.event_id, a.kind, h.event_id AS host_event_id
FROM ascend_arrows AS a
ASOF INNER JOIN (
    SELECT
        r.pid,
        r.tid,
        r.ts_ns,
        is_op_category(r.category) AS is_op,
        arg_min(r.event_id, r.dur_ns) AS event_id,
        min(r.dur_ns) AS dur_ns
    FROM raw_host AS r
    WHERE is_op_category(r.category) OR r.category = 'task_queue_runtime'
    GROUP BY r.pid, r.tid, r.ts_ns, is_op_category(r.category)
) AS h
    ON
        a.pid = h.pid AND a.tid = h.tid AND (a.kind = 'async_npu') = h.is_op
        AND a.ts_ns >= h.ts_ns
WHERE a.ts_ns <= h.ts_ns + h.dur_ns;

-- Recordings without the calls of CANN that launch kernels: the row of the queue launched them.
INSERT INTO raw_link
SELECT
    d.event_id,
    CASE
        WHEN
            NOT EXISTS (
                FROM raw_host AS h
                WHERE h.category = 'cann_runtime' AND h.correlation_id = d.correlation_id
            )
            THEN min(c.host_event_id) FILTER (WHERE c.kind = 'HostToDevice')
    END,
    min(c.host_event_id) FILTER (WHERE c.kind = 'async_npu')
FROM raw_device AS d
INNER JOIN ascend_callers AS c ON d.event_id = c.event_id
GROUP BY d.event_id, d.correlation_id;
