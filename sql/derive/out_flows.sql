-- derive: out_flows
-- since: 0.1
-- summary: Content of the Parquet file of flow arrows, with epoch times.
SELECT
    f.* REPLACE (
        f.source_ns + base_ns(trace_of(f.source_event_id)) AS source_ns,
        f.target_ns + base_ns(trace_of(f.target_event_id)) AS target_ns
    ),
    CASE
        WHEN f.source_rest IS NULL AND f.target_rest IS NULL THEN NULL
        WHEN f.source_rest IS NULL THEN '{"target":' || f.target_rest || '}'
        WHEN f.target_rest IS NULL THEN '{"source":' || f.source_rest || '}'
        ELSE '{"source":' || f.source_rest || ',"target":' || f.target_rest || '}'
    END AS raw
FROM linked_flows AS f
