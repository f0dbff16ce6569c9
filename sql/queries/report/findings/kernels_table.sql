-- Finding of the panel: the kernel with the most time, and the share of the first five.
WITH ranked AS (
    SELECT
        p.name,
        p.share_pct,
        row_number() OVER (ORDER BY p.share_pct DESC, p.name ASC) AS place
    FROM panel_rows AS p
)

SELECT
    format(
        '{} takes {} of the kernel time',
        as_name(arg_max(r.name, r.share_pct)),
        as_percent(max(r.share_pct))
    )
    || if(
        count(*) > 5 AND count(*) < $most_rows,
        format(
            '; the first 5 of {} kernels take {} together.',
            count(*),
            as_percent(sum(r.share_pct) FILTER (WHERE r.place <= 5))
        ),
        '.'
    ) AS finding
FROM ranked AS r
HAVING
    count(*) > 1
    AND max(r.share_pct) > 0
    AND max(r.share_pct, 2)[1] > coalesce(max(r.share_pct, 2)[2], 0);
