-- block: data_batches
-- since: 0.2
-- summary: Batches of the input pipeline, recorded or as the PyTorch profiler sees them.
-- grain: one row per batch and stage of an input pipeline
-- uses: is_wanted
--
-- The profiler annotates each call of a DataLoader's iterator. These annotations count if the trace has no recorded
-- batches; then only the time that the loop waits is known.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name            type     unit  meaning
--   pipeline        BIGINT   key   Number of the pipeline within the trace.
--   stage           VARCHAR  key   'iterator', 'device_queue' or 'get_next', as in data_pipeline_batches.
--   batch           BIGINT   key   Number of the batch.
--   time_ns         BIGINT   ns    When the batch was there.
--   get_ns          BIGINT   ns    How long the stage waited for it.
--   push_ns         BIGINT   ns    How long it was pushed to the next queue.
--   total_ns        BIGINT   ns    From the request to the end of the push.
--   queue_size      BIGINT   -     Batches in the queue.
--   queue_capacity  BIGINT   -     Batches that the queue holds.
--   loader_worker   BIGINT   -     Worker process that made it.
--   samples         BIGINT   -     Samples in it.
--   fetch_end_ns    BIGINT   ns    When it was made.
--   fetch_ns        BIGINT   ns    How long it took to make it.
--   collate_ns      BIGINT   ns    The part of it that collated the samples.
--   cpu_ns          BIGINT   ns    CPU time that was spent.
CREATE MACRO data_batches(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _recorded AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.pipeline,
            b.stage,
            b.batch,
            b.time_ns,
            b.get_ns,
            b.push_ns,
            b.total_ns,
            b.queue_size,
            b.queue_capacity,
            b.loader_worker,
            b.samples,
            b.fetch_start_ns + b.fetch_ns AS fetch_end_ns,
            b.fetch_ns,
            b.collate_ns,
            b.cpu_ns
        FROM data_pipeline_batches AS b
        WHERE is_wanted(b.run, b.worker, b.span, run, worker, span)
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.pipeline,
        r.stage,
        r.batch,
        r.time_ns,
        r.get_ns,
        r.push_ns,
        r.total_ns,
        r.queue_size,
        r.queue_capacity,
        r.loader_worker,
        r.samples,
        r.fetch_end_ns,
        r.fetch_ns,
        r.collate_ns,
        r.cpu_ns
    FROM _recorded AS r
    UNION ALL
    SELECT
        a.run,
        a.worker,
        a.span,
        0 AS pipeline,
        'iterator' AS stage,
        row_number() OVER (
            PARTITION BY a.run, a.worker, a.span
            ORDER BY a.start_ns, a.event_id
        ) - 1 AS batch,
        a.start_ns + a.duration_ns AS time_ns,
        a.duration_ns AS get_ns,
        NULL AS push_ns,
        NULL AS total_ns,
        NULL AS queue_size,
        NULL AS queue_capacity,
        NULL AS loader_worker,
        NULL AS samples,
        NULL AS fetch_end_ns,
        NULL AS fetch_ns,
        NULL AS collate_ns,
        NULL AS cpu_ns
    FROM annotations AS a
    ANTI JOIN _recorded AS r ON a.run = r.run AND a.worker = r.worker AND a.span = r.span
    WHERE
        is_wanted(a.run, a.worker, a.span, run, worker, span)
        AND a.name LIKE 'enumerate(DataLoader)#%.\_\_next\_\_' ESCAPE '\';
