-- derive: nsys_counter
-- since: 0.1
-- summary: GPU metrics and CPU samples of an Nsight Systems export, as raw_counter.
--
-- GPU metrics belong to a device: a process has those of the devices that it used. CPU samples are counted per
-- thread and 10 ms.
WITH
metrics AS (
    SELECT
        m.timestamp AS ts_ns,
        'gpu_metrics' AS category,
        coalesce(n."metricName", 'metric ' || m."metricId") AS name,
        (m."typeId" & 255)::VARCHAR AS pid,
        'GPU ' || (m."typeId" & 255) AS series,
        m.value
    FROM "<metrics>" AS m
    LEFT JOIN (
        SELECT t."typeId", t."metricId", min(t."metricName") AS "metricName"
        FROM "<metric_names>" AS t
        GROUP BY t."typeId", t."metricId"
    ) AS n ON m."typeId" = n."typeId" AND m."metricId" = n."metricId"
    WHERE
        (m."typeId" & 255) IN (SELECT d.device_id FROM raw_device AS d)
        OR NOT EXISTS (FROM raw_device)
),

samples AS (
    SELECT
        (s.start // 10000000) * 10000000 AS ts_ns,
        'cpu_samples' AS category,
        'CPU samples' AS name,
        nsys_pid(s."globalTid") AS pid,
        nsys_tid(s."globalTid") AS series,
        count(*)::VARCHAR AS value
    FROM "<samples>" AS s
    GROUP BY s.start // 10000000, s."globalTid"
),

-- From a thread being put on a core to it being taken off, in pieces of at most 10 ms.
runs AS (
    SELECT
        w."globalTid" AS thread,
        w."isSchedIn" AS is_in,
        w.start AS start_ns,
        lead(w.start) OVER (PARTITION BY w."globalTid" ORDER BY w.start, w."isSchedIn") AS end_ns
    FROM "<switches>" AS w
),

pieces AS (
    SELECT
        r.thread,
        r.start_ns,
        r.end_ns,
        unnest(range(r.start_ns // 10000000, r.end_ns // 10000000 + 1)) AS slot
    FROM runs AS r
    WHERE r.is_in = 1 AND r.end_ns > r.start_ns
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

sampled AS (
    FROM metrics
    UNION ALL
    FROM samples
    UNION ALL
    FROM running
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
    ('{' || to_json(s.series) || ':' || try_cast(s.value AS DOUBLE) || '}')::JSON AS args
FROM sampled AS s
WHERE try_cast(s.value AS DOUBLE) IS NOT NULL
ORDER BY s.ts_ns, s.category, s.name, s.pid, s.series, s.value
