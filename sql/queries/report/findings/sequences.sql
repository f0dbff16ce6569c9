-- Finding of the panel: the sequence that takes most, if it repeats. A pattern begins with its operator.
WITH longest AS (
    SELECT
        p.pattern,
        p.calls,
        p.share_pct
    FROM panel_rows AS p
    QUALIFY rank() OVER (ORDER BY p.share_pct DESC) = 1
)

SELECT
    format(
        '{} launches the same sequence of kernels {} times, {} of the time of all sequences.',
        as_name(any_value(split_part(l.pattern, ' › ', 1))),
        any_value(l.calls),
        as_percent(any_value(l.share_pct))
    ) AS finding
FROM longest AS l
HAVING count(*) = 1 AND any_value(l.calls) > 1 AND any_value(l.share_pct) > 0;
