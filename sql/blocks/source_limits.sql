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
        ),
        (
            'nsys', 'no_epoch', FALSE,
            'The file does not say when the recording started: compare no times with those '
            || 'of other traces; nsys export writes the table TARGET_INFO_SESSION_START_TIME.'
        ),
        (
            'ascend', 'rank_unknown', FALSE,
            'The file does not say its rank: ingest the whole folder '
            || '<host>_<pid>_<time>_ascend_pt, which has it in the name of '
            || 'profiler_info_<rank>.json.'
        ),
        (
            'ascend', 'no_steps', FALSE,
            'No steps: give torch_npu.profiler.profile a schedule and call prof.step() '
            || 'after each iteration; kernel_details.csv alone has none.'
        ),
        (
            'ascend', 'no_device_events', FALSE,
            'No work on a device: record with ProfilerActivity.NPU among the activities.'
        ),
        (
            'ascend', 'no_operators', FALSE,
            'No operators: record with ProfilerActivity.CPU among the activities, and '
            || 'ingest trace_view.json together with kernel_details.csv.'
        ),
        (
            'ascend', 'no_memory', FALSE,
            'No allocations: record with profile_memory=True, and ingest '
            || 'operator_memory.csv too.'
        ),
        (
            'ascend', 'no_counters', FALSE,
            'No counters of kernels: record with '
            || 'experimental_config=torch_npu.profiler._ExperimentalConfig('
            || 'profiler_level=ProfilerLevel.Level1, '
            || 'aic_metrics=AiCMetrics.PipeUtilization), and ingest kernel_details.csv too.'
        ),
        (
            'ascend', 'kernels_without_launches', FALSE,
            'Device events without a recorded launch: record with ProfilerLevel.Level1, '
            || 'or add a warmup step to the schedule.'
        ),
        (
            'mindspore', 'rank_unknown', FALSE,
            'The folder does not say its rank: keep profiler_info_<device>.json beside '
            || 'the other files.'
        ),
        (
            'mindspore', 'no_steps', FALSE,
            'MindSpore writes step_trace_profiling_<device>.txt for GPU runs in graph '
            || 'mode only: without it there are no steps.'
        ),
        (
            'mindspore', 'no_device_events', FALSE,
            'No work on a device: on a CPU there is none; on a GPU keep '
            || 'activity_execute_timestamp_<device>.txt beside the other files.'
        ),
        (
            'mindspore', 'no_operators', FALSE,
            'No operators: keep gpu_op_execute_timestamp_<device>.txt and '
            || 'cpu_op_execute_timestamp_<device>.txt beside the other files.'
        ),
        (
            'mindspore', 'no_shapes', FALSE,
            'Operators without input shapes: keep gpu_framework_<device>.txt and '
            || 'cpu_framework_<device>.txt beside the other files.'
        ),
        (
            'mindspore', 'no_stacks', FALSE,
            'MindSpore 1.8 to 2.2 does not record source lines; the scope of an operator '
            || 'is in its module_hierarchy.'
        ),
        (
            'mindspore', 'no_memory', FALSE,
            'MindSpore 1.8 to 2.2 does not record allocations on GPU and CPU.'
        ),
        (
            'mindspore', 'no_counters', FALSE,
            'MindSpore has no counters of kernels: Nsight Compute records them.'
        ),
        (
            'mindspore', 'kernels_without_launches', FALSE,
            'MindSpore does not say which operator launched a kernel: operators and '
            || 'kernels are not linked.'
        ),
        (
            'mindspore', 'no_epoch', FALSE,
            'MindSpore does not say when its clock starts: compare no times with those '
            || 'of other workers.'
        ),
        (
            'ncu', 'no_times', TRUE,
            'Nsight Compute does not say when a kernel ran: only views of counters have '
            || 'rows.'
        ),
        (
            'ncu', 'rank_unknown', FALSE,
            'Nsight Compute does not record ranks: write one file per rank, rank<N>.csv.'
        ),
        (
            'ncu', 'no_steps', FALSE,
            'Nsight Compute has no steps: see a recording of the PyTorch profiler.'
        ),
        (
            'ncu', 'no_device_events', FALSE,
            'Nsight Compute has counters of kernels, and no timeline: see a recording of '
            || 'the PyTorch profiler or of Nsight Systems.'
        ),
        (
            'ncu', 'no_operators', FALSE,
            'Nsight Compute does not record operators: see a recording of the PyTorch '
            || 'profiler.'
        ),
        (
            'ncu', 'no_memory', FALSE,
            'Nsight Compute does not record allocations: see a recording of the PyTorch '
            || 'profiler.'
        ),
        (
            'pipeline', 'no_steps', FALSE,
            'A table of pipeline operations has no events: query the table '
            || 'pipeline_operations, or see a recording of the PyTorch profiler.'
        ),
        (
            'pipeline', 'no_device_events', FALSE,
            'A table of pipeline operations has no kernels: see a recording of the PyTorch '
            || 'profiler.'
        ),
        (
            'pipeline', 'no_operators', FALSE,
            'A table of pipeline operations has no operators: see a recording of the PyTorch '
            || 'profiler.'
        ),
        (
            'pipeline', 'no_memory', FALSE,
            'A table of pipeline operations has no allocations: see a recording of the PyTorch '
            || 'profiler.'
        )
    ) AS t (source, "check", holds, message);
