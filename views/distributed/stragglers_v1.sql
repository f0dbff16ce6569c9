-- view: stragglers
-- version: 1
-- since: 0.1
-- summary: Workers that other workers wait for in collectives, per step and for the whole recording.
-- grain: one row per step and worker that others waited for, and one row per worker with a NULL step for the whole recording
-- distributes: run
-- combines: traces; collective_calls()
-- order: run, span, step NULLS FIRST, lateness_us DESC, worker
-- empty: No two workers of the run recorded the same collective and waited in it: the view needs the traces of all ranks in one run, and each rank once per recording; trace_quality names ranks with several traces.
-- uses: matched_collectives
-- example: samples --run ddp_gloo
-- reading: Nearly all lateness is that of rank 0, and most of it comes from one collective in step 2: that is chance.
--
-- The view looks at collectives in which every rank waits for the last one (all_reduce, all_gather,
-- reduce_scatter, all_to_all, barrier). The last worker to arrive is the one with the shortest row. Its
-- lateness is the difference to the longest row of another worker in the same collective, which is the time from
-- the first arrival of these to its own. Devices of one worker may wait for each other, but a worker does not wait for
-- itself. Only durations are compared, so clocks need not be aligned.
--
-- Being last by microseconds in a few collectives is chance. A worker with most of the lateness over all
-- steps has less power, more work or slower links than the others.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name         type    unit  meaning
--   step         BIGINT  key   Number of the step, as this worker counts; NULL in the row of the whole recording.
--   lateness_us  DOUBLE  us    Sum of its lateness over the collectives in which it came last.
--   share_pct    DOUBLE  pct   Share of the lateness of all workers in the step.
--   waited_by    BIGINT  -     Number of different workers that waited for it.
--   collectives  BIGINT  -     Number of collectives in which it came last.
CREATE MACRO stragglers_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    matched AS MATERIALIZED (
        SELECT
            m.run,
            m.worker,
            m.span,
            -- Ranks may count their steps from different numbers.
            max(CASE WHEN m.is_last THEN m.step END) OVER (PARTITION BY m.match_id) AS step,
            m.duration_ns,
            m.transfer_ns,
            max(m.duration_ns) OVER (PARTITION BY m.match_id) AS waited_ns,
            m.last_worker,
            m.is_last
        FROM matched_collectives(run, NULL, span) AS m
        WHERE m.last_worker IS NOT NULL AND (m.is_last OR m.worker <> m.last_worker)
    ),

    -- Each row counts for its step and for the whole recording.
    counted AS (
        SELECT m.*, m.step AS of_step, FALSE AS is_over_all
        FROM matched AS m
        WHERE m.waited_ns > m.transfer_ns AND m.step IS NOT NULL
        UNION ALL
        SELECT m.*, NULL, TRUE
        FROM matched AS m
        WHERE m.waited_ns > m.transfer_ns
    ),

    late AS (
        SELECT
            c.run,
            c.last_worker AS worker,
            c.span,
            c.of_step,
            c.is_over_all,
            sum(c.waited_ns - c.transfer_ns) FILTER (WHERE c.is_last) AS lateness_ns,
            count(DISTINCT CASE WHEN c.duration_ns > c.transfer_ns THEN c.worker END) AS waited_by,
            count(*) FILTER (WHERE c.is_last) AS collectives
        FROM counted AS c
        GROUP BY ALL
    ),

    shared AS (
        SELECT
            a.*,
            100.0 * a.lateness_ns
            / sum(a.lateness_ns) OVER (PARTITION BY a.run, a.span, a.of_step, a.is_over_all)
                AS share_pct
        FROM late AS a
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.of_step AS step,
        s.lateness_ns / 1000.0 AS lateness_us,
        s.share_pct,
        s.waited_by,
        s.collectives
    FROM shared AS s
    WHERE worker IS NULL OR s.worker = worker
    ORDER BY
        s.run ASC, s.span ASC, s.of_step ASC NULLS FIRST, s.lateness_ns DESC, s.worker ASC;
