-- derive: odd_values
-- since: 0.1
-- summary: How many events of each trace have values that were read although they are odd.
--
-- It reads odd_rows: the number of the trace, the columns raw, ts_ns and dur_ns of the raw tables, has_number, which
-- says whether an argument that fills a column of numbers is written as text, and lacks_time, which says whether a
-- complete event has no time or no duration.
SELECT
    r.trace,
    count(*) FILTER (WHERE r.lacks_time) AS missing_times,
    count(*) FILTER (WHERE r.ts_ns IS NOT NULL AND json_type(r.raw, '$.ts') = 'VARCHAR')
        AS text_timestamps,
    count(*) FILTER (WHERE r.dur_ns IS NOT NULL AND json_type(r.raw, '$.dur') = 'VARCHAR')
        AS text_durations,
    count(*) FILTER (
        WHERE r.dur_ns = 0 AND try_cast(json_extract_string(r.raw, '$.dur') AS DOUBLE) < 0
    ) AS negative_durations,
    count(*) FILTER (WHERE r.has_number) AS text_numbers
FROM odd_rows AS r
WHERE r.has_number OR r.lacks_time OR contains(r.raw, '"ts"') OR contains(r.raw, '"dur"')
GROUP BY r.trace
