-- Finding of the panel: what the devices do for most of their busy time.
SELECT
    format(
        'The devices spend {} of their busy time on {}.',
        as_percent(max(p.share_pct)),
        replace(
            replace(arg_max(p.kind, p.share_pct), 'memory', 'copies and memsets'),
            'overlapping',
            'that overlaps'
        )
    ) AS finding
FROM panel_rows AS p
HAVING max(p.share_pct) > 0 AND max(p.share_pct, 2)[1] > coalesce(max(p.share_pct, 2)[2], 0);
