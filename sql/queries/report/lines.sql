-- Panel of the report: Python source lines.
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
LIMIT $most_rows;
