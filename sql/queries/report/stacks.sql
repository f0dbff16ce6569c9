-- Panel of the report: Call stacks.
SELECT
    stack,
    value_us
FROM flamegraph(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
