-- Finding of the panel: the operator that allocates most itself, and its share of its device.
WITH shares AS (
    SELECT
        p.device,
        p.operator,
        p.self_allocated_bytes,
        percentage(
            p.self_allocated_bytes, sum(p.self_allocated_bytes) OVER (PARTITION BY p.device)
        ) AS share_pct,
        count(*) OVER () AS listed
    FROM panel_rows AS p
    QUALIFY rank() OVER (ORDER BY p.self_allocated_bytes DESC) = 1
)

SELECT
    format(
        '{} allocates {} on {}, {} of all that is allocated there.',
        as_name(any_value(s.operator)),
        as_bytes(any_value(s.self_allocated_bytes)),
        any_value(s.device),
        as_percent(any_value(s.share_pct))
    ) AS finding
FROM shares AS s
HAVING count(*) = 1 AND any_value(s.self_allocated_bytes) > 0 AND any_value(s.listed) < $most_rows;
