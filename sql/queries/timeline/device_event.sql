-- Timeline: what is known of an event on a device, and of the call that launched it.
SELECT
    d.category,
    d.name,
    d.device_id,
    d.stream_id,
    d.start_ns - $start_ns AS start,
    d.duration_ns AS length,
    array_to_string(d.grid, ' × ') AS grid,
    array_to_string(d.block, ' × ') AS block,
    d.registers_per_thread,
    d.shared_memory_bytes,
    d.est_achieved_occupancy_pct,
    d.uses_tensor_cores,
    d.bytes,
    d.bandwidth_gbps,
    d.collective,
    d.group_size,
    d.launch_id,
    d.op_id,
    l.name AS launch,
    'thread ' || coalesce(l.pid, '-') || ' ' || coalesce(l.tid, '-') AS launch_lane,
    l.start_ns - $start_ns AS launch_start,
    o.name AS op,
    o.input_dims::VARCHAR AS input_dims,
    o.call_stack,
    o.module_hierarchy
FROM device_events AS d
LEFT JOIN host_events AS l
    ON
        d.launch_id = l.event_id
        AND l.run = $run AND l.worker = $worker AND l.span = $span
LEFT JOIN host_events AS o
    ON
        d.op_id = o.event_id
        AND o.run = $run AND o.worker = $worker AND o.span = $span
WHERE d.run = $run AND d.worker = $worker AND d.span = $span AND d.event_id = $event_id;
