-- derive: out_counters
-- since: 0.1
-- summary: Content of the Parquet file of CUPTI counters.
--
-- Two lists, and not json_each, which copies the arguments for each of their keys: Nsight Compute has a
-- thousand.
SELECT c.event_id, c.counter, try_cast(c.value AS DOUBLE) AS value
FROM (
    SELECT
        d.event_id,
        unnest(json_keys(d.args)) AS counter,
        unnest(json_extract(d.args, '$.*')) AS value
    FROM raw_device AS d
    WHERE d.category = 'cuda_profiler_range'
) AS c
WHERE json_type(c.value) IN ('DOUBLE', 'UBIGINT', 'BIGINT')
