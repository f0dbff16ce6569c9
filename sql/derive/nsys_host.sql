-- derive: nsys_host
-- since: 0.1
-- summary: Calls, ranges, system calls and overhead of a process of an Nsight Systems export, as raw_host.
--
-- The order is one of our own, because the order of the rows of an export is not promised: by start and end,
-- then by what is equal only in rows that nobody can tell apart.
--
-- Rows are sorted while they are narrow: with numbers instead of texts.
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
                n.category > 0 OR n."jsonText" IS NOT NULL OR n."jsonTextId" IS NOT NULL
                OR coalesce(
                    n."int64Value", n."uint64Value", n."int32Value", n."uint32Value"
                ) IS NOT NULL
                OR coalesce(n."doubleValue", n."floatValue") IS NOT NULL
                THEN nullif(nsys_range_arguments(n), '{}')
        END AS args
    FROM "<ranges>" AS n
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
),

sorted AS (
    SELECT r.*
    FROM (
        FROM calls
        UNION ALL
        FROM ranges
        UNION ALL
        FROM system_calls
        UNION ALL
        FROM overheads
    ) AS r
    WHERE r.ts_ns IS NOT NULL
    ORDER BY r.ts_ns, r.end_ns, r.rank, r.thread, r.number, r.text_id, r.text
),

told AS (
    SELECT
        n.*,
        CASE WHEN n.rank = 0 THEN nsys_operator(n.name) END AS o
    FROM (
        SELECT
            r.*,
            -- A row names its text by its number, or, in older exports, holds it.
            CASE
                WHEN r.rank IN (1, 2) THEN nsys_call(coalesce(s.value, r.text))
                WHEN r.rank = 0 THEN coalesce(r.text, s.value)
                ELSE coalesce(s.value, r.text)
            END AS name
        FROM (SELECT t.*, $first + row_number() OVER () - 1 AS event_id FROM sorted AS t) AS r
        LEFT JOIN nsys_stringids AS s ON r.text_id = s.id
    ) AS n
)

SELECT
    t.event_id,
    'X' AS phase,
    CASE
        WHEN t.rank > 0 THEN ['cuda_runtime', 'cuda_driver', 'osrt', 'overhead'][t.rank]
        WHEN t.o IS NULL THEN 'user_annotation'
        ELSE current_category('Operator', t.o.name)
    END AS category,
    CASE
        WHEN t.rank > 0 THEN ['cuda_runtime', 'cuda_driver', 'osrt', 'overhead'][t.rank]
        ELSE 'NVTX' || coalesce(':' || d.name, '')
    END AS raw_category,
    coalesce(t.o.name, t.name, '') AS name,
    nsys_pid(t.thread) AS pid,
    nsys_tid(t.thread) AS tid,
    t.ts_ns,
    -- NULL for a range that was open when the recording stopped.
    CASE WHEN t.end_ns < t.ts_ns THEN 0 ELSE t.end_ns - t.ts_ns END AS dur_ns,
    CASE WHEN t.rank IN (1, 2) AND t.number > 0 THEN t.number END AS correlation_id,
    try_cast(nullif(t.o.sequence, '') AS BIGINT) AS sequence_number,
    try_cast(nullif(t.o.op, '') AS BIGINT) AS record_function_id,
    CASE WHEN json_valid(t.o.sizes) THEN replace(t.o.sizes, ', ', ',') END::JSON AS input_dims,
    CASE WHEN t.end_ns IS NULL THEN FALSE END AS finished,
    t.args::JSON AS args
FROM told AS t
LEFT JOIN nsys_domains AS d ON t.rank = 0 AND t.number = d.domain_id
