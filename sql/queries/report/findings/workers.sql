-- Finding of the panel: the worker that the others wait for most.
WITH late AS (
    SELECT
        coalesce(format('rank {}', p.rank), p.worker)
        || if(count(DISTINCT p.span) OVER () > 1, ', span ' || p.span, '') AS name,
        p.lateness_us / p.steps AS lateness_us,
        p.steps,
        p.lateness_pct
    FROM panel_rows AS p
    WHERE p.lateness_us > 0
    QUALIFY row_number() OVER (ORDER BY p.lateness_us DESC, p.span ASC, p.worker ASC) = 1
)

SELECT
    format(
        'The other workers wait {}{} for {}: {} of all waiting in collectives.',
        as_time(l.lateness_us),
        if(l.steps > 1, ' per step', ''),
        l.name,
        as_percent(l.lateness_pct)
    ) AS finding
FROM late AS l;
