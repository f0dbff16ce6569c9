-- Panel of the report: Module tree.
SELECT
    path,
    count(*) AS calls,
    sum(host_self_us) AS host_self_us,
    sum(device_self_us) AS device_self_us
FROM module_tree(run := $run, worker := $worker, span := $span)
GROUP BY path
ORDER BY host_self_us DESC
LIMIT $most_rows;
