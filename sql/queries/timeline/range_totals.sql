-- Timeline: how busy each device was between $from_ns and $to_ns, and the mean of its launch queue.
SELECT
    s.series,
    s.device,
    s.value
FROM timeline_series(
    run := $run,
    worker := $worker,
    span := $span,
    from_ns := $from_ns,
    to_ns := $to_ns,
    pixels := 1
) AS s;
