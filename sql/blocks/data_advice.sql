-- block: data_advice
-- since: 0.2
-- summary: Why the data loader is waited for, as far as a recording tells, and what to change.
-- grain: one row per trace whose loader was recorded and is waited for
-- uses: as_percent, as_time, data_waits, ratio
--
-- Of several pipelines, the one that is waited for longest.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name    type     unit  meaning
--   cause   VARCHAR  -     Goes on after 'waits for the data loader'; contains no colon.
--   remedy  VARCHAR  -     What to change, in words that end a sentence.
CREATE MACRO data_advice(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _longest AS (
        SELECT
            w.*,
            ratio(w.slow_wait_us, w.periods) AS slow_step_us,
            row_number() OVER (
                PARTITION BY w.run, w.worker, w.span
                ORDER BY w.wait_us DESC, w.pipeline ASC
            ) AS place
        FROM data_waits(run, worker, span) AS w
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        CASE
            WHEN w.cause = 'slow_transfer' THEN ', although the batches are made in time'
            WHEN w.slow_worker IS NOT NULL
                THEN
                    ', of which ' || as_time(w.slow_step_us) || ' per step for worker '
                    || w.slow_worker
                    || CASE
                        WHEN w.fetch_cpu_pct >= 50 THEN ', which decodes for '
                        ELSE ', which takes '
                    END
                    || as_time(w.slow_fetch_us) || ' per batch where the others take '
                    || as_time(w.other_fetch_us)
            WHEN w.fetch_cpu_pct < 20
                THEN
                    ', whose workers wait for storage and compute for '
                    || as_percent(w.fetch_cpu_pct) || ' of the time of making a batch'
            ELSE
                ', whose workers compute for ' || as_percent(w.fetch_cpu_pct)
                || ' of the time of making a batch'
        END AS cause,
        CASE
            WHEN w.cause = 'slow_transfer'
                THEN 'set pin_memory=True, and move less data per batch'
            WHEN w.slow_worker IS NOT NULL
                THEN
                    'share the samples that take long among all workers'
                    || CASE
                        WHEN w.fetch_cpu_pct >= 50 THEN ', or decode them ahead of time'
                        ELSE ', and check what that worker reads'
                    END
            WHEN w.fetch_cpu_pct < 20
                THEN 'increase num_workers of DataLoader, or use faster storage or larger files'
            ELSE 'increase num_workers of DataLoader, or do less work per sample'
        END AS remedy
    FROM _longest AS w
    WHERE w.place = 1 AND w.cause <> 'no_bottleneck' AND w.fetch_cpu_pct IS NOT NULL;
