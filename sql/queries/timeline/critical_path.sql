-- Timeline: the critical path of a step, or of the whole trace if $step is NULL; times count from $start_ns.
SELECT
    p.event_id,
    p.start_ns - $start_ns AS start,
    (1000 * p.duration_us)::BIGINT AS length,
    p.bound,
    p.name
FROM critical_path(run := $run, worker := $worker, span := $span, step := $step) AS p
LIMIT $most_rows;
