-- Finding of the panel: who allocated most of the memory at the peak of a device.
WITH owners AS (
    SELECT
        p.device,
        p.operator,
        p.blocks IS NULL AS is_earlier,
        sum(p.live_bytes) AS live_bytes,
        sum(p.share_pct) AS share_pct,
        sum(count(*)) OVER () AS listed
    FROM panel_rows AS p
    GROUP BY p.device, p.operator, is_earlier
    QUALIFY rank() OVER (ORDER BY sum(p.live_bytes) DESC) = 1
)

SELECT
    format(
        '{} of the memory at the peak of {}, {}, was allocated {}.',
        as_percent(any_value(o.share_pct)),
        any_value(o.device),
        as_bytes(any_value(o.live_bytes)),
        if(any_value(o.is_earlier), 'before the recording', 'by ' || as_name(any_value(o.operator)))
    ) AS finding
FROM owners AS o
HAVING count(*) = 1 AND any_value(o.live_bytes) > 0 AND any_value(o.listed) < $most_rows;
