-- Timeline: the curves between $from_ns and $to_ns; times count from $start_ns.
SELECT
    series,
    device,
    start_ns - $start_ns AS start,
    end_ns - start_ns AS length,
    value
FROM timeline_series(
    run := $run,
    worker := $worker,
    span := $span,
    from_ns := $from_ns,
    to_ns := $to_ns,
    pixels := $pixels
);
