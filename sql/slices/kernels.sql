-- slice: kernels
-- since: 0.1
-- summary: Kernels, including collectives.
CREATE VIEW kernels AS
SELECT t.*
FROM device_events AS t
WHERE t.category = 'kernel';
