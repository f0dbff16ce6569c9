-- view: queue_length_summary
-- version: 1
-- since: 0.1
-- summary: Distribution of the queue length of each stream, and how long its queue was full.
-- distributes: trace
-- order: run, worker, span, device_id, stream_id
-- carries: spark
-- needs: no_device_events
-- empty: No device work is linked to a call that launched it before it started: {record launches}.
-- uses: percentage, queue_changes, ratio
-- example: samples --run gpt_eager
-- reading: The queue never has more than four pieces of work in it, and over time 0.27: the host does not launch fast enough.
--
-- The distribution is over the rows of queue_length, two for each device event that is linked to its
-- launch, as in HolisticTraceAnalysis. It ignores how long a length lasted. The last three columns do
-- not: they cover the time from the first launch to the last start of a stream.
--
-- params
--   name         type    unit  default  meaning
--   run, worker, span
--   full_length  BIGINT  -     1024     Length from which the queue is full and a launch waits.
-- columns
--   name                   type     unit  meaning
--   run, worker, span
--   device_id              INTEGER  key   Number of the device on its host.
--   stream_id              BIGINT   key   Stream on the device.
--   changes                BIGINT   -     Number of rows of queue_length.
--   mean_length            DOUBLE   -     Mean length over the rows.
--   stddev_length          DOUBLE   -     Sample standard deviation.
--   min_length             BIGINT   -     Smallest.
--   p25_length             DOUBLE   -     First quartile, linearly interpolated.
--   median_length          DOUBLE   -     Median.
--   p75_length             DOUBLE   -     Third quartile.
--   max_length             BIGINT   -     Largest.
--   mean_over_time_length  DOUBLE   -     Mean length over time; NULL if that time is 0.
--   full_us                DOUBLE   us    Time for which the queue was full.
--   full_pct               DOUBLE   pct   Share of the time for which the queue was full; NULL if that time is 0.
CREATE MACRO queue_length_summary_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    full_length BIGINT := 1024
) AS TABLE
    SELECT
        q.run,
        q.worker,
        q.span,
        q.device_id,
        q.stream_id,
        count(*) AS changes,
        avg(q.queue_length) AS mean_length,
        stddev_samp(q.queue_length) AS stddev_length,
        min(q.queue_length) AS min_length,
        quantile_cont(q.queue_length, 0.25) AS p25_length,
        median(q.queue_length) AS median_length,
        quantile_cont(q.queue_length, 0.75) AS p75_length,
        max(q.queue_length) AS max_length,
        ratio(sum(q.queue_length * q.duration_ns), sum(q.duration_ns)) AS mean_over_time_length,
        coalesce(sum(q.duration_ns) FILTER (WHERE q.is_full), 0) / 1000.0 AS full_us,
        percentage(coalesce(sum(q.duration_ns) FILTER (WHERE q.is_full), 0), sum(q.duration_ns))
            AS full_pct
    FROM (
        SELECT c.*, c.queue_length >= full_length AS is_full
        FROM queue_changes(run, worker, span) AS c
    ) AS q
    GROUP BY q.run, q.worker, q.span, q.number, q.device_id, q.stream_id
    ORDER BY q.number;
