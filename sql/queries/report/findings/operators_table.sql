-- Finding of the panel: the operator with the most time of its own, on the devices or else on the host.
WITH shares AS (
    SELECT
        p.name,
        coalesce(sum(p.device_self_us) OVER () > 0, FALSE) AS is_device,
        if(is_device, p.device_share_pct, p.host_share_pct) AS share_pct
    FROM panel_rows AS p
)

SELECT
    format(
        '{} takes {} of the {} time of all operators.',
        as_name(arg_max(s.name, s.share_pct)),
        as_percent(max(s.share_pct)),
        if(any_value(s.is_device), 'device', 'host')
    ) AS finding
FROM shares AS s
HAVING
    count(*) > 1
    AND max(s.share_pct) > 0
    AND max(s.share_pct, 2)[1] > coalesce(max(s.share_pct, 2)[2], 0);
