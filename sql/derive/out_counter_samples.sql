-- derive: out_counter_samples
-- since: 0.1
-- summary: Content of the Parquet file of sampled counters, with epoch times.
--
-- If a series is not a plain number, raw keeps the arguments too. Samples that are no events of the trace
-- come last; their times are epoch times already.
WITH
series AS (
    SELECT
        c.event_id,
        s.key AS series,
        CASE WHEN s.type IN ('DOUBLE', 'UBIGINT', 'BIGINT') THEN try_cast(s.value AS DOUBLE) END
            AS value
    FROM raw_counter AS c, json_each(c.args) AS s
),

readable AS (
    SELECT s.event_id, bool_and(coalesce(abs(s.value) < 9e15, FALSE)) AS is_whole
    FROM series AS s
    GROUP BY s.event_id
)

SELECT
    c.event_id,
    c.raw_category AS category,
    c.ts_ns + base_ns(trace_of(c.event_id)) AS time_ns,
    c.pid,
    c.name,
    s.series,
    s.value,
    CASE
        WHEN coalesce(r.is_whole, c.args IS NULL) THEN c.raw
        ELSE
            '{"args":' || c.args::VARCHAR
            || coalesce(',' || substr(nullif(c.raw::VARCHAR, '{}'), 2), '}')
    END AS raw
FROM raw_counter AS c
LEFT JOIN series AS s ON c.event_id = s.event_id
LEFT JOIN readable AS r ON c.event_id = r.event_id
UNION ALL
SELECT
    NULL, s.category, s.time_ns, s.pid, s.name, s.series, s.value, NULL
FROM raw_samples AS s
