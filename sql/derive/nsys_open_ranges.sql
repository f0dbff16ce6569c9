-- derive: nsys_open_ranges
-- since: 0.1
-- summary: Ends the ranges that were open when the recording stopped, with the last event of the process.
UPDATE raw_host SET
    dur_ns = greatest(
        (SELECT max(h.ts_ns + coalesce(h.dur_ns, 0)) FROM raw_host AS h) - raw_host.ts_ns, 0
    )
WHERE raw_host.dur_ns IS NULL
