-- derive: out_traces
-- since: 0.1
-- summary: Facts about each trace as a whole, from its events.
--
-- It reads one row per trace from rel: its number, its base time, its worker, the name of its file, and whether
-- its decimals are unpadded.
--
-- Generations are recognised by words that only some of them use. The base time, if there is one, is the
-- start of the quarter in which the trace was recorded.
CREATE MACRO trace_facts(rel VARCHAR) AS TABLE
    SELECT
        g.trace,
        CASE
            WHEN s.has_2021_words THEN '2021'
            WHEN g.base_time_ns >= epoch_ns(TIMESTAMP '2025-12-31') THEN '2026'
            WHEN g.base_time_ns IS NOT NULL THEN '2024'
            WHEN g.unpadded THEN '2024-03'
            WHEN s.has_decimals THEN '2024-04'
            WHEN coalesce(f.has_2022_words, FALSE) OR s.has_2022_words THEN '2022'
            ELSE '2023'
        END AS generation,
        p.process_id,
        -- The profiler's own handler names the file, and so the worker, after the host and the process. In a
        -- folder of a rank, the worker has the name of the folder.
        coalesce(
            nullif(regexp_extract(g.worker, '^(.*)_' || p.process_id || '$', 1), ''),
            nullif(regexp_extract(g.trace_name, '^(.*)_' || p.process_id || '(\.\d+)?$', 1), '')
        ) AS worker_hostname,
        s.start_ns + base_ns(g.trace) AS start_ns,
        s.end_ns + base_ns(g.trace) AS end_ns
    FROM query_table(rel) AS g
    LEFT JOIN (
        SELECT
            trace_of(e.event_id) AS trace,
            bool_or(e.raw_category IN ('Operator', 'Runtime', 'Kernel', 'Memcpy', 'Memset'))
                AS has_2021_words,
            bool_or(e.ts_ns % 1000 <> 0) AS has_decimals,
            bool_or(json_exists(e.args, '$."Trace iteration"')) AS has_2022_words,
            min(e.ts_ns) AS start_ns,
            max(e.ts_ns + e.dur_ns) AS end_ns
        FROM (
            SELECT h.event_id, h.raw_category, h.ts_ns, h.dur_ns, h.args FROM raw_host AS h
            UNION ALL
            SELECT d.event_id, d.raw_category, d.ts_ns, d.dur_ns, NULL FROM raw_device AS d
        ) AS e
        GROUP BY trace_of(e.event_id)
    ) AS s ON g.trace = s.trace
    LEFT JOIN (
        SELECT
            trace_of(r.event_id) AS trace,
            bool_or(r.raw_category IN ('async_cpu_to_gpu', 'async_gpu')) AS has_2022_words
        FROM raw_flow AS r
        GROUP BY trace_of(r.event_id)
    ) AS f ON g.trace = f.trace
    LEFT JOIN (
        SELECT trace_of(h.event_id) AS trace, try_cast(mode(h.pid) AS BIGINT) AS process_id
        FROM raw_host AS h
        WHERE h.category <> 'overhead'
        GROUP BY trace_of(h.event_id)
    ) AS p ON g.trace = p.trace;
