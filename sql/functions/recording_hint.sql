-- function: recording_hint
-- since: 0.1
-- summary: How to record something that a trace does not have, with the tool that recorded the trace.
-- returns: VARCHAR
--
-- The PyTorch profiler is meant where the source is NULL, as in warehouses of older versions.
--
-- params
--   name    type     unit  default  meaning
--   source  VARCHAR  -     -        Value of traces.source.
--   what    VARCHAR  -     -        'steps', 'operators', 'device' or 'memory'.
CREATE MACRO recording_hint(source VARCHAR, what VARCHAR) AS (
    CASE
        WHEN source = 'nsys'
            THEN
                CASE what
                    WHEN 'steps' THEN 'name ranges with --step-range'
                    WHEN 'operators' THEN 'run in emit_nvtx()'
                    WHEN 'device' THEN 'record with --trace=cuda'
                    WHEN 'memory' THEN 'record with --cuda-memory-usage=true'
                END
        WHEN source = 'mindspore'
            THEN
                CASE what
                    WHEN 'steps' THEN 'MindSpore records them on a GPU only'
                    WHEN 'operators'
                        THEN 'keep cpu_op_execute_timestamp_<device>.txt beside the other files'
                    WHEN 'device'
                        THEN 'keep activity_execute_timestamp_<device>.txt beside the other files'
                    WHEN 'memory' THEN 'MindSpore 1.8 to 2.2 does not record it'
                END
        WHEN source IN ('ncu', 'pipeline') THEN 'see a recording of the PyTorch profiler'
        ELSE
            CASE what
                WHEN 'steps' THEN 'call prof.step() after each iteration'
                WHEN 'operators' THEN 'record with ProfilerActivity.CPU'
                WHEN 'device'
                    THEN
                        'record with ProfilerActivity.'
                        || CASE WHEN source = 'ascend' THEN 'NPU' ELSE 'CUDA' END
                WHEN 'memory' THEN 'record with profile_memory=True'
            END
    END
);
