-- Panel of the report: Python source lines, without those in which threads only wait.
SELECT
    source_file || ':' || source_line AS line,
    source_function,
    calls,
    host_self_us,
    host_total_us,
    device_us,
    allocated_bytes,
    is_library,
    callee
FROM source_lines(run := $run, worker := $worker, span := $span)
WHERE NOT is_waiting
LIMIT $most_rows;
