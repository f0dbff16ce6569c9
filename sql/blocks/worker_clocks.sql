-- block: worker_clocks
-- since: 0.2
-- summary: The clock that the times of each worker count on.
-- grain: one row per trace
-- uses: has_epoch, is_wanted
--
-- Workers of one host share a clock. A worker whose host is not recorded has a clock of its own, and so has one
-- whose times do not count from 1970.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   run, worker, span
--   name       type     unit  meaning
--   rank       INTEGER  -     Rank in the job; NULL if it is not recorded.
--   hostname   VARCHAR  -     Host whose clock it is; NULL if the clock is that of the worker alone.
--   has_epoch  BOOLEAN  -     Whether its times count from 1970.
--   clock_id   BIGINT   -     Number of the clock, which all workers of a host share.
CREATE MACRO worker_clocks(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _traces AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            t."rank",
            CASE WHEN has_epoch(t.skipped_reasons) THEN t.hostname END AS hostname,
            has_epoch(t.skipped_reasons) AS has_epoch
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, NULL, span)
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t."rank",
        t.hostname,
        t.has_epoch,
        dense_rank() OVER (
            ORDER BY
                t.run, t.span, t.hostname, CASE WHEN t.hostname IS NULL THEN t.worker END
        ) AS clock_id
    FROM _traces AS t;
