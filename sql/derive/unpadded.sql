-- derive: unpadded
-- since: 0.1
-- summary: Times as written by nightly builds of March 2024, where the decimals count nanoseconds.
--
-- For two weeks the profiler did not pad the decimals of ts and dur with zeros: 123.5 is 123 us and
-- 5 ns. The generation '2024-03' tells code that exports the events to write them in the same way.
CREATE OR REPLACE MACRO nanoseconds(microseconds) AS
    try_cast(split_part(microseconds, '.', 1) AS BIGINT) * 1000
    + coalesce(try_cast(nullif(split_part(microseconds, '.', 2), '') AS BIGINT), 0);

CREATE OR REPLACE MACRO duration_nanoseconds(event_text, dur) AS
    nanoseconds(
        list_filter(
            regexp_extract_all(event_text, '"dur"\s*:\s*([0-9.]+)', 1),
            lambda place: try_cast(place AS DOUBLE) = dur
        )[1]
    );

CREATE OR REPLACE MACRO are_exact(ns, microseconds) AS ns IS NOT NULL;

-- Whether decimals are unpadded. Padded decimals always have three digits. A program that rewrites a file
-- may drop trailing zeros, but never leading zeros.
CREATE MACRO are_unpadded(decimals) AS
    min(length(decimals)) < 3
    AND bool_or(length(decimals) > 1 AND decimals LIKE '%0')
    AND NOT bool_or(length(decimals) > 1 AND decimals LIKE '0%');
