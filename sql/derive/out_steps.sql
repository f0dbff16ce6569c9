-- derive: out_steps
-- since: 0.1
-- summary: Content of the Parquet file of steps, with epoch times.
SELECT
    s.* REPLACE (
        s.start_ns + base_ns(s.trace) AS start_ns,
        s.end_ns + base_ns(s.trace) AS end_ns,
        s.extended_start_ns + base_ns(s.trace) AS extended_start_ns,
        s.extended_end_ns + base_ns(s.trace) AS extended_end_ns
    )
FROM linked_steps AS s
