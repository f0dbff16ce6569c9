-- derive: out_device_events
-- since: 0.1
-- summary: Content of the Parquet file of device events, with epoch times.
SELECT
    d.* REPLACE (
        CASE
            WHEN has_device_as_process(d.category)
                THEN coalesce(d.device_id, try_cast(d.pid AS INTEGER))
            ELSE d.device_id
        END AS device_id
    ),
    d.ts_ns + base_ns(trace_of(d.event_id)) AS start_ns,
    d.dur_ns AS duration_ns,
    CASE
        WHEN d.event_id = l.event_id THEN l.kind ELSE error('device_links is out of order')
    END AS kind,
    l.uses_tensor_cores,
    l.launch_id,
    l.op_id
FROM raw_device AS d
POSITIONAL JOIN device_links AS l
