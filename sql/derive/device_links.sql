-- derive: device_links
-- since: 0.1
-- summary: Kind, launch and operator of each device event, in the order of raw_device; launches fills it.
CREATE TABLE device_links (
    event_id BIGINT,
    kind VARCHAR,
    uses_tensor_cores BOOLEAN,
    launch_id BIGINT,
    op_id BIGINT
);
