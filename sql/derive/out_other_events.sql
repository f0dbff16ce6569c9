-- derive: out_other_events
-- since: 0.1
-- summary: Content of the Parquet file of all other events, with epoch times.
SELECT
    e.*,
    e.ts_ns + base_ns(trace_of(e.event_id)) AS time_ns,
    e.dur_ns AS duration_ns
FROM (SELECT o.* REPLACE (o.raw_category AS category) FROM raw_other AS o) AS e
