-- Finding of the panel: the share of waiting in the collectives of all workers.
WITH waits AS (
    SELECT
        percentage(sum(p.synchronizing_us), sum(p.synchronizing_us + p.transfer_us)) AS wait_pct,
        sum(p.uncompared_us) > 0 AS is_part
    FROM panel_rows AS p
    WHERE p.step IS NULL
    HAVING (SELECT count(*) FROM panel_rows) < $most_rows
)

SELECT
    format(
        'Collectives{} wait for the last worker in {} of their time.',
        if(w.is_part, ' that can be compared', ''),
        as_percent(w.wait_pct)
    ) AS finding
FROM waits AS w
WHERE w.wait_pct IS NOT NULL;
