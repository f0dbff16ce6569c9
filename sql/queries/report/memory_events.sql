-- Panel of the report: Largest memory blocks.
SELECT
    device,
    operator,
    parent_operator,
    size_bytes,
    (allocated_ns - $start_ns) / 1e6 AS allocated_ms,
    (released_ns - $start_ns) / 1e6 AS released_ms,
    lifetime_us
FROM memory_events(run := $run, worker := $worker, span := $span)
ORDER BY size_bytes DESC, allocated_ns ASC
LIMIT $most_rows;
