-- derive: ascend_names
-- since: 0.2
-- summary: What the names and texts of the Ascend profiler mean.

-- 'hcom_allReduce__503_0_1' is an allreduce: the words of Kineto have no upper case. NULL for kernels.
CREATE MACRO collective_of(name) AS
    nullif(lower(regexp_extract(name, '^hcom_([A-Za-z]+?)_*(?:__|@|$)', 1)), '');

-- The value of a cell: files put a tab or quotes around some, and write N/A for none.
CREATE MACRO cell(fields, key) AS
    nullif(nullif(trim(fields ->> ('$."' || key || '"'), E' \t"'), ''), 'N/A');

-- Bytes from a number with a unit: 1 MB is 1,048,576 bytes in these files.
CREATE MACRO bytes_of(text, unit) AS (try_cast(text AS DOUBLE) * unit)::BIGINT;
