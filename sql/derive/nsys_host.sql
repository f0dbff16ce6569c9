-- derive: nsys_host
-- since: 0.1
-- summary: Calls, ranges, system calls and overhead of a process of an Nsight Systems export, as raw_host.
--
-- The order is one of our own, because the order of the rows of an export is not promised: by start and end,
-- then by what is equal only in rows that nobody can tell apart.
WITH
calls AS (
    SELECT
        1 AS rank,
        CASE WHEN c."eventClass" = 1 THEN 'cuda_driver' ELSE 'cuda_runtime' END AS category,
        CASE WHEN c."eventClass" = 1 THEN 'cuda_driver' ELSE 'cuda_runtime' END AS raw_category,
        c."nameId" AS text_id,
        c.name AS text,
        c."globalTid" AS thread,
        c.start AS ts_ns,
        c."end" AS end_ns,
        CASE WHEN c."correlationId" > 0 THEN c."correlationId" END AS correlation_id,
        CASE WHEN c."returnValue" <> 0 THEN '{"return value":' || c."returnValue" || '}' END AS args
    FROM "<calls>" AS c
    -- Class 67 repeats calls with a back trace.
    WHERE coalesce(c."eventClass", 0) IN (0, 1)
),

ranges AS (
    SELECT
        0 AS rank,
        'user_annotation' AS category,
        'NVTX' || coalesce(':' || d.name, '') AS raw_category,
        n."textId" AS text_id,
        n.text,
        n."globalTid" AS thread,
        n.start AS ts_ns,
        n."end" AS end_ns,
        NULL::BIGINT AS correlation_id,
        CASE
            WHEN
                n.category > 0 OR n."jsonText" IS NOT NULL OR n."jsonTextId" IS NOT NULL
                OR coalesce(
                    n."int64Value", n."uint64Value", n."int32Value", n."uint32Value"
                ) IS NOT NULL
                OR coalesce(n."doubleValue", n."floatValue") IS NOT NULL
                THEN nsys_range_arguments(n)
        END AS args
    FROM "<ranges>" AS n
    LEFT JOIN nsys_domains AS d ON n."domainId" = d.domain_id
    WHERE
        n."eventType" IN (59, 60, 70, 71)
        AND (n."endGlobalTid" IS NULL OR n."endGlobalTid" = n."globalTid")
),

system_calls AS (
    SELECT
        2 AS rank,
        'osrt' AS category,
        'osrt' AS raw_category,
        o."nameId" AS text_id,
        NULL::VARCHAR AS text,
        o."globalTid" AS thread,
        o.start AS ts_ns,
        o."end" AS end_ns,
        NULL::BIGINT AS correlation_id,
        NULL::VARCHAR AS args
    FROM "<system_calls>" AS o
    WHERE coalesce(o."eventClass", 27) = 27
),

overheads AS (
    SELECT
        3 AS rank,
        'overhead' AS category,
        'overhead' AS raw_category,
        o."nameId" AS text_id,
        e.label AS text,
        o."globalTid" AS thread,
        o.start AS ts_ns,
        o."end" AS end_ns,
        NULL::BIGINT AS correlation_id,
        CASE
            WHEN o."overheadType" IS NOT NULL THEN '{"overhead type":' || o."overheadType" || '}'
        END
            AS args
    FROM (
        SELECT p.start, p."end", p."globalTid", p."nameId", p."overheadType"
        FROM "<overheads>" AS p
        UNION ALL
        SELECT q.start, q."end", q."globalTid", q."nameId", q."overheadType"
        FROM "<cuda_overheads>" AS q
    ) AS o
    LEFT JOIN nsys_enum_cupti_overhead_type AS e ON o."overheadType" = e.id
),

named AS (
    SELECT
        r.*,
        -- A row names its text by its number, or, in older exports, holds it.
        CASE
            WHEN r.rank = 1 THEN nsys_call(coalesce(s.value, r.text))
            WHEN r.rank = 0 THEN coalesce(r.text, s.value)
            ELSE coalesce(s.value, r.text)
        END AS name
    FROM (
        FROM calls
        UNION ALL
        FROM ranges
        UNION ALL
        FROM system_calls
        UNION ALL
        FROM overheads
    ) AS r
    LEFT JOIN nsys_stringids AS s ON r.text_id = s.id
),

told AS (
    SELECT
        n.*,
        CASE WHEN n.rank = 0 THEN nsys_operator(n.name) END AS o
    FROM named AS n
    WHERE n.ts_ns IS NOT NULL
)

SELECT
    $first + row_number() OVER (
        ORDER BY t.ts_ns, t.end_ns, t.rank, t.thread, t.correlation_id, t.name
    ) - 1 AS event_id,
    'X' AS phase,
    CASE
        WHEN t.o.op <> '' OR t.o.sequence <> '' THEN current_category('Operator', t.o.name)
        ELSE t.category
    END AS category,
    t.raw_category,
    CASE WHEN t.o.op <> '' OR t.o.sequence <> '' THEN t.o.name ELSE coalesce(t.name, '') END
        AS name,
    nsys_pid(t.thread) AS pid,
    nsys_tid(t.thread) AS tid,
    t.ts_ns,
    -- NULL for a range that was open when the recording stopped.
    CASE WHEN t.end_ns < t.ts_ns THEN 0 ELSE t.end_ns - t.ts_ns END AS dur_ns,
    t.correlation_id,
    try_cast(nullif(t.o.sequence, '') AS BIGINT) AS sequence_number,
    try_cast(nullif(t.o.op, '') AS BIGINT) AS record_function_id,
    CASE WHEN json_valid(t.o.sizes) THEN replace(t.o.sizes, ', ', ',') END::JSON AS input_dims,
    CASE WHEN t.end_ns IS NULL THEN FALSE END AS finished,
    t.args::JSON AS args
FROM told AS t
ORDER BY t.ts_ns, t.end_ns, t.rank, t.thread, t.correlation_id, t.name
