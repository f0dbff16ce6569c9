-- The numbers of the steps of a trace, in order of time.
SELECT s.step
FROM steps AS s
WHERE s.run = $run AND s.worker = $worker AND s.span = $span AND s.step IS NOT NULL
ORDER BY s.start_ns;
