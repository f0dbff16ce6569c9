-- Panel of the report: Memory over time, without memory that another process sent. A chart shows only the lowest and
-- the highest point of each interval.
SELECT
    device,
    (time_ns - $start_ns) / 1e6 AS time_ms,
    allocated_bytes,
    reserved_bytes
FROM memory_totals(run := $run, worker := $worker, span := $span)
WINDOW
    lowest AS (
        PARTITION BY device, (time_ns - $start_ns) * $intervals // $length_ns
        ORDER BY allocated_bytes ASC, time_ns ASC
    ),
    highest AS (
        PARTITION BY device, (time_ns - $start_ns) * $intervals // $length_ns
        ORDER BY allocated_bytes DESC, time_ns ASC
    )
QUALIFY row_number() OVER lowest = 1 OR row_number() OVER highest = 1
ORDER BY device, time_ns;
