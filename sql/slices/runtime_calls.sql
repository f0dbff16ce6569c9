-- slice: runtime_calls
-- since: 0.1
-- summary: Calls into the runtime or driver of a device of any vendor.
CREATE VIEW runtime_calls AS
SELECT t.*
FROM host_events AS t
WHERE ends_with(t.category, '_runtime') OR ends_with(t.category, '_driver');
