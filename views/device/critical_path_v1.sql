-- view: critical_path
-- version: 1
-- since: 0.1
-- summary: Critical path of each step: the chain of work and waiting that determines its length.
-- grain: one row per piece of the chain of a step; the pieces of a step follow each other without gaps
-- distributes: trace
-- order: run, worker, span, step, start_ns
-- empty: No event with a duration was recorded: {record events}.
-- uses: critical_segments
-- example: samples --run ddp_gloo --step 3 --limit 12
--
-- The chain is built backwards from the end of the step. It starts on the device if the device's last work
-- ended with the step or after it, and otherwise on the thread of the step. Then these rules apply:
--
-- - Work on a device waited for the latest of three: the work before it on its stream, the work before
--   an event that its stream waited for, and the call that launched it. The time in between is
--   'kernel_kernel_delay' or, after the call, 'launch_delay'.
-- - A thread goes back through its operators, runtime calls, driver calls and data loading; the innermost
--   of these counts. Time between them was not recorded and is 'other'.
-- - A call that waited for a device (a synchronisation or a copy) goes back to the work that it waited
--   for. The time from the end of that work to the end of the call is 'sync'.
-- - An idle thread goes back to the thread of its process whose operator ended last in that time; an operator
--   inside another does not count. For example, a training loop waits for the autograd thread, and the autograd
--   thread for the loop.
--
-- If nothing tells what came before, the rest of the step is 'other'. Steps are extended to the device
-- work that they launched, as in step_breakdown, so the pieces add up to that length.
--
-- Waits between streams, and the stream that a call waits for, are known if the trace records the
-- synchronisations of the device (enable_cuda_sync_events). Otherwise a call is assumed to wait for the
-- work that ended last. Work that starts more than 5 us later than its launch and its stream explain is
-- assumed to wait for another stream, if work there was launched no later and ended at most 30 us before. This
-- is the rule of what_if. If there is no such work, the delay may hide a wait.
--
-- `tracewh export RUN --critical-path STEP -o FILE` marks the path in the trace, to be viewed in Perfetto.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step to report; NULL reports all.
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   step         BIGINT   key   Number of the step; NULL where the trace has no steps.
--   event_id     BIGINT   key   The event; for a delay, the work that was late; NULL where none was recorded.
--   name         VARCHAR  -     Name of the event.
--   start_ns     BIGINT   ns    Start of the piece, nanoseconds since the epoch.
--   duration_us  DOUBLE   us    Length of the piece.
--   bound        VARCHAR  -     'cpu', 'data_loading', 'sync', 'launch_delay', 'kernel_kernel_delay', 'device_compute', 'device_communication', 'device_memory' or 'other'.
CREATE MACRO critical_path_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    SELECT
        s.run,
        s.worker,
        s.span,
        s.step,
        s.event_id,
        s.name,
        s.start_ns,
        s.duration_ns / 1000.0 AS duration_us,
        s.bound
    FROM critical_segments(run, worker, span, step) AS s
    ORDER BY s.chain, s.start_ns;
