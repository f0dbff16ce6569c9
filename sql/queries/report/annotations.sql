-- Panel of the report: Annotations, without the steps, which have a panel of their own.
SELECT * EXCLUDE (run, worker, span)
FROM annotation_breakdown(run := $run, worker := $worker, span := $span)
WHERE NOT starts_with(name, 'ProfilerStep#')
LIMIT $most_rows;
