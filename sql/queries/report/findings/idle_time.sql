-- Finding of the panel: the cause of most of the idle time of all streams.
WITH causes AS (
    SELECT
        p.idle_category,
        percentage(sum(p.idle_us), sum(sum(p.idle_us)) OVER ()) AS share_pct,
        count(*) AS listed
    FROM panel_rows AS p
    GROUP BY p.idle_category
)

SELECT
    format(
        CASE arg_max(c.idle_category, c.share_pct)
            WHEN
                'host_wait'
                THEN 'The streams wait for the host to launch work in {} of their idle time.'
            WHEN
                'kernel_wait'
                THEN 'Short gaps between kernels are {} of the idle time of the streams.'
            ELSE 'Neither late launches nor short gaps explain {} of the idle time of the streams.'
        END,
        as_percent(max(c.share_pct))
    ) AS finding
FROM causes AS c
HAVING
    sum(c.listed) < $most_rows
    AND max(c.share_pct) > 0 AND max(c.share_pct, 2)[1] > coalesce(max(c.share_pct, 2)[2], 0);
