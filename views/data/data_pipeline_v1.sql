-- view: data_pipeline
-- version: 1
-- since: 0.2
-- summary: Operators of the input pipeline: how full their queues are, and the time and CPU that they take.
-- grain: one row per operator of an input pipeline
-- distributes: trace
-- order: run, worker, span, pipeline, operator_id
-- empty: No input pipeline was recorded: {record data}.
-- uses: data_batches, is_wanted, percentage, ratio
-- example: drawn
--
-- The last operator has number 0: the training takes its batches. An operator whose own queue is empty while the queue
-- of the operator before it is full holds the pipeline up. data_preparation_summary says so in words.
--
-- For a DataLoader of PyTorch, the recorder of tracewh knows three operators. The queue of 'DataLoader' holds the batches
-- that the loop has not taken; its time is how long the loop waits. 'Dataset' makes the samples of a batch, 'Collate'
-- collates them. CPU time is that of both, at 'Dataset'.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                type     unit  meaning
--   pipeline            BIGINT   key   Number of the pipeline within the trace; more than 0 where a process has several loaders.
--   operator_id         BIGINT   key   Number of the operator within the pipeline.
--   operator            VARCHAR  -     Kind of the operator.
--   parent_id           BIGINT   -     Operator that takes its output; NULL for the last one.
--   workers             BIGINT   -     Threads or processes that work on it; 0 if the training process does it itself.
--   queue_capacity      BIGINT   -     Batches or samples that its output queue holds; NULL if it has none.
--   queue_samples       BIGINT   -     Number of samples of the queue.
--   mean_queue_size     DOUBLE   -     Mean number of batches or samples in the queue.
--   queue_used_pct      DOUBLE   pct   mean_queue_size in percent of queue_capacity.
--   queue_empty_pct     DOUBLE   pct   Share of these samples in which the queue was empty.
--   queue_full_pct      DOUBLE   pct   How often it was full.
--   batches             BIGINT   -     Batches that were timed; NULL if its time was not recorded.
--   time_per_batch_us   DOUBLE   us    Mean time per batch.
--   total_us            DOUBLE   us    Sum of the times of all batches and workers.
--   cpu_pct             DOUBLE   pct   CPU time of its workers while the pipeline ran, in percent of one core.
--   cpu_per_worker_pct  DOUBLE   pct   The same per worker.
CREATE MACRO data_pipeline_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    operators AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.pipeline,
            o.operator_id,
            o.operator,
            o.parent_id,
            o.workers,
            o.queue_capacity,
            NOT EXISTS (
                SELECT 1
                FROM data_pipeline_operators AS c
                WHERE
                    c.run = o.run AND c.worker = o.worker AND c.span = o.span
                    AND c.pipeline = o.pipeline AND c.parent_id = o.operator_id
            ) AS is_leaf
        FROM data_pipeline_operators AS o
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
    ),

    batches AS (FROM data_batches(run, worker, span)),

    sampled AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.operator_id,
            count(*) AS samples,
            avg(s.value) AS mean_size,
            count(*) FILTER (WHERE s.value = 0) AS empty,
            count(*) FILTER (WHERE s.value >= o.queue_capacity) AS full_samples
        FROM counter_samples AS s
        INNER JOIN operators AS o
            ON
                s.run = o.run AND s.worker = o.worker AND s.span = o.span
                AND s.pid = o.operator_id::VARCHAR AND o.pipeline = 0
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND s.category = 'data_queue'
        GROUP BY o.run, o.worker, o.span, o.operator_id
    ),

    taken AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.pipeline,
            count(*) AS batches,
            sum(b.get_ns) AS get_ns,
            sum(b.fetch_ns) AS fetch_ns,
            sum(b.collate_ns) AS collate_ns,
            sum(b.cpu_ns) AS cpu_ns,
            max(b.time_ns) - min(b.time_ns - b.get_ns) AS window_ns,
            count(b.fetch_ns) AS fetches,
            count(b.queue_size) AS samples,
            avg(b.queue_size) AS mean_size,
            count(*) FILTER (WHERE b.queue_size = 0) AS empty,
            count(*) FILTER (WHERE b.queue_size >= b.queue_capacity) AS full_samples
        FROM batches AS b
        WHERE b.stage = 'iterator'
        GROUP BY b.run, b.worker, b.span, b.pipeline
    ),

    cpu AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.pid AS operator_id,
            coalesce(avg(s.value) FILTER (WHERE s.series = 'user_pct'), 0)
            + coalesce(avg(s.value) FILTER (WHERE s.series = 'system_pct'), 0) AS busy_pct
        FROM counter_samples AS s
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND s.category = 'cpu_utilization' AND s.name = 'operator'
        GROUP BY s.run, s.worker, s.span, s.pid
    ),

    -- A loader has no samples over time: its queue is known when the loop asks for a batch.
    placed AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.pipeline,
            o.operator_id,
            o.operator,
            o.parent_id,
            o.workers,
            o.queue_capacity,
            coalesce(s.samples, CASE WHEN o.operator_id = 0 THEN nullif(t.samples, 0) END)
                AS samples,
            coalesce(s.mean_size, CASE WHEN o.operator_id = 0 THEN t.mean_size END) AS mean_size,
            coalesce(s.empty, CASE WHEN o.operator_id = 0 THEN t.empty END) AS empty,
            coalesce(s.full_samples, CASE WHEN o.operator_id = 0 THEN t.full_samples END)
                AS full_samples,
            CASE
                WHEN o.operator_id = 0 THEN t.batches
                WHEN o.operator IN ('Collate', 'Dataset') THEN t.fetches
            END AS batches,
            CASE
                WHEN o.operator_id = 0 THEN t.get_ns
                WHEN o.operator = 'Collate' THEN t.collate_ns
                WHEN o.operator = 'Dataset' THEN t.fetch_ns - coalesce(t.collate_ns, 0)
            END AS time_ns,
            coalesce(
                c.busy_pct,
                CASE WHEN o.is_leaf THEN percentage(t.cpu_ns, t.window_ns) END
            ) AS cpu_pct
        FROM operators AS o
        LEFT JOIN sampled AS s
            ON
                o.run = s.run AND o.worker = s.worker AND o.span = s.span
                AND o.pipeline = 0 AND o.operator_id = s.operator_id
        LEFT JOIN taken AS t
            ON
                o.run = t.run AND o.worker = t.worker AND o.span = t.span
                AND o.pipeline = t.pipeline
        LEFT JOIN cpu AS c
            ON
                o.run = c.run AND o.worker = c.worker AND o.span = c.span
                AND o.pipeline = 0 AND o.operator_id::VARCHAR = c.operator_id
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.pipeline,
        p.operator_id,
        p.operator,
        p.parent_id,
        p.workers,
        p.queue_capacity,
        p.samples AS queue_samples,
        p.mean_size AS mean_queue_size,
        percentage(p.mean_size, p.queue_capacity) AS queue_used_pct,
        percentage(CASE WHEN p.queue_capacity > 0 THEN p.empty END, p.samples)
            AS queue_empty_pct,
        percentage(CASE WHEN p.queue_capacity > 0 THEN p.full_samples END, p.samples)
            AS queue_full_pct,
        p.batches,
        ratio(p.time_ns, p.batches) / 1000.0 AS time_per_batch_us,
        p.time_ns / 1000.0 AS total_us,
        p.cpu_pct,
        p.cpu_pct / greatest(p.workers, 1) AS cpu_per_worker_pct
    FROM placed AS p
    ORDER BY p.run, p.worker, p.span, p.pipeline, p.operator_id;
