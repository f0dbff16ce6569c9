-- view: data_preparation_summary
-- version: 1
-- since: 0.2
-- summary: Whether the training waits for its input pipeline, which operator or worker holds it up, and what to change.
-- grain: one row per input pipeline and finding
-- distributes: trace
-- order: run, worker, span, pipeline, list_position(['slow_pipeline', 'slow_transfer', 'no_bottleneck', 'slow_worker', 'slow_operator', 'slow_reading', 'more_workers', 'fewer_workers'], finding), operator_id
-- empty: No batch of an input pipeline was recorded: {record data}.
-- uses: as_percent, as_time, data_waits, frameworks, ratio, data_pipeline_v1
-- example: samples --run resnet_gpu_workers_0 --span 1
-- reading: The data set of this sample reads slowly on purpose.
--
-- Each pipeline has one of these findings first:
--
--     slow_pipeline   the training waits, because the batches are not made in time
--     slow_transfer   the training waits, although the batches are made: they are moved or pinned too slowly
--     no_bottleneck   the training does not wait
--
-- The training waits if it spends more than 5 % of its time on that; for MindSpore with a queue of the device, also if
-- the queue is empty for more than 30 % of the batches, or the device ever finds it empty. Other findings follow if the
-- pipeline is slow. Their thresholds are those of MindInsight, except for slow_worker:
--
--     slow_worker     the median batch of one worker of a DataLoader takes at least twice as long as
--                     those of the others, and at least half of the waiting is for its batches;
--                     value: how many times as long
--     slow_operator   the queue of the operator before it is fuller than its own by more than 10 % of
--                     the capacity, or it is the first operator and its queue is less than 60 % full;
--                     value: how full its own is. For a DataLoader: it takes more than half of the
--                     time of making a batch; value: its share
--     slow_reading    the queue of the first operator is less than 50 % full; for a DataLoader without
--                     a slow worker: its workers use the CPU for less than 20 % of the time of making
--                     a batch; value: that percentage
--     more_workers    CPU per worker above 75 %; value: that percentage
--     fewer_workers   CPU per worker below 20 %, with more than one worker; value: that percentage
--
-- Where all queues are at least 80 % full, no operator is slow.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name              type     unit  meaning
--   pipeline          BIGINT   key   Number of the pipeline within the trace.
--   finding           VARCHAR  key   What was found, as in the list.
--   operator_id       BIGINT   key   Operator that it is about; NULL for the whole pipeline.
--   operator          VARCHAR  -     Kind of the operator.
--   loader_worker     BIGINT   -     Worker of the loader that it is about.
--   value             DOUBLE   -     The measured value: percent, except for slow_worker.
--   threshold         DOUBLE   -     Threshold of the finding.
--   wait_per_step_us  DOUBLE   us    How long a step waits for the pipeline, or for the worker; per batch if the trace has no steps.
--   message           VARCHAR  -     What was measured and what to change.
CREATE MACRO data_preparation_summary_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    waits AS MATERIALIZED (
        SELECT
            w.* REPLACE (coalesce(w.has_workers, NOT h.loads_in_process) AS has_workers),
            w.has_device_queue AND CASE
                WHEN w.cause = 'slow_transfer' THEN coalesce(w.device_empty_pct > 0, FALSE)
                ELSE w.queue_empty_pct IS NOT NULL
            END AS is_by_queue,
            ratio(w.wait_us, w.periods) AS period_us,
            ratio(w.slow_wait_us, w.periods) AS slow_period_us
        FROM data_waits(run, worker, span) AS w
        LEFT JOIN frameworks(run, worker, span) AS h
            ON w.run = h.run AND w.worker = h.worker AND w.span = h.span
    ),

    operators AS (
        SELECT
            p.*,
            w.fetch_cpu_pct,
            w.slow_worker,
            p.operator IN ('Collate', 'Dataset')
            AND p.time_per_batch_us IS NOT NULL AS is_of_loader,
            min(p.queue_used_pct) OVER pipeline >= 80 AS is_full,
            sum(
                CASE WHEN p.operator IN ('Collate', 'Dataset') THEN p.total_us END
            ) OVER pipeline AS fetch_us
        FROM data_pipeline_v1(run := run, worker := worker, span := span) AS p
        INNER JOIN waits AS w
            ON
                p.run = w.run AND p.worker = w.worker AND p.span = w.span
                AND p.pipeline = w.pipeline AND w.cause = 'slow_pipeline'
        WINDOW pipeline AS (PARTITION BY p.run, p.worker, p.span, p.pipeline)
    ),

    -- With the operator before each: the fullest one, if there are several.
    fed AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.pipeline,
            o.operator_id,
            max(c.queue_used_pct) AS before_pct,
            count(c.operator_id) AS children
        FROM operators AS o
        LEFT JOIN operators AS c
            ON
                o.run = c.run AND o.worker = c.worker AND o.span = c.span
                AND o.pipeline = c.pipeline AND o.operator_id = c.parent_id
        GROUP BY o.run, o.worker, o.span, o.pipeline, o.operator_id
    ),

    findings AS (
        SELECT
            w.run,
            w.worker,
            w.span,
            w.pipeline,
            w.cause AS finding,
            NULL AS operator_id,
            NULL AS operator,
            NULL AS loader_worker,
            CASE
                WHEN w.is_by_queue AND w.cause = 'slow_transfer' THEN w.device_empty_pct
                WHEN w.is_by_queue THEN w.queue_empty_pct
                ELSE w.wait_pct
            END AS value,
            CASE
                WHEN w.is_by_queue AND w.cause = 'slow_transfer' THEN 0
                WHEN w.is_by_queue THEN 30
                ELSE 5
            END AS threshold,
            w.period_us AS wait_per_step_us,
            CASE w.cause
                WHEN 'no_bottleneck'
                    THEN
                        'The training does not wait for its data: '
                        || coalesce(as_percent(w.wait_pct), '0 %') || ' of its time'
                        || '.'
                WHEN 'slow_transfer'
                    THEN
                        'The training waits for data that is ready: moving it takes '
                        || as_time(w.period_us) || ' per ' || w.period
                        || '. Move less data per batch'
                        || CASE
                            WHEN w.has_device_queue THEN ''
                            ELSE ', and use pin_memory=True and non_blocking copies'
                        END
                        || '.'
                ELSE
                    'The training waits for its input pipeline, ' || as_time(w.period_us)
                    || ' per ' || w.period || ' and ' || as_percent(w.wait_pct) || ' of its time'
                    || CASE
                        WHEN w.queue_empty_pct > 30
                            THEN
                                '; the queue is empty for ' || as_percent(w.queue_empty_pct)
                                || ' of the batches'
                        ELSE ''
                    END
                    || '. Use ' || CASE WHEN NOT w.has_workers THEN '' ELSE 'more ' END
                    || 'workers, or do less work per sample'
                    || CASE
                        WHEN
                            w.fetch_cpu_pct IS NULL AND w.queue_empty_pct IS NULL
                            AND NOT w.has_device_queue
                            THEN
                                '. To see what is slow, record it with '
                                || 'tracewh.record.dataloader(loader, folder)'
                        ELSE ''
                    END
                    || '.'
            END AS message
        FROM waits AS w
        UNION ALL
        SELECT
            w.run,
            w.worker,
            w.span,
            w.pipeline,
            'slow_worker',
            NULL,
            NULL,
            w.slow_worker,
            ratio(w.slow_fetch_us, w.other_fetch_us),
            2,
            w.slow_period_us,
            'The data loader waits for worker ' || w.slow_worker || ', '
            || as_time(w.slow_period_us) || ' per ' || w.period || ': it takes '
            || as_time(w.slow_fetch_us) || ' for a batch, the others ' || as_time(w.other_fetch_us)
            || CASE
                WHEN w.fetch_cpu_pct >= 50
                    THEN
                        ', and it computes for ' || as_percent(w.fetch_cpu_pct)
                        || ' of that. Share the samples that are costly to decode among all '
                        || 'workers, or decode them ahead of time.'
                WHEN w.fetch_cpu_pct < 20
                    THEN
                        ', and waits for storage or a free core for most of that. Check what it '
                        || 'reads, and share slow samples among all workers.'
                ELSE '. Share slow samples among all workers.'
            END
        FROM waits AS w
        WHERE w.cause = 'slow_pipeline' AND w.slow_worker IS NOT NULL
        UNION ALL
        SELECT
            o.run,
            o.worker,
            o.span,
            o.pipeline,
            'slow_operator',
            o.operator_id,
            o.operator,
            NULL,
            CASE
                WHEN o.is_of_loader THEN 100 * o.total_us / o.fetch_us ELSE o.queue_used_pct
            END,
            CASE WHEN o.is_of_loader THEN 50 WHEN f.children > 0 THEN f.before_pct - 10 ELSE 60 END,
            NULL,
            CASE
                WHEN o.is_of_loader
                    THEN
                        o.operator || ' takes ' || as_time(o.time_per_batch_us)
                        || ' for a batch, most of the time of making one.'
                WHEN f.children > 0
                    THEN
                        o.operator || ' is slower than what feeds it: its queue is '
                        || as_percent(o.queue_used_pct) || ' full, the one before it '
                        || as_percent(f.before_pct) || '.'
                ELSE
                    o.operator || ' is slow: its queue is ' || as_percent(o.queue_used_pct)
                    || ' full.'
            END
        FROM operators AS o
        INNER JOIN fed AS f
            ON
                o.run = f.run AND o.worker = f.worker AND o.span = f.span
                AND o.pipeline = f.pipeline AND o.operator_id = f.operator_id
        WHERE
            CASE
                WHEN o.is_of_loader THEN o.total_us > 0.5 * o.fetch_us
                WHEN o.fetch_us IS NOT NULL OR o.is_full THEN FALSE
                WHEN f.children > 0 THEN f.before_pct - o.queue_used_pct > 10
                ELSE o.queue_used_pct < 60
            END
        UNION ALL
        SELECT
            o.run,
            o.worker,
            o.span,
            o.pipeline,
            'slow_reading',
            o.operator_id,
            o.operator,
            NULL,
            CASE WHEN o.is_of_loader THEN o.fetch_cpu_pct ELSE o.queue_used_pct END,
            CASE WHEN o.is_of_loader THEN 20 ELSE 50 END,
            NULL,
            CASE
                WHEN o.is_of_loader
                    THEN
                        CASE
                            WHEN o.workers > 0 THEN 'The workers compute'
                            ELSE 'The data loader has no workers, and computes'
                        END
                        || ' for only ' || as_percent(o.fetch_cpu_pct)
                        || ' of the time of making a batch; the rest is waiting for storage or a '
                        || 'free core. Use '
                        || CASE WHEN o.workers > 0 THEN 'more ' ELSE '' END
                        || 'workers, faster storage, or larger files.'
                ELSE
                    o.operator || ' fills its queue to only ' || as_percent(o.queue_used_pct)
                    || ': reading is slow. Use more workers for it'
                    || CASE WHEN o.workers > 1 THEN '' ELSE ' (num_parallel_workers)' END
                    || ', or faster storage.'
            END
        FROM operators AS o
        INNER JOIN fed AS f
            ON
                o.run = f.run AND o.worker = f.worker AND o.span = f.span
                AND o.pipeline = f.pipeline AND o.operator_id = f.operator_id
        WHERE
            f.children = 0
            AND CASE
                WHEN o.is_of_loader THEN o.fetch_cpu_pct < 20 AND o.slow_worker IS NULL
                ELSE o.queue_used_pct < 50
            END
        UNION ALL
        SELECT
            o.run,
            o.worker,
            o.span,
            o.pipeline,
            CASE WHEN o.cpu_per_worker_pct > 75 THEN 'more_workers' ELSE 'fewer_workers' END,
            o.operator_id,
            o.operator,
            NULL,
            o.cpu_per_worker_pct,
            CASE WHEN o.cpu_per_worker_pct > 75 THEN 75 ELSE 20 END,
            NULL,
            'A worker of ' || o.operator || ' uses ' || as_percent(o.cpu_per_worker_pct)
            || ' of a core: '
            || CASE
                WHEN o.cpu_per_worker_pct > 75 THEN 'give it more workers.'
                ELSE o.workers || ' workers may be more than it needs.'
            END
        FROM operators AS o
        WHERE
            o.cpu_per_worker_pct > 75
            OR (o.cpu_per_worker_pct < 20 AND o.workers > 1 AND NOT o.is_of_loader)
    )

    SELECT
        f.run,
        f.worker,
        f.span,
        f.pipeline,
        f.finding,
        f.operator_id,
        f.operator,
        f.loader_worker,
        f.value,
        f.threshold,
        f.wait_per_step_us,
        f.message
    FROM findings AS f
    ORDER BY
        f.run,
        f.worker,
        f.span,
        f.pipeline,
        list_position(
            [
                'slow_pipeline', 'slow_transfer', 'no_bottleneck', 'slow_worker', 'slow_operator',
                'slow_reading', 'more_workers', 'fewer_workers'
            ],
            f.finding
        ),
        f.operator_id;
