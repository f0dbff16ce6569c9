-- view: queue_length
-- version: 1
-- since: 0.1
-- summary: Queue length of each stream over time: work that is launched and has not started.
-- grain: one row per launch of a device event, and one per start of it
-- distributes: trace
-- order: run, worker, span, device_id, stream_id, time_ns, change DESC, event_id
-- carries: spark
-- needs: no_device_events
-- empty: No device work is linked to a call that launched it before it started: {record launches}.
-- uses: queue_changes
-- example: samples --run gpt_eager --limit 8
-- reading: Each launch starts before the next one comes: the queue is never longer than 1 here.
--
-- A kernel, copy or memset is in the queue of its stream from the start of the call that launched it to
-- its own start. If the queue is empty for long, the host does not launch fast enough. If it is full (1024
-- on CUDA devices), the host waits for the device. Launching a graph puts all work of the graph into the
-- queue at once.
--
-- Work launched before the recording began is not in the queue. Work that starts before its launch is not
-- either; this happens where the clocks of host and device differ.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id     INTEGER  key  Number of the device on its host.
--   stream_id     BIGINT   key  Stream on the device.
--   time_ns       BIGINT   ns   When the queue changed, nanoseconds since the epoch.
--   queue_length  BIGINT   -    Number of device events in the queue from then on.
--   change        INTEGER  -    1 for a launch, -1 for a start. At the same instant, launches come first.
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
