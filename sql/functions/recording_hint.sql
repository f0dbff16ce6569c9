-- function: recording_hint
-- since: 0.1
-- summary: How to record something that a trace does not have, with the tool that recorded the trace.
-- returns: VARCHAR
--
-- All advice on recording comes from here: that of verdict, trace_quality and recording_advice, and
-- what {record ...} stands for in the reason why a view has no rows. A new source adds its words here.
--
-- Without a schedule, prof.step() marks no steps: torch/profiler/profiler.py, record_steps.
--
-- The PyTorch profiler is meant where the source is NULL, as in warehouses of older versions.
--
-- params
--   name    type     unit  default  meaning
--   source  VARCHAR  -     -        Value of traces.source.
--   what    VARCHAR  -     -        One of the words in column data of recording_advice, 'threads': operators of other threads (PyTorch), 'asked_memory': memory, where the trace says profile_memory (PyTorch), or 'lost': anything, where the file was cut off.
CREATE MACRO recording_hint(source VARCHAR, what VARCHAR) AS (
    CASE
        -- No option is to blame for what is missing.
        WHEN what = 'lost' THEN 'perhaps cut off with the end of the file'
        WHEN source = 'nsys'
            THEN
                CASE what
                    WHEN 'steps'
                        THEN
                            'put each iteration into an NVTX range such as "step 12", or name '
                            || 'the ranges with --step-range'
                    WHEN 'operators' THEN 'run in emit_nvtx(), and record with --trace=cuda,nvtx'
                    WHEN 'shapes' THEN 'use emit_nvtx(record_shapes=True)'
                    WHEN 'device' THEN 'record with --trace=cuda'
                    WHEN 'launches'
                        THEN 'record with --trace=cuda, and start before the work is launched'
                    WHEN 'calls' THEN 'record with --trace=cuda,osrt'
                    WHEN 'events' THEN 'record with --trace=cuda,nvtx,osrt'
                    WHEN 'ranges'
                        THEN
                            'mark code with torch.cuda.nvtx.range(''name''), and record with '
                            || '--trace=cuda,nvtx'
                    WHEN 'memory'
                        THEN
                            'record with --cuda-memory-usage=true for allocations of cudaMalloc, '
                            || 'or with the PyTorch profiler and profile_memory=True for those of '
                            || 'PyTorch'
                    WHEN 'counters' THEN 'record counters of kernels with Nsight Compute'
                    WHEN 'stacks' THEN 'record with the PyTorch profiler and with_stack=True'
                    WHEN 'modules' THEN 'record with the PyTorch profiler and with_stack=True'
                    WHEN 'host' THEN 'record with --trace=cuda,nvtx,osrt'
                    WHEN 'data'
                        THEN
                            'record with the PyTorch profiler, and put '
                            || 'tracewh.record.dataloader(loader, folder) around the DataLoader'
                    WHEN 'cpus' THEN 'record with --sample=process-tree'
                END
        WHEN source = 'mindspore'
            THEN
                CASE what
                    WHEN 'steps' THEN 'MindSpore records steps on a GPU only, in graph mode'
                    WHEN 'operators'
                        THEN
                            'keep gpu_op_execute_timestamp_<device>.txt and '
                            || 'cpu_op_execute_timestamp_<device>.txt beside the other files'
                    WHEN 'shapes'
                        THEN
                            'keep gpu_framework_<device>.txt and cpu_framework_<device>.txt '
                            || 'beside the other files'
                    WHEN 'device'
                        THEN 'keep activity_execute_timestamp_<device>.txt beside the other files'
                    WHEN 'launches'
                        THEN 'MindSpore does not record which operator launched a kernel'
                    WHEN 'calls' THEN 'MindSpore 1.8 to 2.2 does not record calls of the runtime'
                    WHEN 'events'
                        THEN
                            'keep the files *_execute_timestamp_<device>.txt beside the other '
                            || 'files'
                    WHEN 'ranges' THEN 'MindSpore 1.8 to 2.2 does not record ranges'
                    WHEN 'memory' THEN 'MindSpore 1.8 to 2.2 does not record memory'
                    WHEN 'counters' THEN 'record counters of kernels with Nsight Compute'
                    WHEN 'stacks'
                        THEN
                            'MindSpore 1.8 to 2.2 does not record source lines; the scope of an '
                            || 'operator is in its module_hierarchy'
                    WHEN 'modules'
                        THEN
                            'MindSpore 1.8 to 2.2 does not record modules; the scope of an '
                            || 'operator is in its module_hierarchy'
                    WHEN 'host' THEN 'run the script in a profiler of Python, such as cProfile'
                    WHEN 'data'
                        THEN
                            'record with Profiler(data_process=True), and keep '
                            || 'pipeline_profiling_<device>.json and '
                            || 'dataset_iterator_profiling_<device>.txt beside the other files'
                    WHEN 'cpus'
                        THEN
                            'record with Profiler(data_process=True), and keep '
                            || 'minddata_cpu_utilization_<device>.json beside the other files'
                END
        WHEN source IN ('ncu', 'pipeline')
            THEN
                CASE
                    WHEN source = 'ncu' AND what = 'counters'
                        THEN 'record with ncu --set full, and print with --page raw --csv'
                    WHEN what = 'counters' THEN 'record counters of kernels with Nsight Compute'
                    ELSE 'see a recording of the PyTorch profiler'
                END
        WHEN
            source = 'ascend'
            AND what IN (
                'steps', 'operators', 'device', 'launches', 'calls', 'memory', 'counters', 'data',
                'cpus'
            )
            THEN
                CASE what
                    WHEN 'steps'
                        THEN
                            'record with a schedule, call prof.step() after each iteration, and '
                            || 'ingest trace_view.json'
                    WHEN 'operators'
                        THEN 'record with ProfilerActivity.CPU, and ingest trace_view.json'
                    WHEN 'device' THEN 'record with ProfilerActivity.NPU'
                    WHEN 'launches'
                        THEN
                            'record with ProfilerActivity.CPU, ProfilerActivity.NPU and '
                            || 'ProfilerLevel.Level1, and add a warmup step to the schedule'
                    WHEN 'calls'
                        THEN 'record with ProfilerActivity.NPU and ProfilerLevel.Level1'
                    WHEN 'memory'
                        THEN 'record with profile_memory=True, and ingest operator_memory.csv too'
                    WHEN 'counters'
                        THEN
                            'record with experimental_config=torch_npu.profiler.'
                            || '_ExperimentalConfig(profiler_level=ProfilerLevel.Level1, '
                            || 'aic_metrics=AiCMetrics.PipeUtilization), and ingest '
                            || 'kernel_details.csv too'
                    ELSE 'tracewh.record does it for traces of the PyTorch profiler only'
                END
        ELSE
            CASE what
                WHEN 'steps'
                    THEN 'record with a schedule, and call prof.step() after each iteration'
                WHEN 'operators' THEN 'record with ProfilerActivity.CPU'
                WHEN 'threads'
                    THEN
                        'record with profile_all_threads=True in experimental_config, for '
                        || 'operators of other threads'
                WHEN 'shapes' THEN 'record with record_shapes=True'
                WHEN 'device' THEN 'record with ProfilerActivity.CUDA (or XPU, ...)'
                WHEN 'launches'
                    THEN
                        'record with both ProfilerActivity.CPU and ProfilerActivity.CUDA (or '
                        || 'XPU, ...), and add a warmup step to the schedule'
                WHEN 'calls' THEN 'record with ProfilerActivity.CUDA (or XPU, ...)'
                WHEN 'events' THEN 'record with ProfilerActivity.CPU'
                WHEN 'ranges' THEN 'mark code with torch.profiler.record_function(''name'')'
                WHEN 'memory' THEN 'record with profile_memory=True'
                WHEN 'asked_memory'
                    THEN
                        'profile_memory=True was set, but torch 2.13 records no allocations with '
                        || 'profile_all_threads=True: if that was set, too, record without it'
                WHEN 'counters'
                    THEN
                        'on an NVIDIA GPU, record them with Nsight Compute, or, with torch 2.13 '
                        || 'or older, in a separate recording with experimental_config='
                        || 'torch.profiler._ExperimentalConfig(profiler_metrics='
                        || '["dram__bytes_read.sum", ...], profiler_measure_per_kernel=True)'
                WHEN 'stacks' THEN 'record with with_stack=True'
                WHEN 'modules' THEN 'record with with_stack=True'
                WHEN 'host' THEN 'record with with_stack=True'
                WHEN 'data'
                    THEN
                        'put tracewh.record.dataloader(loader, folder) around the DataLoader'
                WHEN 'cpus' THEN 'run the training in `with tracewh.record.cpu(folder):`'
            END
    END
);
