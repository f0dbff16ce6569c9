-- Panel of the report: Use of the CPUs over time. A chart shows only the lowest and the highest point of each interval.
SELECT
    CASE
        WHEN loader_worker IS NOT NULL THEN 'loader worker ' || loader_worker
        WHEN operator IS NOT NULL THEN operator || ' ' || operator_id
        WHEN scope = 'child_process' THEN 'process ' || pid
        ELSE scope
    END AS process,
    (start_ns - coalesce($start_ns, min(start_ns) OVER ())) / 1e6 AS time_ms,
    busy_pct,
    idle_pct
FROM cpu_utilization(run := $run, worker := $worker, span := $span)
WINDOW
    lowest AS (
        PARTITION BY
            scope, pid, operator_id,
            (start_ns - $start_ns) * $intervals // coalesce(nullif($length_ns, 0), 1)
        ORDER BY busy_pct ASC, start_ns ASC
    ),
    highest AS (
        PARTITION BY
            scope, pid, operator_id,
            (start_ns - $start_ns) * $intervals // coalesce(nullif($length_ns, 0), 1)
        ORDER BY busy_pct DESC, start_ns ASC
    )
QUALIFY
    $start_ns IS NULL OR row_number() OVER lowest = 1 OR row_number() OVER highest = 1
ORDER BY process, time_ms;
