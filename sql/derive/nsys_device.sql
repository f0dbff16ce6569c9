-- derive: nsys_device
-- since: 0.1
-- summary: Kernels, copies, memsets, synchronizations and graphs of a process of an Nsight Systems export.
--
-- A damaged row has no time, and is the last. The reader counts and removes it.
WITH
kernels AS (
    SELECT
        'kernel' AS category,
        s.value AS name,
        k."deviceId" AS device,
        k."contextId" AS context_id,
        k."streamId" AS stream,
        k.start AS ts_ns,
        k."end" AS end_ns,
        k."correlationId" AS correlation,
        [k."gridX", k."gridY", k."gridZ"] AS grid,
        [k."blockX", k."blockY", k."blockZ"] AS block,
        try_cast(k."registersPerThread" AS INTEGER) AS registers_per_thread,
        try_cast(k."staticSharedMemory"::HUGEINT + k."dynamicSharedMemory" AS BIGINT)
            AS shared_memory_bytes,
        NULL::BIGINT AS bytes,
        k."graphId" AS graph_id,
        k."graphNodeId" AS graph_node_id,
        CASE
            WHEN k."clusterX"::DOUBLE * k."clusterY" * k."clusterZ" > 1
                THEN
                    '"cluster":['
                    || k."clusterX"
                    || ','
                    || k."clusterY"
                    || ','
                    || k."clusterZ"
                    || ']'
        END AS cluster,
        CASE WHEN k."localMemoryTotal" > 0 THEN '"local memory total":' || k."localMemoryTotal" END
            AS local_memory,
        CASE WHEN k."launchType" <> 1 THEN '"launch type":' || k."launchType" END AS launch_type
    FROM "<kernels>" AS k
    LEFT JOIN nsys_stringids AS s ON k."demangledName" = s.id
),

copies AS (
    SELECT
        'gpu_memcpy' AS category,
        'Memcpy ' || nsys_copy(c."copyKind") || ' (' || nsys_memory(c."srcKind") || ' -> '
        || nsys_memory(c."dstKind") || ')' AS name,
        c."deviceId" AS device,
        c."contextId" AS context_id,
        c."streamId" AS stream,
        c.start AS ts_ns,
        c."end" AS end_ns,
        c."correlationId" AS correlation,
        c.bytes,
        c."graphNodeId" AS graph_node_id
    FROM "<copies>" AS c
),

memsets AS (
    SELECT
        'gpu_memset' AS category,
        'Memset (' || nsys_memory(m."memKind") || ')' AS name,
        m."deviceId" AS device,
        m."contextId" AS context_id,
        m."streamId" AS stream,
        m.start AS ts_ns,
        m."end" AS end_ns,
        m."correlationId" AS correlation,
        m.bytes,
        m."graphNodeId" AS graph_node_id
    FROM "<sets>" AS m
),

syncs AS (
    SELECT
        'cuda_sync' AS category,
        nsys_sync(y."syncType") AS name,
        coalesce(c.device_id, y."deviceId") AS device,
        y."contextId" AS context_id,
        y."streamId" AS stream,
        y.start AS ts_ns,
        y."end" AS end_ns,
        y."correlationId" AS correlation
    FROM "<syncs>" AS y
    LEFT JOIN nsys_contexts AS c ON y."contextId" = c.context_id
),

graphs AS (
    SELECT
        'cuda_graph' AS category,
        'CUDA graph' AS name,
        g."deviceId" AS device,
        g."contextId" AS context_id,
        g."streamId" AS stream,
        g.start AS ts_ns,
        g."end" AS end_ns,
        g."correlationId" AS correlation,
        g."graphId" AS graph_id
    FROM "<graphs>" AS g
),

events AS (
    FROM kernels
    UNION ALL BY NAME
    FROM copies
    UNION ALL BY NAME
    FROM memsets
    UNION ALL BY NAME
    FROM syncs
    UNION ALL BY NAME
    FROM graphs
)

SELECT
    e.event_id,
    e.category,
    e.category AS raw_category,
    coalesce(e.name, '') AS name,
    coalesce(nsys_device(e.device), -1)::VARCHAR AS pid,
    coalesce(nsys_stream(e.stream), -1)::VARCHAR AS tid,
    e.ts_ns,
    coalesce(e.end_ns - e.ts_ns, 0) AS dur_ns,
    nsys_device(e.device) AS device_id,
    e.context_id,
    nsys_stream(e.stream) AS stream_id,
    CASE WHEN e.correlation > 0 THEN e.correlation END AS correlation_id,
    try_cast(e.grid AS INTEGER[]) AS grid,
    try_cast(e.block AS INTEGER[]) AS block,
    e.registers_per_thread,
    e.shared_memory_bytes,
    e.grid[1]::DOUBLE * e.grid[2] * e.grid[3] / g."smCount" AS blocks_per_sm,
    e.grid[1]::DOUBLE * e.grid[2] * e.grid[3] * e.block[1] * e.block[2] * e.block[3]
    / (g."smCount" * g."threadsPerWarp") AS warps_per_sm,
    e.bytes,
    CASE WHEN e.end_ns > e.ts_ns THEN e.bytes / (e.end_ns - e.ts_ns) END AS bandwidth_gbps,
    CASE WHEN e.graph_id > 0 THEN e.graph_id END AS graph_id,
    CASE WHEN e.graph_node_id > 0 THEN e.graph_node_id END AS graph_node_id,
    nullif('{' || concat_ws(',', e.cluster, e.local_memory, e.launch_type) || '}', '{}')::JSON
        AS args
FROM (
    SELECT v.*, $first + row_number() OVER () - 1 AS event_id
    FROM (
        SELECT u.* REPLACE (nsys_start(u.ts_ns, u.end_ns) AS ts_ns)
        FROM events AS u
        ORDER BY
            nsys_start(u.ts_ns, u.end_ns), u.end_ns, u.category, u.device, u.stream,
            u.correlation, u.name, u.graph_node_id
    ) AS v
) AS e
LEFT JOIN nsys_gpus AS g ON e.category = 'kernel' AND e.device = g.device_id
