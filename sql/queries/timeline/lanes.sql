-- Timeline: its lanes from top to bottom.
SELECT
    lane,
    kind,
    role,
    pid,
    tid,
    process,
    name,
    depths,
    events,
    operators
FROM timeline_lanes(run := $run, worker := $worker, span := $span)
ORDER BY position;
