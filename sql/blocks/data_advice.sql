-- block: data_advice
-- since: 0.2
-- summary: Why the data loader is waited for, as far as a recording tells, and what to change.
-- grain: one row per trace whose loader was recorded and is waited for
-- uses: as_percent, as_time, data_waits, ratio, data_preparation_summary_v1
--
-- Of several pipelines, the one that is waited for longest. Of several operators that are slow, the first one that the
-- samples pass: the others wait for it.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name      type     unit  meaning
--   cause     VARCHAR  -     Continues after 'waits for the data loader'; contains no colon.
--   remedy    VARCHAR  -     What to change, in words that end a sentence.
--   wait_pct  DOUBLE   pct   Share of the recorded time in which the training waits for the pipeline.
CREATE MACRO data_advice(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _longest AS (
        SELECT
            w.*,
            ratio(w.slow_wait_us, w.periods) AS slow_period_us,
            row_number() OVER (
                PARTITION BY w.run, w.worker, w.span
                ORDER BY w.wait_us DESC, w.pipeline ASC
            ) AS place
        FROM data_waits(run, worker, span) AS w
    ),

    _slow_operators AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.pipeline,
            arg_max(p.operator, p.operator_id) AS operator,
            bool_or(p.finding = 'slow_reading') AS reads
        FROM data_preparation_summary_v1(run := run, worker := worker, span := span) AS p
        WHERE p.finding IN ('slow_operator', 'slow_reading')
        GROUP BY p.run, p.worker, p.span, p.pipeline
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        CASE
            WHEN w.cause = 'slow_transfer' THEN ', although the batches are made in time'
            WHEN w.slow_worker IS NOT NULL
                THEN
                    ', of which ' || as_time(w.slow_period_us) || ' per ' || w.period
                    || ' for worker ' || w.slow_worker
                    || CASE
                        WHEN w.fetch_cpu_pct >= 50 THEN ', which decodes for '
                        ELSE ', which takes '
                    END
                    || as_time(w.slow_fetch_us) || ' per batch where the others take '
                    || as_time(w.other_fetch_us)
            WHEN w.fetch_cpu_pct IS NULL
                THEN
                    ', whose queue is empty for ' || as_percent(w.queue_empty_pct)
                    || ' of the batches' || coalesce(' because ' || o.operator || ' is slow', '')
            ELSE
                CASE
                    WHEN w.has_workers THEN ', whose workers compute for '
                    ELSE ', which has no workers, and computes for '
                END
                || CASE WHEN w.fetch_cpu_pct < 20 THEN 'only ' ELSE '' END
                || as_percent(w.fetch_cpu_pct) || ' of the time of making a batch'
        END AS cause,
        CASE
            WHEN w.cause = 'slow_transfer'
                THEN
                    CASE WHEN w.fetch_cpu_pct IS NULL THEN '' ELSE 'set pin_memory=True, and ' END
                    || 'move less data per batch'
            WHEN w.slow_worker IS NOT NULL
                THEN
                    'share the samples that take long among all workers'
                    || CASE
                        WHEN w.fetch_cpu_pct >= 50 THEN ', or decode them ahead of time'
                        ELSE ', and check what that worker reads'
                    END
            WHEN w.fetch_cpu_pct IS NULL
                THEN
                    'increase num_parallel_workers of '
                    || coalesce(o.operator, 'the operators of the pipeline') || ', or '
                    || CASE
                        WHEN o.reads THEN 'read from faster storage' ELSE 'do less work per sample'
                    END
            ELSE
                CASE WHEN w.has_workers THEN 'increase' ELSE 'set' END
                || ' num_workers of DataLoader, or '
                || CASE
                    WHEN w.fetch_cpu_pct < 20 THEN 'use faster storage or larger files'
                    ELSE 'do less work per sample'
                END
        END AS remedy,
        w.wait_pct
    FROM _longest AS w
    LEFT JOIN _slow_operators AS o
        ON
            w.run = o.run AND w.worker = o.worker AND w.span = o.span
            AND w.pipeline = o.pipeline
    WHERE
        w.place = 1
        AND w.cause <> 'no_bottleneck'
        AND (w.fetch_cpu_pct IS NOT NULL OR w.queue_empty_pct IS NOT NULL);
