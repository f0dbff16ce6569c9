-- block: data_waits
-- since: 0.2
-- summary: How long the training waits for each input pipeline, and for which reason.
-- grain: one row per input pipeline whose batches were timed
-- uses: data_batches, is_wanted, percentage, ratio
--
-- With a queue of the device: if that queue was empty for more than 30 % of the batches that were pushed to it, the
-- pipeline is slow. Otherwise, if the device ever found it empty, the transfer is slow. These are the rules of
-- MindInsight. The transfer is also slow if the device takes more than 5 % of the recorded time to take batches from
-- a queue that holds some. If nobody recorded how full the queue was, the pipeline is slow then.
--
-- Without one, the training waits if that takes more than 5 % of the recorded time. Then the pipeline
-- is slow if it has a slow worker, or if for most of the waiting the batch was not made yet, or, if that is not known,
-- if more than 30 % of the batches met an empty queue. Otherwise the transfer is slow. If nothing but the waiting is known, the pipeline is.
--
-- The slow worker of a loader is the one whose batches are waited for longest, if these are at least half of the
-- waiting and its median batch takes at least twice as long as those of the others, on average.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                 type     unit  meaning
--   pipeline             BIGINT   key   Number of the pipeline within the trace.
--   cause                VARCHAR  -     'slow_pipeline', 'slow_transfer' or 'no_bottleneck'.
--   has_device_queue     BOOLEAN  -     Whether a queue of the device was recorded, which then decides on the cause.
--   has_workers          BOOLEAN  -     Whether processes of the loader make the batches, not the one that trains; NULL if unknown.
--   batches              BIGINT   -     Batches that were taken.
--   period               VARCHAR  -     'step', or 'batch' if the trace has no steps.
--   periods              BIGINT   -     How many of these the trace has.
--   wait_us              DOUBLE   us    How long the training waited for them.
--   wait_pct             DOUBLE   pct   Its share of the recorded time.
--   unready_pct          DOUBLE   pct   Share of the waiting in which the batch was not made yet; NULL if unknown.
--   queue_empty_pct      DOUBLE   pct   Share of batches that met an empty queue, of the device if there is one; NULL if unknown.
--   device_empty_pct     DOUBLE   pct   Share of batches for which the device found its queue empty; NULL if unknown.
--   slow_worker          BIGINT   -     The slow worker of the loader; NULL if there is none.
--   slow_wait_us         DOUBLE   us    How long the training waited for its batches.
--   slow_fetch_us        DOUBLE   us    Median time that it takes for a batch.
--   other_fetch_us       DOUBLE   us    The same of the other workers.
--   fetch_cpu_pct        DOUBLE   pct   CPU time of making a batch, in percent of the time that this takes; of the slow worker if there is one.
CREATE MACRO data_waits(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _batches AS (
        SELECT
            b.*,
            b.fetch_end_ns > b.time_ns - b.get_ns AS is_unready
        FROM data_batches(run, worker, span) AS b
    ),

    _steps AS (
        SELECT s.run, s.worker, s.span, count(s.step) AS steps
        FROM steps AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span
    ),

    -- Where only some of the recorded time has batches, the rest is time without waiting.
    _traces AS (
        SELECT t.run, t.worker, t.span, t.end_ns - t.start_ns AS recorded_ns
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ),

    _totals AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.pipeline,
            count(*) FILTER (WHERE b.stage = 'iterator') AS iterator_batches,
            count(*) FILTER (WHERE b.stage = 'device_queue') AS pushed_batches,
            count(*) FILTER (WHERE b.stage = 'get_next') AS device_batches,
            sum(b.get_ns) FILTER (WHERE b.stage = 'iterator') AS iterator_ns,
            sum(b.get_ns) FILTER (WHERE b.stage = 'device_queue') AS pushed_ns,
            sum(b.get_ns) FILTER (WHERE b.stage = 'get_next') AS device_ns,
            max(b.time_ns) - min(b.time_ns - b.get_ns) AS window_ns,
            sum(b.get_ns) FILTER (WHERE b.is_unready) AS unready_ns,
            count(b.is_unready) AS known_batches,
            count(b.queue_size) FILTER (WHERE b.stage = 'iterator') AS iterator_sizes,
            count(b.queue_size) FILTER (WHERE b.stage = 'device_queue') AS pushed_sizes,
            count(b.queue_size) FILTER (WHERE b.stage = 'get_next') AS device_sizes,
            count(*) FILTER (WHERE b.stage = 'iterator' AND b.queue_size = 0) AS iterator_empty,
            count(*) FILTER (WHERE b.stage = 'device_queue' AND b.queue_size = 0) AS pushed_empty,
            count(*) FILTER (WHERE b.stage = 'get_next' AND b.queue_size = 0) AS device_empty,
            sum(b.cpu_ns) AS cpu_ns,
            sum(b.fetch_ns) AS fetch_ns,
            bool_or(b.loader_worker IS NOT NULL) FILTER (WHERE b.fetch_ns > 0) AS has_workers
        FROM _batches AS b
        GROUP BY b.run, b.worker, b.span, b.pipeline
    ),

    _workers AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.pipeline,
            b.loader_worker,
            sum(b.get_ns) AS wait_ns,
            median(b.fetch_ns) AS typical_ns,
            sum(b.fetch_ns) AS fetch_ns,
            sum(b.cpu_ns) AS cpu_ns
        FROM _batches AS b
        WHERE b.loader_worker IS NOT NULL AND b.stage = 'iterator'
        GROUP BY b.run, b.worker, b.span, b.pipeline, b.loader_worker
    ),

    _compared AS (
        SELECT
            w.*,
            sum(w.wait_ns) OVER loader AS all_wait_ns,
            ratio(sum(w.typical_ns) OVER loader - w.typical_ns, count(*) OVER loader - 1)
                AS other_fetch_ns,
            row_number() OVER (
                PARTITION BY w.run, w.worker, w.span, w.pipeline
                ORDER BY w.wait_ns DESC, w.loader_worker ASC
            ) AS place
        FROM _workers AS w
        WINDOW loader AS (PARTITION BY w.run, w.worker, w.span, w.pipeline)
    ),

    _slow AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.pipeline,
            c.loader_worker,
            c.wait_ns,
            c.typical_ns AS fetch_ns,
            c.other_fetch_ns,
            percentage(c.cpu_ns, c.fetch_ns) AS cpu_pct
        FROM _compared AS c
        WHERE
            c.place = 1
            AND c.wait_ns >= 0.5 * c.all_wait_ns
            AND c.typical_ns >= 2 * c.other_fetch_ns
    ),

    _figures AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.pipeline,
            t.pushed_batches > 0 OR t.device_batches > 0 AS has_device_queue,
            greatest(t.iterator_batches, t.pushed_batches, t.device_batches) AS batches,
            t.device_ns,
            coalesce(t.device_ns, t.iterator_ns, t.pushed_ns) AS wait_ns,
            greatest(t.window_ns, r.recorded_ns) AS window_ns,
            CASE
                WHEN t.known_batches > 0 THEN percentage(coalesce(t.unready_ns, 0), t.iterator_ns)
            END AS unready_pct,
            CASE
                WHEN t.pushed_batches > 0 THEN percentage(t.pushed_empty, t.pushed_sizes)
                ELSE percentage(t.iterator_empty, t.iterator_sizes)
            END AS queue_empty_pct,
            percentage(t.device_empty, t.device_sizes) AS device_empty_pct,
            percentage(t.cpu_ns, t.fetch_ns) AS fetch_cpu_pct,
            t.has_workers
        FROM _totals AS t
        LEFT JOIN _traces AS r ON t.run = r.run AND t.worker = r.worker AND t.span = r.span
    )

    SELECT
        f.run,
        f.worker,
        f.span,
        f.pipeline,
        CASE
            WHEN f.has_device_queue
                THEN
                    CASE
                        WHEN f.queue_empty_pct > 30 THEN 'slow_pipeline'
                        WHEN f.device_empty_pct > 0 THEN 'slow_transfer'
                        WHEN percentage(f.device_ns, f.window_ns) > 5
                            THEN
                                CASE
                                    WHEN coalesce(f.queue_empty_pct, f.device_empty_pct) IS NULL
                                        THEN 'slow_pipeline'
                                    ELSE 'slow_transfer'
                                END
                        ELSE 'no_bottleneck'
                    END
            WHEN percentage(f.wait_ns, f.window_ns) > 5
                THEN
                    CASE
                        WHEN
                            s.loader_worker IS NOT NULL
                            OR coalesce(f.unready_pct >= 50, f.queue_empty_pct > 30, TRUE)
                            THEN 'slow_pipeline'
                        ELSE 'slow_transfer'
                    END
            ELSE 'no_bottleneck'
        END AS cause,
        f.has_device_queue,
        f.has_workers,
        f.batches,
        CASE WHEN n.steps > 0 THEN 'step' ELSE 'batch' END AS period,
        coalesce(nullif(n.steps, 0), f.batches) AS periods,
        f.wait_ns / 1000.0 AS wait_us,
        percentage(f.wait_ns, f.window_ns) AS wait_pct,
        f.unready_pct,
        f.queue_empty_pct,
        f.device_empty_pct,
        s.loader_worker AS slow_worker,
        s.wait_ns / 1000.0 AS slow_wait_us,
        s.fetch_ns / 1000.0 AS slow_fetch_us,
        s.other_fetch_ns / 1000.0 AS other_fetch_us,
        coalesce(s.cpu_pct, f.fetch_cpu_pct) AS fetch_cpu_pct
    FROM _figures AS f
    LEFT JOIN _steps AS n ON f.run = n.run AND f.worker = n.worker AND f.span = n.span
    LEFT JOIN _slow AS s
        ON
            f.run = s.run AND f.worker = s.worker AND f.span = s.span
            AND f.pipeline = s.pipeline;
