-- slice: memcpys
-- since: 0.1
-- summary: Copies to, from and within devices.
CREATE VIEW memcpys AS
SELECT t.*
FROM device_events AS t
WHERE t.category = 'gpu_memcpy';
