-- block: repeated_ranks
-- since: 0.2
-- summary: Jobs of a recording in which a rank has several traces, such as a job that ran twice into one folder.
-- grain: one row per recording and number of ranks with such a rank
-- uses: is_wanted
--
-- Nothing tells which traces of different ranks were recorded together, so ranks are not compared there. Traces of jobs
-- with different numbers of ranks are of different jobs.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   name        type     unit  meaning
--   run         VARCHAR  key   Run the row belongs to.
--   span        VARCHAR  key   Recording the row belongs to.
--   world_size  INTEGER  key   Number of ranks of the job; NULL if it is not known.
--   rank        INTEGER  -     The first such rank.
--   traces      BIGINT   -     Number of its traces.
CREATE MACRO repeated_ranks(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _ranks AS (
        SELECT
            t.run,
            t.span,
            t.world_size,
            t."rank",
            count(*) AS traces
        FROM traces AS t
        WHERE t."rank" IS NOT NULL AND is_wanted(t.run, t.worker, t.span, run, NULL, span)
        GROUP BY t.run, t.span, t.world_size, t."rank"
        HAVING count(*) > 1
    )

    SELECT
        r.run,
        r.span,
        r.world_size,
        min(r."rank") AS "rank",
        arg_min(r.traces, r."rank") AS traces
    FROM _ranks AS r
    GROUP BY r.run, r.span, r.world_size;
