-- table: processes
-- since: 0.1
-- summary: Names and sort order of processes and threads, from the metadata rows.
-- grain: one row per named thread, and one row per process without named threads
--
-- The metadata rows themselves are in other_events, with phase 'M'.
CREATE TABLE processes (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    pid VARCHAR,  -- Process; a device number on device rows.
    tid VARCHAR,  -- Thread; a stream number on device rows. NULL on the row of a process without named threads.
    process_name VARCHAR,  -- Name of the process.
    process_labels VARCHAR,  -- Labels of the process, e.g. 'CPU' or 'GPU 0'.
    process_sort_index BIGINT,  -- Position among the processes in a trace viewer.
    thread_name VARCHAR,  -- Name of the thread.
    thread_sort_index BIGINT  -- Position among the threads in a trace viewer.
);
