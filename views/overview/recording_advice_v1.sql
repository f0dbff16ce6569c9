-- view: recording_advice
-- version: 1
-- since: 0.2
-- summary: How to record what a view needs, with the profiler that recorded the trace.
-- grain: one row per trace and kind of data
-- distributes: trace
-- order: run, worker, span, data
-- empty: There is no such trace.
-- uses: is_wanted, recording_hint
-- example: samples --run ddp_gloo --worker rank0
--
-- The advice is the same whether the trace has these data or not; trace_quality says what is missing. The line
-- `empty:` in the header of a view uses the words of data, e.g. {record operators}.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   source  VARCHAR  -    What recorded the trace: 'kineto' (the PyTorch profiler), 'nsys', 'ncu', 'mindspore', 'ascend' or 'pipeline'.
--   data    VARCHAR  key  What to record, e.g. 'operators'.
--   advice  VARCHAR  -    How to record it.
CREATE MACRO recording_advice_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        t.run,
        t.worker,
        t.span,
        coalesce(t.source, 'kineto') AS source,
        d.data,
        recording_hint(t.source, d.data) AS advice
    FROM traces AS t
    CROSS JOIN (
        VALUES
        ('calls'), ('counters'), ('cpus'), ('data'), ('device'), ('events'), ('host'),
        ('launches'), ('memory'), ('modules'), ('operators'), ('ranges'), ('shapes'),
        ('stacks'), ('steps')
    ) AS d (data)
    WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ORDER BY t.run, t.worker, t.span, d.data;
