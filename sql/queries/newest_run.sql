-- The run whose trace starts last.
SELECT t.run
FROM traces AS t
ORDER BY t.start_ns DESC
LIMIT 1;
