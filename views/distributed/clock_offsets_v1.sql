-- view: clock_offsets
-- version: 1
-- since: 0.1
-- summary: How far the clock of each worker is ahead of that of a reference worker, as far as collectives tell.
-- grain: one row per trace
-- distributes: run
-- order: run, span, rank IS NULL, rank, worker
-- empty: There is no such trace, or no trace of the reference worker.
-- uses: has_epoch, is_wanted, matched_collectives
-- example: samples --run ddp_gpu_gloo
-- reading: Both ranks ran on one host and share its clock. The offset of 6 us is 0 as far as these collectives can tell: they allow everything from -464 to 421 us.
--
-- Workers of one host share a clock. A worker whose times do not count from 1970 has a clock of its own. Clocks
-- are compared by the collectives in which every rank waits for the last one, because these end on all ranks
-- together. Per collective and host, the end is the lower median of its ranks. The offset is the median
-- difference of these ends, and the spread the median distance from it.
--
-- A rank cannot leave such a collective before the last rank has entered it. So each collective gives a
-- lowest and a highest offset. A collective that does not allow the offset is one whose rows do not belong
-- together, because the trace lacks rows. The offset is known only if three collectives, and three quarters
-- of all, allow it. Otherwise it is NULL, and reason says why: one of the clocks may run faster. It is also
-- NULL for a host without such a collective in common with the host of the reference.
--
-- To compare times of two workers, subtract the offset from the times of each.
--
-- params
--   name       type     unit  default  meaning
--   run, worker, span
--   reference  VARCHAR  -     NULL     Worker with whose clock the others are compared; NULL takes the lowest rank.
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   rank         INTEGER  -     Rank in the job; NULL if it is not recorded.
--   reference    VARCHAR  -     Worker with whose clock this one is compared.
--   source       VARCHAR  -     What tells the offset: 'reference' for the reference itself, 'host' for its host, or 'collectives'; NULL if nothing does.
--   offset_ns    BIGINT   ns    How far the clock is ahead of the reference's; negative if it is behind, NULL if that is not known.
--   spread_ns    BIGINT   ns    Median distance from the offset, over the collectives that allow it; NULL unless source is 'collectives'.
--   low_ns       BIGINT   ns    Lowest offset that all of these allow; NULL if there are none.
--   high_ns      BIGINT   ns    Highest offset that all of these allow.
--   collectives  BIGINT   -     Number of collectives in common with the host of the reference.
--   allowing     BIGINT   -     Number of these that allow the offset.
--   reason       VARCHAR  -     Why the offset is not known; NULL if it is.
CREATE MACRO clock_offsets_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    reference VARCHAR := NULL
) AS TABLE
    WITH
    -- All workers count, also those that are not reported.
    clocks AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.rank,
            coalesce(
                CASE WHEN has_epoch(t.skipped_reasons) THEN 'host ' || t.hostname END,
                'worker ' || t.worker
            ) AS clock,
            coalesce(reference, first_value(t.worker) OVER (
                PARTITION BY t.run, t.span ORDER BY t.rank ASC NULLS LAST, t.worker ASC
            )) AS reference
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, NULL, span)
    ),

    compared AS MATERIALIZED (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.rank,
            c.clock,
            c.reference,
            r.clock AS reference_clock,
            -- The workers of the reference's host are looked at one by one.
            CASE WHEN c.clock = r.clock THEN 'worker ' || c.worker ELSE c.clock END AS member
        FROM clocks AS c
        INNER JOIN clocks AS r
            ON c.run = r.run AND c.span = r.span AND c.reference = r.worker
    ),

    calls AS MATERIALIZED (
        SELECT
            m.match_id,
            c.run,
            c.span,
            c.member,
            c.clock = c.reference_clock AS is_reference,
            m.start_ns,
            m.start_ns + m.duration_ns AS end_ns
        FROM matched_collectives(run, NULL, span) AS m
        INNER JOIN compared AS c
            ON m.run = c.run AND m.worker = c.worker AND m.span = c.span
        WHERE m.do_clocks_agree IS NOT NULL
    ),

    of_members AS (
        SELECT
            c.run,
            c.span,
            c.member,
            c.match_id,
            quantile_disc(c.end_ns, 0.5) AS end_ns,
            min(c.end_ns) AS first_end_ns,
            max(c.start_ns) AS last_start_ns
        FROM calls AS c
        GROUP BY c.run, c.span, c.member, c.match_id
    ),

    of_reference AS (
        SELECT
            c.match_id,
            quantile_disc(c.end_ns, 0.5) AS end_ns,
            min(c.end_ns) AS first_end_ns,
            max(c.start_ns) AS last_start_ns
        FROM calls AS c
        WHERE c.is_reference
        GROUP BY c.match_id
    ),

    differences AS MATERIALIZED (
        SELECT
            m.run,
            m.span,
            m.member,
            m.end_ns - r.end_ns AS offset_ns,
            m.last_start_ns - r.first_end_ns AS low_ns,
            m.first_end_ns - r.last_start_ns AS high_ns
        FROM of_members AS m
        INNER JOIN of_reference AS r ON m.match_id = r.match_id
    ),

    medians AS (
        SELECT
            d.run,
            d.span,
            d.member,
            quantile_disc(d.offset_ns, 0.5) AS offset_ns
        FROM differences AS d
        GROUP BY d.run, d.span, d.member
    ),

    supposed AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.rank,
            c.reference,
            c.member,
            c.clock = c.reference_clock AS is_same_host,
            CASE WHEN c.clock = c.reference_clock THEN 0 ELSE m.offset_ns END AS offset_ns
        FROM compared AS c
        LEFT JOIN medians AS m ON c.run = m.run AND c.span = m.span AND c.member = m.member
    ),

    told AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.rank,
            p.reference,
            p.is_same_host,
            p.offset_ns,
            count(p.distance_ns) AS collectives,
            count(*) FILTER (WHERE p.is_allowed) AS allowing,
            max(p.low_ns) FILTER (WHERE p.is_allowed) AS low_ns,
            min(p.high_ns) FILTER (WHERE p.is_allowed) AS high_ns,
            quantile_disc(p.distance_ns, 0.5) FILTER (WHERE p.is_allowed) AS spread_ns
        FROM (
            SELECT
                s.*,
                d.low_ns,
                d.high_ns,
                abs(d.offset_ns - s.offset_ns) AS distance_ns,
                s.offset_ns BETWEEN d.low_ns AND d.high_ns AS is_allowed
            FROM supposed AS s
            LEFT JOIN differences AS d
                ON s.run = d.run AND s.span = d.span AND s.member = d.member
        ) AS p
        GROUP BY
            p.run, p.worker, p.span, p.rank, p.reference, p.is_same_host, p.offset_ns
    ),

    judged AS (
        SELECT
            t.*,
            CASE
                WHEN t.worker = t.reference THEN 'reference'
                WHEN 4 * t.allowing < 3 * t.collectives THEN NULL
                WHEN t.is_same_host THEN 'host'
                WHEN t.allowing >= 3 THEN 'collectives'
            END AS source
        FROM told AS t
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.rank,
        t.reference,
        t.source,
        CASE WHEN t.source IS NOT NULL THEN t.offset_ns END AS offset_ns,
        CASE WHEN t.source = 'collectives' THEN t.spread_ns END AS spread_ns,
        CASE WHEN t.worker <> t.reference THEN t.low_ns END AS low_ns,
        CASE WHEN t.worker <> t.reference THEN t.high_ns END AS high_ns,
        t.collectives,
        t.allowing,
        CASE
            WHEN t.source IS NOT NULL THEN NULL
            WHEN t.is_same_host
                THEN
                    'It ran on the same host as ' || t.reference
                    || ', but their collectives do not overlap.'
            WHEN t.collectives = 0
                THEN
                    'It has no collective in common with ' || t.reference
                    || ' in which every rank waits for the last.'
            WHEN t.collectives < 3
                THEN
                    'Only ' || t.collectives || ' of its collectives can be compared with '
                    || t.reference || '; three are needed.'
            ELSE
                'No constant difference of the clocks lets its collectives overlap with those of '
                || t.reference || '.'
        END AS reason
    FROM judged AS t
    WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ORDER BY t.run ASC, t.span ASC, t.rank IS NULL ASC, t.rank ASC, t.worker ASC;
