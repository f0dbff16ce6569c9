-- view: kernel_launch_times
-- version: 1
-- since: 0.1
-- summary: Time of each kernel from its call to its end: in the call, in the queue, and on the device.
-- distributes: worker
-- order: total_us DESC, run, worker, span, name, launch_call, device_id, tid
-- carries: spark
-- needs: no_device_events
-- empty: No kernel is linked to the call that launched it: {record launches}.
-- uses: is_wanted
-- example: samples --run gpt_eager --limit 2
-- reading: The first kernel takes 20 us on average from its launch to its end. It runs for 6 of them.
--
-- Each kernel has four times. The call time is that of the call that launched it. The queue time runs from
-- the end of the call to the start of the kernel; a kernel that starts before the call ends has none, and
-- queued counts the others. The kernel time is that of the kernel. The total time runs from the start of the
-- call to the end of the kernel, or of the call if that is later. So call, queue and kernel add up to the
-- total, unless the kernel starts before the call ends.
--
-- Only kernels whose call was recorded are listed; copies and memsets are not. A launch of several kernels,
-- such as a graph launch, counts once for each of them. launch_stats adds up by operator, and has copies.
--
-- Users of Nsight Systems know this table as cuda_kern_exec_sum.
--
-- params
--   run, worker, span
--   per_span
-- columns
--   run, worker, span
--   name              type     unit  meaning
--   name              VARCHAR  key   Name of the kernel.
--   launch_call       VARCHAR  key   Name of the call that launched it.
--   device_id         INTEGER  key   Number of the device on its host.
--   tid               VARCHAR  key   Thread of the call.
--   calls             BIGINT   -     Number of kernels.
--   queued            BIGINT   -     Number of kernels that start at the end of their call, or later.
--   total_us          DOUBLE   us    Sum of the total times.
--   mean_total_us     DOUBLE   us    Mean total time.
--   mean_call_us      DOUBLE   us    Mean call time.
--   mean_queue_us     DOUBLE   us    Mean queue time of the kernels that have one; this and the other columns of queue times are NULL if none has.
--   mean_kernel_us    DOUBLE   us    Mean kernel time.
--   median_total_us   DOUBLE   us    Median total time, exact.
--   median_call_us    DOUBLE   us    Median call time, exact.
--   median_queue_us   DOUBLE   us    Median queue time, exact.
--   median_kernel_us  DOUBLE   us    Median kernel time, exact.
--   min_total_us      DOUBLE   us    Shortest total time.
--   min_call_us       DOUBLE   us    Shortest call time.
--   min_queue_us      DOUBLE   us    Shortest queue time.
--   min_kernel_us     DOUBLE   us    Shortest kernel time.
--   max_total_us      DOUBLE   us    Longest total time.
--   max_call_us       DOUBLE   us    Longest call time.
--   max_queue_us      DOUBLE   us    Longest queue time.
--   max_kernel_us     DOUBLE   us    Longest kernel time.
--   stddev_total_us   DOUBLE   us    Sample standard deviation of the total times; NULL for one kernel, like the next three columns.
--   stddev_call_us    DOUBLE   us    Sample standard deviation of the call times.
--   stddev_queue_us   DOUBLE   us    Sample standard deviation of the queue times.
--   stddev_kernel_us  DOUBLE   us    Sample standard deviation of the kernel times.
CREATE MACRO kernel_launch_times_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    launches AS (
        SELECT
            d.run,
            d.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN d.span END AS span,
            d.name,
            h.name AS launch_call,
            d.device_id,
            h.tid,
            h.duration_ns AS call_ns,
            CASE
                WHEN d.start_ns >= h.start_ns + h.duration_ns
                    THEN d.start_ns - h.start_ns - h.duration_ns
            END AS queue_ns,
            d.duration_ns AS kernel_ns,
            greatest(d.start_ns + d.duration_ns, h.start_ns + h.duration_ns) - h.start_ns
                AS total_ns
        FROM device_events AS d
        INNER JOIN host_events AS h
            ON
                d.run = h.run AND d.worker = h.worker AND d.span = h.span
                AND d.launch_id = h.event_id
        WHERE
            d.kind IN ('compute', 'communication')
            AND (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    grouped AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.name,
            l.launch_call,
            l.device_id,
            l.tid,
            count(*) AS calls,
            count(l.queue_ns) AS queued,
            sum(l.total_ns) AS total_ns,
            sum(l.call_ns) AS call_ns,
            sum(l.queue_ns) AS queue_ns,
            sum(l.kernel_ns) AS kernel_ns,
            median(l.total_ns) AS median_total_ns,
            median(l.call_ns) AS median_call_ns,
            median(l.queue_ns) AS median_queue_ns,
            median(l.kernel_ns) AS median_kernel_ns,
            min(l.total_ns) AS min_total_ns,
            min(l.call_ns) AS min_call_ns,
            min(l.queue_ns) AS min_queue_ns,
            min(l.kernel_ns) AS min_kernel_ns,
            max(l.total_ns) AS max_total_ns,
            max(l.call_ns) AS max_call_ns,
            max(l.queue_ns) AS max_queue_ns,
            max(l.kernel_ns) AS max_kernel_ns,
            stddev_samp(l.total_ns) AS stddev_total_ns,
            stddev_samp(l.call_ns) AS stddev_call_ns,
            stddev_samp(l.queue_ns) AS stddev_queue_ns,
            stddev_samp(l.kernel_ns) AS stddev_kernel_ns
        FROM launches AS l
        GROUP BY l.run, l.worker, l.span, l.name, l.launch_call, l.device_id, l.tid
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.launch_call,
        g.device_id,
        g.tid,
        g.calls,
        g.queued,
        g.total_ns / 1000.0 AS total_us,
        g.total_ns / 1000.0 / g.calls AS mean_total_us,
        g.call_ns / 1000.0 / g.calls AS mean_call_us,
        g.queue_ns / 1000.0 / g.queued AS mean_queue_us,
        g.kernel_ns / 1000.0 / g.calls AS mean_kernel_us,
        g.median_total_ns / 1000.0 AS median_total_us,
        g.median_call_ns / 1000.0 AS median_call_us,
        g.median_queue_ns / 1000.0 AS median_queue_us,
        g.median_kernel_ns / 1000.0 AS median_kernel_us,
        g.min_total_ns / 1000.0 AS min_total_us,
        g.min_call_ns / 1000.0 AS min_call_us,
        g.min_queue_ns / 1000.0 AS min_queue_us,
        g.min_kernel_ns / 1000.0 AS min_kernel_us,
        g.max_total_ns / 1000.0 AS max_total_us,
        g.max_call_ns / 1000.0 AS max_call_us,
        g.max_queue_ns / 1000.0 AS max_queue_us,
        g.max_kernel_ns / 1000.0 AS max_kernel_us,
        g.stddev_total_ns / 1000.0 AS stddev_total_us,
        g.stddev_call_ns / 1000.0 AS stddev_call_us,
        g.stddev_queue_ns / 1000.0 AS stddev_queue_us,
        g.stddev_kernel_ns / 1000.0 AS stddev_kernel_us
    FROM grouped AS g
    ORDER BY
        g.total_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC,
        g.name ASC, g.launch_call ASC, g.device_id ASC, g.tid ASC;
