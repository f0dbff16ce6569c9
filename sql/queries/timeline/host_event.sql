-- Timeline: what is known of an event on the host, and of the device work that it launched.
SELECT
    h.category,
    h.name,
    h.pid,
    h.tid,
    h.start_ns - $start_ns AS start,
    h.duration_ns AS length,
    h.self_duration_ns AS self,
    h.input_dims::VARCHAR AS input_dims,
    array_to_string(h.input_types, ', ') AS input_types,
    h.call_stack,
    h.module_hierarchy,
    h.sequence_number,
    d.launched,
    d.launched_ns,
    d.first_id AS launched_id,
    d.first_lane AS launched_lane
FROM host_events AS h
CROSS JOIN (
    SELECT
        count(*) AS launched,
        sum(e.duration_ns) AS launched_ns,
        arg_min(e.event_id, e.start_ns) AS first_id,
        arg_min('stream ' || e.device_id || ' ' || e.stream_id, e.start_ns) AS first_lane
    FROM device_events AS e
    WHERE
        e.run = $run AND e.worker = $worker AND e.span = $span
        AND (e.launch_id = $event_id OR e.op_id = $event_id)
) AS d
WHERE h.run = $run AND h.worker = $worker AND h.span = $span AND h.event_id = $event_id;
