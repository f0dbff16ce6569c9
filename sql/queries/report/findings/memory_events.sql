-- Finding of the panel: the largest block and the operator around its allocation.
WITH largest AS (
    SELECT
        p.size_bytes,
        coalesce(p.parent_operator, p.operator) AS operator
    FROM panel_rows AS p
    QUALIFY rank() OVER (ORDER BY p.size_bytes DESC) = 1
)

SELECT
    CASE
        WHEN count(*) > 1
            THEN
                format(
                    'The {} largest blocks have {} each.',
                    count(*),
                    as_bytes(any_value(l.size_bytes))
                )
        ELSE
            format('The largest block has {}', as_bytes(any_value(l.size_bytes)))
            || coalesce(format('; it was allocated in {}.', as_name(any_value(l.operator))), '.')
    END AS finding
FROM largest AS l
HAVING count(*) > 0 AND count(*) < $most_rows AND any_value(l.size_bytes) > 0;
