-- table: step_activity
-- since: 0.1
-- summary: How long each set of roles was active at once, in each step and outside of them.
-- grain: one row per step of a trace, or the time outside of all, and set of roles that was active in it
--
-- Settled by ingest, so that no question has to sort every event of a trace again: see the blocks
-- step_roles, which this holds the answer of, and event_roles, which says what has which role. Steps
-- are the extended ones; time in which no role was active is left out. A role whose every event has
-- no length has a row with a duration of 0, which says that it was recorded.
CREATE TABLE step_activity (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    step_event_id BIGINT,  -- The step's annotation, event_id in steps; NULL outside of all steps, and in a trace without any.
    kernel BOOLEAN,  -- Whether kernels ran that are no collectives.
    memcpy BOOLEAN,  -- Whether copies ran.
    memset BOOLEAN,  -- Whether fills ran.
    device_communication BOOLEAN,  -- Whether collectives ran on a device.
    host_communication BOOLEAN,  -- Whether collectives ran on the host.
    runtime BOOLEAN,  -- Whether calls into the runtime or driver ran.
    dataloader BOOLEAN,  -- Whether the data loader ran.
    cpu_exec BOOLEAN,  -- Whether other operators or annotations ran.
    duration_ns BIGINT  -- How long just these were active.
);
