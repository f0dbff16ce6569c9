-- derive: nsys_host
-- since: 0.1
-- summary: The rows of `nsys_host_rows` that start in a time range, as raw_host.
--
-- The order is one of our own, because the order of the rows of an export is not promised: by start and end,
-- then by what is equal only in rows that nobody can tell apart.
--
-- A range of time holds few rows, because DuckDB does not sort rows with texts that are larger than its memory.
WITH
sorted AS (
    SELECT r.*
    FROM nsys_host_rows AS r
    WHERE r.ts_ns BETWEEN $since_ns AND $until_ns
    ORDER BY r.ts_ns, r.end_ns, r.rank, r.thread, r.number, r.text_id, r.text
),

-- A row names its text by its number, or, in older exports, holds it.
told AS (
    SELECT
        r.*,
        CASE
            WHEN r.rank IN (1, 2) THEN coalesce(s.call, nsys_call(r.text))
            WHEN r.rank = 0 THEN coalesce(r.text, s.value)
            ELSE coalesce(s.value, r.text)
        END AS name,
        CASE
            WHEN r.rank > 0 THEN NULL
            WHEN r.text IS NOT NULL THEN nsys_operator(r.text)
            ELSE s.operator
        END AS o
    FROM (SELECT t.*, $first + row_number() OVER () - 1 AS event_id FROM sorted AS t) AS r
    LEFT JOIN nsys_texts AS s ON r.text_id = s.id
)

SELECT
    t.event_id,
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
    -- NULL for a range that was open when the recording stopped; below 0 if the row ends before it starts.
    t.end_ns - t.ts_ns AS dur_ns,
    CASE WHEN t.rank IN (1, 2) AND t.number > 0 THEN t.number END AS correlation_id,
    try_cast(nullif(t.o.sequence, '') AS BIGINT) AS sequence_number,
    try_cast(nullif(t.o.op, '') AS BIGINT) AS record_function_id,
    CASE WHEN json_valid(t.o.sizes) THEN replace(t.o.sizes, ', ', ',') END::JSON AS input_dims,
    CASE WHEN t.end_ns IS NULL THEN FALSE END AS finished,
    t.args::JSON AS args
FROM told AS t
LEFT JOIN nsys_domains AS d ON t.rank = 0 AND t.number = d.domain_id
