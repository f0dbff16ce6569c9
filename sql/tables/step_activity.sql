-- table: step_activity
-- since: 0.1
-- summary: Time in which each set of roles was active at once, per step and outside of steps.
-- grain: one row per step of a trace (or the time outside of all steps) and set of roles active in it
--
-- Ingest computes this table, so that queries need not sort all events of a trace again. It holds the result
-- of the block step_roles; the block event_roles defines the role of an event. Steps are the extended ones.
-- Time in which no role was active is left out. A role whose events all have a duration of 0 has a row with
-- a duration of 0, which shows that the role was recorded.
CREATE TABLE step_activity (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    step_event_id BIGINT,  -- Annotation of the step (event_id in steps); NULL outside of steps, and in a trace without steps.
    kernel BOOLEAN,  -- Whether kernels other than collectives ran.
    memcpy BOOLEAN,  -- Whether copies ran.
    memset BOOLEAN,  -- Whether memsets ran.
    device_communication BOOLEAN,  -- Whether collectives ran on a device.
    host_communication BOOLEAN,  -- Whether collectives ran on the host.
    runtime BOOLEAN,  -- Whether runtime or driver calls ran.
    dataloader BOOLEAN,  -- Whether the data loader ran.
    cpu_exec BOOLEAN,  -- Whether other operators or annotations ran.
    cpu_op BOOLEAN,  -- Whether other operators ran, and not only labels as is_label defines them.
    duration_ns BIGINT  -- Time in which exactly these roles were active.
);
