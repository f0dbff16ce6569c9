-- view: queue_length
-- version: 1
-- since: 0.1
-- summary: How much work each stream had been given and had not started yet, over time.
-- grain: one row per launch of a device event, and one per start of it
-- distributes: trace
-- order: run, worker, span, device_id, stream_id, time_ns, change DESC, event_id
-- carries: spark
-- needs: no_device_events
-- empty: No work of a device is linked to a call that launched it before it started: record with both ProfilerActivity.CPU and ProfilerActivity.CUDA (or XPU, ...), and give the schedule a warmup step.
-- uses: queue_changes
-- example: drawn
--
-- A kernel, copy or fill is in the queue of its stream from the start of the call that launched it to
-- its own start. Where the queue is empty for long the host does not launch fast enough; where it is
-- full, at 1024 on CUDA devices, the host waits for the device. The launch of a graph puts all that the
-- graph holds into the queue at once.
--
-- What was launched before the recording began is not in the queue, nor is what starts before its
-- launch, as where the clocks of host and device differ.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id     INTEGER  key  Number of the device on its host.
--   stream_id     BIGINT   key  Stream on the device.
--   time_ns       BIGINT   ns   When the queue changed, nanoseconds since the epoch.
--   queue_length  BIGINT   -    Device events in the queue from then on.
--   change        INTEGER  -    1 for a launch, -1 for a start. Of one instant the launches come first.
--   event_id      BIGINT   key  The device event that was launched or started.
CREATE MACRO queue_length_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        q.run,
        q.worker,
        q.span,
        q.device_id,
        q.stream_id,
        q.time_ns,
        q.queue_length,
        q.change,
        q.event_id
    FROM queue_changes(run, worker, span) AS q
    ORDER BY q.number ASC, q.time_ns ASC, q.change DESC, q.event_id ASC;
