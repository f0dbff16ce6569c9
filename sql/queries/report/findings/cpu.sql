-- Finding of the panel: what uses most of its CPU time at any moment.
SELECT
    format('{} is busy up to {}.', arg_max(p.process, p.busy_pct), as_percent(max(p.busy_pct)))
        AS finding
FROM (
    SELECT upper(r.process[1]) || r.process[2:] AS process, r.busy_pct
    FROM panel_rows AS r
    WHERE r.busy_pct IS NOT NULL
    ORDER BY r.process
) AS p
HAVING count(*) > 0;
