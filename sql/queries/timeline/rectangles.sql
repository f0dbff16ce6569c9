-- Timeline: what it draws between $from_ns and $to_ns; times count from $start_ns.
SELECT
    lane,
    depth,
    start_ns - $start_ns AS start,
    end_ns - start_ns AS length,
    events,
    busy_pct::FLOAT AS busy,
    event_id,
    category,
    name
FROM timeline(
    run := $run,
    worker := $worker,
    span := $span,
    from_ns := $from_ns,
    to_ns := $to_ns,
    pixels := $pixels,
    most_rows := $most_rows,
    depths := $depths
);
