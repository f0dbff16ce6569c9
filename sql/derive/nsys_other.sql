-- derive: nsys_other
-- since: 0.1
-- summary: Names of processes and threads, marks, and ranges that end on another thread, as raw_other.
WITH
facts AS (
    -- The last part of a path: paths are not imported.
    SELECT
        1 AS rank,
        'M' AS phase,
        NULL::VARCHAR AS category,
        'process_name' AS name,
        nsys_pid(p."globalPid") AS pid,
        '0' AS tid,
        NULL::BIGINT AS ts_ns,
        NULL::BIGINT AS dur_ns,
        '{"name":' || to_json(regexp_extract(p.name, '[^/\\]*$')) || '}' AS args
    FROM nsys_processes AS p
    WHERE p.name IS NOT NULL
    UNION ALL
    SELECT
        2, 'M', NULL, 'thread_name', nsys_pid(t."globalTid"), nsys_tid(t."globalTid"), NULL, NULL,
        '{"name":' || to_json(s.value) || '}'
    FROM nsys_threadnames AS t
    INNER JOIN nsys_stringids AS s ON t."nameId" = s.id
    UNION ALL
    SELECT 1, 'M', NULL, 'process_name', d.pid, '0', NULL, NULL, '{"name":"GPU ' || d.pid || '"}'
    FROM (SELECT DISTINCT r.pid FROM raw_device AS r) AS d
    WHERE
        d.pid NOT IN (
            SELECT nsys_pid(p."globalPid") FROM nsys_processes AS p WHERE p.name IS NOT NULL
        )
    UNION ALL
    SELECT
        1, 'M', NULL, 'process_labels', d.pid, '0', NULL, NULL, '{"labels":"GPU ' || d.pid || '"}'
    FROM (SELECT DISTINCT r.pid FROM raw_device AS r) AS d
    UNION ALL
    SELECT
        CASE WHEN n."eventType" = 34 THEN 3 ELSE 4 END,
        CASE WHEN n."eventType" = 34 THEN 'i' ELSE 'X' END,
        'NVTX' || coalesce(':' || d.name, ''),
        coalesce(n.text, s.value, ''),
        nsys_pid(n."globalTid"),
        nsys_tid(n."globalTid"),
        n.start,
        CASE WHEN n."eventType" <> 34 THEN n."end" - n.start END,
        CASE
            WHEN n."endGlobalTid" <> n."globalTid"
                THEN '{"end thread":' || nsys_tid(n."endGlobalTid") || '}'
            ELSE nsys_range_arguments(n)
        END
    FROM nsys_special AS n
    LEFT JOIN nsys_domains AS d ON n."domainId" = d.domain_id
    LEFT JOIN nsys_stringids AS s ON n."textId" = s.id
    WHERE n."eventType" IN (34, 59, 60, 70, 71)
)

SELECT
    $first
    + row_number() OVER (ORDER BY f.rank, f.ts_ns, f.pid, f.tid, f.name, f.args)
    - 1 AS event_id,
    f.phase,
    f.category,
    f.category AS raw_category,
    f.name,
    f.pid,
    f.tid,
    f.ts_ns,
    f.dur_ns,
    nullif(f.args, '{}')::JSON AS args
FROM facts AS f
ORDER BY f.rank, f.ts_ns, f.pid, f.tid, f.name, f.args
