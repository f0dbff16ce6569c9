-- function: as_bytes
-- since: 0.1
-- summary: A number of bytes as text with a binary unit that suits its size, e.g. '31.7 GiB'.
-- returns: VARCHAR
--
-- params
--   name   type    unit   default  meaning
--   bytes  DOUBLE  bytes  -        The number of bytes.
CREATE MACRO as_bytes(bytes DOUBLE) AS (
    CASE
        WHEN abs(bytes) >= (1::BIGINT << 40) THEN format('{:.1f} TiB', bytes / (1::BIGINT << 40))
        WHEN abs(bytes) >= 99.95 * (1 << 30) THEN format('{:.0f} GiB', bytes / (1 << 30))
        WHEN abs(bytes) >= (1 << 30) THEN format('{:.1f} GiB', bytes / (1 << 30))
        WHEN abs(bytes) >= 99.95 * (1 << 20) THEN format('{:.0f} MiB', bytes / (1 << 20))
        WHEN abs(bytes) >= (1 << 20) THEN format('{:.1f} MiB', bytes / (1 << 20))
        WHEN abs(bytes) >= 99.95 * 1024 THEN format('{:.0f} KiB', bytes / 1024)
        WHEN abs(bytes) >= 1024 THEN format('{:.1f} KiB', bytes / 1024)
        ELSE format('{:.0f} B', bytes)
    END
);
