-- Finding of the panel: the worker that the others wait for most.
WITH late AS (
    SELECT
        p.worker,
        sum(p.lateness_us) AS lateness_us,
        sum(p.collectives) AS collectives,
        percentage(sum(p.lateness_us), sum(sum(p.lateness_us)) OVER ()) AS share_pct,
        sum(count(*)) OVER () AS listed
    FROM panel_rows AS p
    GROUP BY p.worker
    QUALIFY rank() OVER (ORDER BY sum(p.lateness_us) DESC) = 1
)

SELECT
    format(
        '{} comes last in {} {} and causes {} of all waiting, {}.',
        any_value(l.worker),
        any_value(l.collectives),
        if(any_value(l.collectives) = 1, 'collective', 'collectives'),
        as_percent(any_value(l.share_pct)),
        as_time(any_value(l.lateness_us))
    ) AS finding
FROM late AS l
HAVING count(*) = 1 AND any_value(l.lateness_us) > 0 AND any_value(l.listed) < $most_rows;
