-- slice: memsets
-- since: 0.1
-- summary: Memsets of device memory.
CREATE VIEW memsets AS
SELECT t.*
FROM device_events AS t
WHERE t.category = 'gpu_memset';
