-- Finding of the panel: the longest gap, and what the host did in it.
SELECT
    CASE
        WHEN count(*) = 1 THEN 'The gap'
        WHEN count(*) < $most_rows THEN format('The longest of {} gaps', count(*))
        ELSE 'The longest gap'
    END
    || format(' takes {}', as_time(max(p.duration_us)))
    || coalesce(
        format(
            '; meanwhile the host is mainly in {}.', as_name(arg_max_null(p.host_op, p.duration_us))
        ),
        '.'
    )
        AS finding
FROM panel_rows AS p
HAVING count(*) > 0;
