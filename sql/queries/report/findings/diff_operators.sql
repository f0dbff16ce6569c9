-- Finding of the panel: the operator that differs most, of those whose difference is significant if any is.
WITH differences AS (
    SELECT
        p.name,
        coalesce(sum(abs(p.delta_device_self_us)) OVER () > 0, FALSE) AS is_device,
        if(is_device, p.delta_device_self_us, p.delta_host_self_us) AS delta_us,
        p.significant,
        count(*) OVER () AS listed,
        bool_or(p.significant) OVER () AS is_any_significant,
        count(*) OVER () = count(p.significant) OVER () AS is_tested
    FROM panel_rows AS p
),

largest AS (
    SELECT d.*
    FROM differences AS d
    WHERE d.delta_us <> 0 AND coalesce(d.significant, FALSE) = coalesce(d.is_any_significant, FALSE)
    QUALIFY rank() OVER (ORDER BY abs(d.delta_us) DESC) = 1
)

SELECT
    CASE
        WHEN any_value(l.is_tested) AND NOT any_value(l.is_any_significant)
            THEN 'No operator differs by more than noise.'
        ELSE
            format(
                '{}{} differs most: {} {} {} time per recording.',
                if(
                    any_value(l.is_any_significant),
                    'Of the operators that differ significantly, ',
                    ''
                ),
                as_name(any_value(l.name)),
                as_time(abs(any_value(l.delta_us))),
                if(any_value(l.delta_us) > 0, 'more', 'less'),
                if(any_value(l.is_device), 'device', 'host')
            )
    END AS finding
FROM largest AS l
HAVING count(*) = 1 AND any_value(l.listed) < $most_rows;
