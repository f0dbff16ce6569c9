-- derive: nsys_host_rows
-- since: 0.1
-- summary: Calls, ranges, system calls and overhead of a process of an Nsight Systems export, with numbers for texts.
--
-- A damaged row has no time. The reader counts it, and no slice of time has it.
WITH
calls AS (
    SELECT
        CASE WHEN c."eventClass" = 1 THEN 2 ELSE 1 END AS rank,
        c."nameId" AS text_id,
        c.name AS text,
        c."globalTid" AS thread,
        c.start AS ts_ns,
        c."end" AS end_ns,
        c."correlationId" AS number,
        CASE WHEN c."returnValue" <> 0 THEN '{"return value":' || c."returnValue" || '}' END AS args
    FROM "<calls>" AS c
    -- Class 67 repeats calls with a back trace.
    WHERE coalesce(c."eventClass", 0) IN (0, 1)
),

ranges AS (
    SELECT
        0 AS rank,
        n."textId" AS text_id,
        n.text,
        n."globalTid" AS thread,
        n.start AS ts_ns,
        n."end" AS end_ns,
        n."domainId" AS number,
        CASE
            WHEN
                n.category > 0 OR n."jsonText" IS NOT NULL
                OR coalesce(
                    n."int64Value", n."uint64Value", n."int32Value", n."uint32Value"
                ) IS NOT NULL
                OR coalesce(n."doubleValue", n."floatValue") IS NOT NULL
                THEN nullif(nsys_range_arguments(n), '{}')
        END AS args
    FROM (
        SELECT r.* REPLACE (coalesce(r."jsonText", j.value) AS "jsonText")
        FROM "<ranges>" AS r
        LEFT JOIN nsys_stringids AS j ON r."jsonTextId" = j.id
    ) AS n
    WHERE
        n."eventType" IN (59, 60, 70, 71)
        AND (n."endGlobalTid" IS NULL OR n."endGlobalTid" = n."globalTid")
),

system_calls AS (
    SELECT
        3 AS rank,
        o."nameId" AS text_id,
        NULL::VARCHAR AS text,
        o."globalTid" AS thread,
        o.start AS ts_ns,
        o."end" AS end_ns,
        NULL::BIGINT AS number,
        NULL::VARCHAR AS args
    FROM "<system_calls>" AS o
    WHERE coalesce(o."eventClass", 27) = 27
),

overheads AS (
    SELECT
        4 AS rank,
        o."nameId" AS text_id,
        e.label AS text,
        o."globalTid" AS thread,
        o.start AS ts_ns,
        o."end" AS end_ns,
        NULL::BIGINT AS number,
        '{"overhead type":' || o."overheadType" || '}' AS args
    FROM (
        SELECT p.start, p."end", p."globalTid", p."nameId", p."overheadType"
        FROM "<overheads>" AS p
        UNION ALL
        SELECT q.start, q."end", q."globalTid", q."nameId", q."overheadType"
        FROM "<cuda_overheads>" AS q
    ) AS o
    LEFT JOIN nsys_enum_cupti_overhead_type AS e ON o."overheadType" = e.id
)

SELECT r.* REPLACE (nsys_start(r.ts_ns, r.end_ns) AS ts_ns)
FROM (
    FROM calls
    UNION ALL
    FROM ranges
    UNION ALL
    FROM system_calls
    UNION ALL
    FROM overheads
) AS r
