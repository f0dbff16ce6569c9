-- Finding of the panel: how much of the communication of all workers computation hides.
WITH hidden AS (
    SELECT
        percentage(sum(p.overlap_us), sum(p.overlap_us + p.communication_us)) AS hidden_pct,
        count(DISTINCT p.worker) AS workers
    FROM panel_rows AS p
    WHERE p.step IS NULL
    HAVING (SELECT count(*) FROM panel_rows) < $most_rows
)

SELECT
    format(
        'Computation hides {} of the communication{}.',
        CASE h.hidden_pct WHEN 0 THEN 'none' WHEN 100 THEN 'all' ELSE as_percent(h.hidden_pct) END,
        if(h.workers > 1, ' of all workers', '')
    ) AS finding
FROM hidden AS h
WHERE h.hidden_pct IS NOT NULL;
