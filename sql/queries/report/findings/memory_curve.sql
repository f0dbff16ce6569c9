-- Finding of the panel: the first peak of the device that the chart shows first.
WITH sizes AS (
    SELECT
        p.device,
        p.time_ms,
        p.allocated_bytes,
        max(greatest(p.allocated_bytes, p.reserved_bytes))
            OVER (PARTITION BY p.device)
            AS device_bytes
    FROM panel_rows AS p
),

peaks AS (
    SELECT
        p.device,
        p.allocated_bytes,
        p.time_ms,
        count(DISTINCT p.device) OVER () AS devices
    FROM sizes AS p
    QUALIFY
        row_number()
            OVER (
                ORDER BY
                    p.device_bytes DESC,
                    p.device ASC,
                    p.allocated_bytes DESC NULLS LAST,
                    p.time_ms ASC
            )
        = 1
)

SELECT
    format(
        'The peak{} is {}, {} after the start.',
        if(p.devices > 1, ' of ' || p.device, ''),
        as_bytes(p.allocated_bytes),
        as_time(1000 * p.time_ms)
    ) AS finding
FROM peaks AS p
WHERE p.allocated_bytes > 0;
