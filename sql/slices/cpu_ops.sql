-- slice: cpu_ops
-- since: 0.1
-- summary: Operators: the host events of category cpu_op.
CREATE VIEW cpu_ops AS
SELECT t.*
FROM host_events AS t
WHERE t.category = 'cpu_op';
