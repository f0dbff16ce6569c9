-- derive: nsys_counter
-- since: 0.1
-- summary: GPU metrics and CPU samples of an Nsight Systems export, as raw_counter.
--
-- GPU metrics belong to a device: a process has those of the devices that it used, under the numbers that it gives
-- them. CPU samples are counted per thread and 10 ms.
--
-- cpu_utilization has the time that all threads of the process ran, as percentage of one core, at the end of each
-- 10 ms. Without context switches a sample stands for the median time between two samples of a thread.
--
-- A damaged row becomes one without a time, and is the last. The reader counts and removes it.
--
-- What would last longer than 100,000 seconds, 10 million times 10 ms, has a damaged time at one end, and is left out.
WITH
metrics AS (
    SELECT
        CASE WHEN isfinite(try_cast(m.value AS DOUBLE)) THEN nsys_time(m.timestamp) END AS ts_ns,
        'gpu_metrics' AS category,
        coalesce(n."metricName", 'metric ' || m."metricId") AS name,
        m.device_id::VARCHAR AS pid,
        'GPU ' || m.device_id AS series,
        m.value
    FROM (
        SELECT r.*, coalesce(g.device_id, r."typeId" & 255) AS device_id
        FROM "<metrics>" AS r
        LEFT JOIN (
            SELECT u."gpuId" AS id, min(u."cudaId") AS device_id
            FROM nsys_numbers AS u
            GROUP BY u."gpuId"
        ) AS g ON (r."typeId" & 255) = g.id
        WHERE g.id IS NOT NULL OR NOT EXISTS (FROM nsys_numbers)
    ) AS m
    LEFT JOIN (
        SELECT t."typeId", t."metricId", min(t."metricName") AS "metricName"
        FROM "<metric_names>" AS t
        GROUP BY t."typeId", t."metricId"
    ) AS n ON m."typeId" = n."typeId" AND m."metricId" = n."metricId"
    WHERE
        m.device_id IN (SELECT d.device_id FROM raw_device AS d)
        OR NOT EXISTS (FROM raw_device)
),

-- The table can be read only once.
taken AS MATERIALIZED (
    SELECT nsys_time(s.start) AS at_ns, s."globalTid" AS thread
    FROM "<samples>" AS s
),

samples AS (
    SELECT
        (t.at_ns // 10000000) * 10000000 AS ts_ns,
        'cpu_samples' AS category,
        'CPU samples' AS name,
        nsys_pid(t.thread) AS pid,
        nsys_tid(t.thread) AS series,
        count(*)::VARCHAR AS value
    FROM taken AS t
    WHERE t.at_ns IS NOT NULL
    GROUP BY t.at_ns // 10000000, t.thread
),

-- From a thread being put on a core to it being taken off, in pieces of at most 10 ms. A thread whose first
-- switch takes it off ran before it, and one whose last switch puts it on runs after it. Switches without a time
-- are the last of their thread.
switched AS MATERIALIZED (
    SELECT
        w.thread,
        w.is_in,
        w.at_ns,
        lead(w.at_ns) OVER of_thread AS next_ns,
        lag(w.at_ns) OVER of_thread AS previous_ns,
        min(w.at_ns) OVER () AS first_ns,
        max(w.at_ns) OVER () AS last_ns
    FROM (
        SELECT s."globalTid" AS thread, s."isSchedIn" AS is_in, nsys_time(s.start) AS at_ns
        FROM "<switches>" AS s
    ) AS w
    WINDOW of_thread AS (PARTITION BY w.thread ORDER BY w.at_ns, w.is_in)
),

runs AS (
    SELECT s.thread, s.at_ns AS start_ns, coalesce(s.next_ns, s.last_ns) AS end_ns
    FROM switched AS s
    WHERE s.is_in = 1
    UNION ALL
    SELECT s.thread, s.first_ns, s.at_ns
    FROM switched AS s
    WHERE s.is_in = 0 AND s.previous_ns IS NULL
),

pieces AS (
    SELECT
        r.thread,
        r.start_ns,
        r.end_ns,
        unnest(range(r.start_ns // 10000000, r.end_ns // 10000000 + 1)) AS slot
    FROM runs AS r
    WHERE r.end_ns > r.start_ns AND r.end_ns - r.start_ns < 100000000000000
),

running AS (
    SELECT
        p.slot * 10000000 AS ts_ns,
        'cpu_time' AS category,
        'CPU time in 10 ms (ns)' AS name,
        nsys_pid(p.thread) AS pid,
        nsys_tid(p.thread) AS series,
        sum(
            least(p.end_ns, (p.slot + 1) * 10000000) - greatest(p.start_ns, p.slot * 10000000)
        )::VARCHAR AS value
    FROM pieces AS p
    GROUP BY p.slot, p.thread
),

distances AS (
    SELECT
        t.at_ns,
        t.at_ns - lag(t.at_ns) OVER (PARTITION BY t.thread ORDER BY t.at_ns) AS distance_ns
    FROM taken AS t
    WHERE t.at_ns IS NOT NULL
),

period AS (
    SELECT
        median(d.distance_ns) AS period_ns,
        min(d.at_ns) - median(d.distance_ns)::BIGINT AS first_ns,
        max(d.at_ns) AS last_ns
    FROM distances AS d
    WHERE NOT EXISTS (FROM switched)
),

recorded AS (
    SELECT min(s.first_ns) AS first_ns, max(s.last_ns) AS last_ns
    FROM switched AS s
    UNION ALL
    SELECT p.first_ns, p.last_ns
    FROM period AS p
    WHERE p.period_ns > 0
),

slots AS (
    SELECT
        r.first_ns,
        r.last_ns,
        unnest(range(r.first_ns // 10000000, (r.last_ns - 1) // 10000000 + 1)) AS slot
    FROM recorded AS r
    WHERE r.last_ns > r.first_ns AND r.last_ns - r.first_ns < 100000000000000
),

-- A sample stands for the time before it.
busy AS (
    SELECT r.ts_ns // 10000000 AS slot, sum(r.value::DOUBLE) AS busy_ns
    FROM running AS r
    GROUP BY r.ts_ns
    UNION ALL
    SELECT (d.at_ns - 1) // 10000000, count(*) * any_value(p.period_ns)
    FROM distances AS d
    CROSS JOIN period AS p
    WHERE p.period_ns > 0
    GROUP BY (d.at_ns - 1) // 10000000
),

process AS (
    SELECT min(s.pid) AS pid
    FROM (
        SELECT r.pid FROM running AS r
        UNION ALL
        SELECT a.pid FROM samples AS a
    ) AS s
),

used AS (
    SELECT
        least((s.slot + 1) * 10000000, s.last_ns) AS ts_ns,
        'cpu_utilization' AS category,
        'process' AS name,
        p.pid,
        'busy_pct' AS series,
        (
            100 * coalesce(b.busy_ns, 0)
            / (least((s.slot + 1) * 10000000, s.last_ns) - greatest(s.slot * 10000000, s.first_ns))
        )::VARCHAR AS value
    FROM slots AS s
    CROSS JOIN process AS p
    LEFT JOIN busy AS b ON s.slot = b.slot
),

damaged AS (
    SELECT
        NULL::BIGINT AS ts_ns,
        'cpu_samples' AS category,
        'damaged' AS name,
        NULL::VARCHAR AS pid,
        '' AS series,
        '0' AS value
    FROM taken AS t
    WHERE t.at_ns IS NULL
    UNION ALL
    SELECT NULL, 'cpu_time', 'damaged', NULL, '', '0'
    FROM switched AS s
    WHERE s.at_ns IS NULL
),

sampled AS (
    FROM metrics
    UNION ALL
    FROM samples
    UNION ALL
    FROM running
    UNION ALL
    FROM used
    UNION ALL
    FROM damaged
)

SELECT
    $first + row_number() OVER (ORDER BY s.ts_ns, s.category, s.name, s.pid, s.series, s.value) - 1
        AS event_id,
    'C' AS phase,
    s.category,
    s.category AS raw_category,
    s.name,
    s.pid,
    s.ts_ns,
    CASE
        WHEN s.ts_ns IS NOT NULL
            THEN '{' || to_json(s.series) || ':' || s.value::DOUBLE || '}'
    END::JSON AS args
FROM sampled AS s
ORDER BY s.ts_ns, s.category, s.name, s.pid, s.series, s.value
