-- Finding of the panel: the operator with the most floating-point operations.
WITH named AS (
    SELECT
        p.name,
        percentage(sum(p.total_flops), sum(sum(p.total_flops)) OVER ()) AS share_pct,
        count(*) AS listed,
        count(p.total_flops) AS known
    FROM panel_rows AS p
    GROUP BY p.name
)

SELECT
    format(
        '{} does {} of the floating-point operations.',
        as_name(arg_max(n.name, n.share_pct)),
        as_percent(max(n.share_pct))
    )
        AS finding
FROM named AS n
HAVING
    count(*) > 1 AND sum(n.listed) = sum(n.known) AND sum(n.listed) < $most_rows
    AND max(n.share_pct) > 0 AND max(n.share_pct, 2)[1] > coalesce(max(n.share_pct, 2)[2], 0);
