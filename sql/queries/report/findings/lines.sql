-- Finding of the panel: the line with the most host time of its own, of those that belong to no library if any
-- does not. A thread of a library may wait all the time.
WITH shares AS (
    SELECT
        coalesce(p.source_function || ' at ', '') || regexp_extract(p.line, '[^/\\]*$') AS line,
        percentage(p.host_self_us, sum(p.host_self_us) OVER ()) AS share_pct,
        count(*) OVER () AS listed
    FROM panel_rows AS p
    QUALIFY p.is_library = bool_and(p.is_library) OVER ()
)

SELECT
    format(
        '{} takes {} of the host time of all lines.',
        as_name(arg_max(s.line, s.share_pct)),
        as_percent(max(s.share_pct))
    ) AS finding
FROM shares AS s
HAVING
    any_value(s.listed) BETWEEN 2 AND $most_rows - 1
    AND max(s.share_pct) >= 5 AND max(s.share_pct, 2)[1] > coalesce(max(s.share_pct, 2)[2], 0);
