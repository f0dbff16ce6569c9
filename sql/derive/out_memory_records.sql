-- derive: out_memory_records
-- since: 0.1
-- summary: Content of the Parquet file of memory records, with epoch times.
SELECT
    m.*,
    m.ts_ns + base_ns(trace_of(m.event_id)) AS time_ns,
    -- c10 has a number for devices of others, which torch_npu gives this name.
    CASE
        WHEN m.raw_category = 'ascend_memory' THEN 'npu'
        ELSE device_type(try_cast(json_extract_string(m.args, '$."Device Type"') AS INTEGER))
    END AS device_type,
    CASE
        WHEN m.event_id = l.event_id THEN l.op_id ELSE error('memory_links is out of order')
    END AS op_id
FROM raw_memory AS m
POSITIONAL JOIN memory_links AS l
