-- view: data_queue
-- version: 1
-- since: 0.2
-- summary: How full the queues of the input pipeline are over time.
-- grain: one row per queue and sample or batch
-- distributes: trace
-- order: run, worker, span, pipeline, stage, operator_id, time_ns, batch
-- empty: No queue of an input pipeline was recorded: {record data}.
-- uses: data_batches, is_wanted, percentage
-- example: drawn
--
-- Queues of operators are sampled in intervals. At the other stages, a queue is looked at for each batch: at 'iterator'
-- when the training loop asks, at 'device_queue' when a batch is pushed, at 'get_next' when the device asks.
--
-- params
--   name   type     unit  default  meaning
--   run, worker, span
--   stage  VARCHAR  -     NULL     'operator', 'iterator', 'device_queue' or 'get_next'; NULL reports all.
-- columns
--   run, worker, span
--   name            type     unit  meaning
--   pipeline        BIGINT   key   Number of the pipeline within the trace.
--   stage           VARCHAR  key   Where the queue is: 'operator', 'iterator', 'device_queue' or 'get_next'.
--   operator_id     BIGINT   key   Operator whose output queue it is; NULL at the other stages.
--   operator        VARCHAR  -     Kind of the operator.
--   time_ns         BIGINT   ns    When, nanoseconds since the epoch; for MindData by the clock of its files.
--   batch           BIGINT   key   Number of the batch; NULL for a sample of an operator.
--   step            BIGINT   -     Step as recorded in which it was; NULL outside of steps.
--   queue_size      BIGINT   -     Batches or samples in the queue.
--   queue_capacity  BIGINT   -     Batches or samples that it holds; NULL if it is unknown.
--   queue_used_pct  DOUBLE   pct   queue_size in percent of queue_capacity.
CREATE MACRO data_queue_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    stage VARCHAR := NULL
) AS TABLE
    WITH
    sizes AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            0 AS pipeline,
            'operator' AS place,
            o.operator_id,
            o.operator,
            s.time_ns,
            NULL AS batch,
            s.value::BIGINT AS queue_size,
            o.queue_capacity
        FROM counter_samples AS s
        INNER JOIN data_pipeline_operators AS o
            ON
                s.run = o.run AND s.worker = o.worker AND s.span = o.span
                AND s.pid = o.operator_id::VARCHAR AND o.pipeline = 0
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND is_wanted(o.run, o.worker, o.span, run, worker, span)
            AND s.category = 'data_queue'
        UNION ALL
        SELECT
            b.run,
            b.worker,
            b.span,
            b.pipeline,
            b.stage,
            NULL,
            NULL,
            CASE WHEN b.stage = 'iterator' THEN b.time_ns - b.get_ns ELSE b.time_ns END,
            b.batch,
            b.queue_size,
            b.queue_capacity
        FROM data_batches(run, worker, span) AS b
        WHERE b.queue_size IS NOT NULL
    )

    SELECT
        q.run,
        q.worker,
        q.span,
        q.pipeline,
        q.place AS stage,
        q.operator_id,
        q.operator,
        q.time_ns,
        q.batch,
        max(s.step) AS step,
        q.queue_size,
        q.queue_capacity,
        percentage(q.queue_size, q.queue_capacity) AS queue_used_pct
    FROM sizes AS q
    LEFT JOIN steps AS s
        ON
            q.run = s.run AND q.worker = s.worker AND q.span = s.span
            AND q.time_ns >= s.start_ns AND q.time_ns < s.end_ns
    WHERE stage IS NULL OR q.place = stage
    GROUP BY
        q.run, q.worker, q.span, q.pipeline, q.place, q.operator_id, q.operator, q.time_ns,
        q.batch, q.queue_size, q.queue_capacity
    ORDER BY
        q.run, q.worker, q.span, q.pipeline, q.place, q.operator_id, q.time_ns, q.batch;
