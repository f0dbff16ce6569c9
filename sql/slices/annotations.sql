-- slice: annotations
-- since: 0.1
-- summary: Annotations that the user or the profiler made on the host, ProfilerStep# among them.
CREATE VIEW annotations AS
SELECT t.*
FROM host_events AS t
WHERE t.category = 'user_annotation';
