-- derive: out_counters
-- since: 0.1
-- summary: Content of the Parquet file of CUPTI counters.
SELECT d.event_id, c.key AS counter, try_cast(c.value AS DOUBLE) AS value
FROM raw_device AS d, json_each(d.args) AS c
WHERE d.category = 'cuda_profiler_range' AND c.type IN ('DOUBLE', 'UBIGINT', 'BIGINT')
