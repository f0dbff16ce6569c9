-- Finding of the panel: the events with the most time by themselves. None if a limit left out some events.
WITH longest AS (
    SELECT
        p.name,
        p.self_us,
        p.calls,
        percentage(p.self_us, sum(p.self_us) OVER ()) AS share_pct,
        count(*) OVER () AS listed
    FROM panel_rows AS p
    QUALIFY rank() OVER (ORDER BY p.self_us DESC) = 1
)

SELECT
    format(
        '{} takes the most time by itself: {} in {}, {} of all events.',
        as_name(any_value(l.name)),
        as_time(any_value(l.self_us)),
        if(any_value(l.calls) = 1, '1 call', format('{:,} calls', any_value(l.calls))),
        as_percent(any_value(l.share_pct))
    ) AS finding
FROM longest AS l
HAVING count(*) = 1 AND any_value(l.listed) BETWEEN 2 AND $most_rows - 1;
