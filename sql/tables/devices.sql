-- table: devices
-- since: 0.1
-- summary: Devices visible to the process that recorded the trace.
-- grain: one row per device in deviceProperties
CREATE TABLE devices (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    device_id INTEGER,  -- [id] Number of the device on its host.
    name VARCHAR,  -- [name] Product name.
    total_memory_bytes BIGINT,  -- [totalGlobalMem] Memory of the device.
    compute_major INTEGER,  -- [computeMajor] Compute capability, major part.
    compute_minor INTEGER,  -- [computeMinor] Compute capability, minor part.
    num_sms INTEGER,  -- [numSms] Streaming multiprocessors (compute units on AMD).
    warp_size INTEGER,  -- [warpSize] Threads per warp (wavefront).
    max_threads_per_block INTEGER,  -- [maxThreadsPerBlock] Limit of threads in a block.
    max_threads_per_sm INTEGER,  -- [maxThreadsPerMultiprocessor] Limit of threads resident on a multiprocessor.
    regs_per_block INTEGER,  -- [regsPerBlock] 32-bit registers available to a block.
    regs_per_sm INTEGER,  -- [regsPerMultiprocessor] 32-bit registers of a multiprocessor.
    shared_mem_per_block BIGINT,  -- [sharedMemPerBlock] Shared memory available to a block, in bytes.
    shared_mem_per_sm BIGINT,  -- [sharedMemPerMultiprocessor] Shared memory of a multiprocessor, in bytes.
    shared_mem_per_block_optin BIGINT,  -- [sharedMemPerBlockOptin] Shared memory a block can opt in to, in bytes.
    properties JSON  -- The whole entry as written in the file.
);
