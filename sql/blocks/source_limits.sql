-- block: source_limits
-- since: 0.1
-- summary: What the traces of a source do not record, and how to record it there.
-- grain: one row per source and check of trace_quality
--
-- trace_quality has the advice for traces of the PyTorch profiler, source 'kineto'. For the traces of other
-- sources its findings have the messages of this list. Rows that always hold are findings of every trace of
-- their source: no recording of it has these data.
--
-- columns
--   name       type     unit  meaning
--   source     VARCHAR  key   Value of traces.source.
--   check      VARCHAR  key   Name of a check of trace_quality.
--   holds      BOOLEAN  -     Whether it holds for every trace of the source.
--   message    VARCHAR  -     What the finding means and what to do.
CREATE MACRO source_limits() AS TABLE
    SELECT
        t.source,
        t."check",
        t.holds,
        t.message
    FROM (
        VALUES
        (
            'nsys', 'rank_unknown', FALSE,
            'Nsight Systems does not record ranks: name the file of each rank rank<N>, as '
            || 'nsys profile -o report_rank%q{RANK} does.'
        ),
        (
            'nsys', 'no_steps', FALSE,
            'Nsight Systems has no steps: put each iteration into an NVTX range such as '
            || '"step 12", or name the ranges with tracewh ingest --force --step-range '
            || 'REGEX.'
        ),
        (
            'nsys', 'no_device_events', FALSE,
            'No work on a device: record with nsys profile --trace=cuda,nvtx,osrt.'
        ),
        (
            'nsys', 'no_operators', FALSE,
            'Nsight Systems records operators as NVTX ranges only: run the loop in '
            || 'torch.autograd.profiler.emit_nvtx(), and record with --trace=cuda,nvtx.'
        ),
        (
            'nsys', 'no_shapes', FALSE,
            'Operators without input shapes: use emit_nvtx(record_shapes=True).'
        ),
        (
            'nsys', 'no_stacks', FALSE,
            'tracewh does not read the call stacks of Nsight Systems: for source lines '
            || 'record with the PyTorch profiler and with_stack=True.'
        ),
        (
            'nsys', 'no_modules', FALSE,
            'Nsight Systems does not record modules: record with the PyTorch profiler and '
            || 'with_modules=True.'
        ),
        (
            'nsys', 'no_memory', FALSE,
            'No allocations: record with nsys profile --cuda-memory-usage=true. They are '
            || 'those of cudaMalloc, not of the allocator of PyTorch.'
        ),
        (
            'nsys', 'no_counters', FALSE,
            'Nsight Systems has no counters of single kernels: Nsight Compute records '
            || 'them.'
        ),
        (
            'nsys', 'kernels_without_launches', FALSE,
            'Device events without a recorded launch: they belong to no operator. The '
            || 'calls were made before the recording started, or cut out of the file.'
        ),
        (
            'nsys', 'launches_without_kernels', FALSE,
            'Launches without a recorded kernel: their operators show too little device '
            || 'time; synchronise the device before the recording stops.'
        ),
        (
            'nsys', 'no_collective_sizes', TRUE,
            'Nsight Systems does not say which collective a kernel is, of which group, or '
            || 'how much it sends: collectives are known by the names of kernels only.'
        )
    ) AS t (source, "check", holds, message);
