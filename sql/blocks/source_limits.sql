-- block: source_limits
-- since: 0.1
-- summary: What trace_quality says about the traces of a source in other words than about others.
-- grain: one row per source and check of trace_quality
--
-- These messages replace those of trace_quality, whose advice comes from recording_hint. Rows that always hold are
-- findings of every trace of their source: no recording of it has these data.
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
            'Nsight Systems does not record ranks: record each rank into a file of its own, with '
            || 'rank<N> in its name, as nsys profile -o report_rank%q{RANK} does.'
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
        )
    ) AS t (source, "check", holds, message);
