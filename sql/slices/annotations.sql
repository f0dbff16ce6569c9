-- slice: annotations
-- since: 0.1
-- summary: Annotations of the user or the profiler on the host, including ProfilerStep#.
CREATE VIEW annotations AS
SELECT t.*
FROM host_events AS t
WHERE t.category = 'user_annotation';
