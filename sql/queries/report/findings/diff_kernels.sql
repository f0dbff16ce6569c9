-- Finding of the panel: the kernel that differs most, of those whose difference is significant if any is.
WITH differences AS (
    SELECT p.name, p.delta_total_us AS delta_us, p.significant, NULL::VARCHAR AS measure
    FROM panel_rows AS p
)

SELECT l.finding
FROM largest_difference('differences', 'kernel') AS l
WHERE l.listed < $most_rows;
