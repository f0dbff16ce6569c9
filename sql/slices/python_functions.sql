-- slice: python_functions
-- since: 0.1
-- summary: Python frames.
CREATE VIEW python_functions AS
SELECT t.*
FROM host_events AS t
WHERE t.category = 'python_function';
