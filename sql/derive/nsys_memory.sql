-- derive: nsys_memory
-- since: 0.1
-- summary: Allocations and releases of CUDA memory of a process of an Nsight Systems export, as raw_memory.
--
-- They are those of cudaMalloc and its like: torch's allocator asks for large pieces and divides them.
--
-- A damaged row has no time, and is the last. The reader counts and removes it.
SELECT
    $first + row_number() OVER (
        ORDER BY nsys_time(r.start), r."memoryOperationType", r."deviceId", r.address, r.bytes
    ) - 1 AS event_id,
    'i' AS phase,
    'cuda_memory' AS category,
    'cuda_memory' AS raw_category,
    '[memory]' AS name,
    coalesce(c.pid, nsys_pid(r."globalPid")) AS pid,
    c.tid,
    nsys_time(r.start) AS ts_ns,
    CASE WHEN r."memKind" IN (0, 1) THEN NULL ELSE nsys_device(r."deviceId") END AS device_id,
    r.address,
    CASE WHEN r."memoryOperationType" = 1 THEN -1 ELSE 1 END
    * bounded(r.bytes, 0, event_bounds().arguments.bytes[2]) AS bytes,
    -- The number of c10::DeviceType: 0 is the CPU, 1 is CUDA.
    (
        '{"Device Type":' || CASE WHEN r."memKind" IN (0, 1) THEN 0 ELSE 1 END || ',"memory kind":"'
        || nsys_memory(r."memKind") || '"}'
    )::JSON AS args,
    '{"s":"t"}'::JSON AS raw
FROM "<records>" AS r
LEFT JOIN (
    SELECT h.correlation_id, min(h.pid) AS pid, min(h.tid) AS tid
    FROM raw_host AS h
    WHERE h.correlation_id IS NOT NULL
    GROUP BY h.correlation_id
) AS c ON r."correlationId" = c.correlation_id
ORDER BY nsys_time(r.start), r."memoryOperationType", r."deviceId", r.address, r.bytes
