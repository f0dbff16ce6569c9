-- Finding of the panel: the kind of collective that takes most of the time of all workers, and its bandwidth where
-- the size and the transfer time of each call are known.
WITH kinds AS (
    SELECT
        p.name,
        percentage(sum(p.total_us), sum(sum(p.total_us)) OVER ()) AS share_pct,
        if(
            sum(p.compared_calls) = sum(p.calls)
            AND count(p.transfer_us) = count(*)
            AND round(sum(p.total_bytes / p.mean_bytes)) = sum(p.calls),
            ratio(sum(p.total_bytes), 1000 * sum(p.transfer_us)),
            NULL
        ) AS bandwidth_gbps,
        sum(count(*)) OVER () AS listed,
        count(*) OVER () AS kinds
    FROM panel_rows AS p
    GROUP BY p.name
    QUALIFY rank() OVER (ORDER BY sum(p.total_us) DESC) = 1
)

SELECT
    if(
        any_value(k.kinds) = 1,
        format('{} is the only kind of collective', any_value(k.name)),
        format(
            '{} takes {} of the time in collectives',
            any_value(k.name),
            as_percent(any_value(k.share_pct))
        )
    )
    || if(
        any_value(k.bandwidth_gbps) > 0,
        format('; it transfers {} GB/s.', as_digits(any_value(k.bandwidth_gbps))),
        '.'
    ) AS finding
FROM kinds AS k
HAVING count(*) = 1 AND any_value(k.share_pct) > 0 AND any_value(k.listed) < $most_rows;
