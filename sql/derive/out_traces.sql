-- derive: out_traces
-- since: 0.1
-- summary: Facts about the trace as a whole, from its events.
--
-- Generations are recognised by words that only some of them use. The base time, if there is one, is the
-- start of the quarter in which the trace was recorded.
CREATE MACRO trace_facts(base_time BIGINT, worker VARCHAR, unpadded BOOLEAN) AS TABLE
    SELECT
        CASE
            WHEN s.has_2021_words THEN '2021'
            WHEN base_time >= epoch_ns(TIMESTAMP '2025-12-31') THEN '2026'
            WHEN base_time IS NOT NULL THEN '2024'
            WHEN unpadded THEN '2024-03'
            WHEN s.has_decimals THEN '2024-04'
            WHEN s.has_2022_words THEN '2022'
            ELSE '2023'
        END AS generation,
        s.process_id,
        -- The profiler's own handler names the worker after the host and the process.
        CASE
            WHEN worker LIKE '%\_' || s.process_id ESCAPE '\'
                THEN left(worker, length(worker) - length(s.process_id::VARCHAR) - 1)
        END AS worker_hostname,
        s.start_ns + base_ns() AS start_ns,
        s.end_ns + base_ns() AS end_ns
    FROM (
        SELECT
            bool_or(e.raw_category IN ('Operator', 'Runtime', 'Kernel', 'Memcpy', 'Memset'))
                AS has_2021_words,
            bool_or(e.ts_ns % 1000 <> 0) AS has_decimals,
            coalesce(
                (
                    SELECT bool_or(f.raw_category IN ('async_cpu_to_gpu', 'async_gpu'))
                    FROM raw_flow AS f
                ),
                FALSE
            ) OR bool_or(json_exists(e.args, '$."Trace iteration"')) AS has_2022_words,
            min(e.ts_ns) AS start_ns,
            max(e.ts_ns + e.dur_ns) AS end_ns,
            (
                SELECT try_cast(mode(h.pid) AS BIGINT) FROM raw_host AS h
                WHERE h.category <> 'overhead'
            ) AS process_id
        FROM (
            SELECT h.raw_category, h.ts_ns, h.dur_ns, h.args FROM raw_host AS h
            UNION ALL
            SELECT d.raw_category, d.ts_ns, d.dur_ns, NULL FROM raw_device AS d
        ) AS e
    ) AS s;
