-- view: counter_curve
-- version: 1
-- since: 0.1
-- summary: Samples of counters over time, such as PM sampling of a GPU.
-- grain: one row per sample of a counter and series
-- distributes: trace
-- order: run, worker, span, device_id, pid, counter, series, time_ns, event_id
-- carries: spark
-- empty: No counter was sampled over time, as PM sampling of NVIDIA GPUs does.
-- uses: is_wanted
-- example: drawn --counter sm%
--
-- A sample holds for the time until the next one; how long the last one holds is unknown. PM sampling puts
-- the device into the process name of its rows ('GPU 0 Counters') and leaves the name of the series empty,
-- because each counter has only one. GPU metrics of Nsight Systems are such samples, too: their process is the number
-- of the device. Other counters may have several series, each with samples of its own.
--
-- A value of counter with a % in it is a pattern: % matches any text and _ any character. Any other value
-- is an exact name.
--
-- params
--   name       type     unit  default  meaning
--   run, worker, span
--   counter    VARCHAR  -     NULL     Name of a counter, or a pattern with %, e.g. 'sm%'; NULL reports all.
--   device_id  INTEGER  -     NULL     Device whose samples to report; NULL reports all, with or without a device.
-- columns
--   name         type     unit  meaning
--   run, worker, span
--   device_id    INTEGER  key   Device of PM sampling or of GPU metrics; NULL for any other counter.
--   counter      VARCHAR  key   Name of the counter.
--   series       VARCHAR  key   Name of the series; NULL if the counter has only one, without a name.
--   time_ns      BIGINT   ns    Start of the sample, nanoseconds since the epoch.
--   duration_us  DOUBLE   us    Time to the next sample; NULL for the last.
--   value        DOUBLE   -     Value of the sample; NULL if the file has no number.
--   pid          VARCHAR  key   Process of the sample, as in the file.
--   category     VARCHAR  -     Kind of counter as the file names it, e.g. 'hardware_counters'.
--   event_id     BIGINT   key   Position of the event in the file.
CREATE MACRO counter_curve_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    counter VARCHAR := NULL,
    device_id INTEGER := NULL
) AS TABLE
    WITH
    samples AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            try_cast(
                CASE
                    WHEN c.category = 'gpu_metrics' THEN c.pid
                    ELSE regexp_extract(c.pid, '^GPU (\d+) Counters$', 1)
                END AS INTEGER
            ) AS gpu,
            c.name,
            nullif(c.series, '') AS series,
            c.time_ns,
            c.value,
            c.pid,
            c.category,
            c.event_id
        FROM counter_samples AS c
        WHERE
            is_wanted(c.run, c.worker, c.span, run, worker, span)
            AND (
                counter IS NULL
                OR CASE
                    WHEN contains(counter, '%') THEN c.name LIKE counter ELSE c.name = counter
                END
            )
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.gpu AS device_id,
        s.name AS counter,
        s.series,
        s.time_ns,
        (
            lead(s.time_ns) OVER (
                PARTITION BY s.run, s.worker, s.span, s.pid, s.category, s.name, s.series
                ORDER BY s.time_ns, s.event_id
            ) - s.time_ns
        ) / 1000.0 AS duration_us,
        s.value,
        s.pid,
        s.category,
        s.event_id
    FROM samples AS s
    WHERE device_id IS NULL OR s.gpu = device_id
    ORDER BY
        s.run, s.worker, s.span, s.gpu, s.pid, s.name, s.series, s.time_ns, s.event_id;
