-- block: jobs
-- since: 0.2
-- summary: The job that each trace is of. Ranks are compared with those of the same job only.
-- grain: one row per trace
-- uses: is_wanted, repeated_ranks
--
-- Traces of one recording are of one job if their jobs have the same number of ranks. A trace that does not say the
-- number is of the largest job of its recording.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   world_size   INTEGER  -     Number of ranks of the job; NULL if no trace of the recording says it.
--   job          BIGINT   key   Number of the job, over all recordings.
--   is_repeated  BOOLEAN  -     Whether a rank of the job has several traces, as in repeated_ranks: then nothing tells which traces were recorded together.
CREATE MACRO jobs(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _traces AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            coalesce(
                t.world_size, max(t.world_size) OVER (PARTITION BY t.run, t.span)
            ) AS world_size
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, NULL, span)
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.world_size,
        dense_rank() OVER (ORDER BY t.run, t.span, t.world_size) AS job,
        r.run IS NOT NULL AS is_repeated
    FROM _traces AS t
    LEFT JOIN repeated_ranks(run, span) AS r
        ON
            t.run = r.run AND t.span = r.span
            AND t.world_size IS NOT DISTINCT FROM r.world_size;
