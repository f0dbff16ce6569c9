-- view: clocks
-- version: 1
-- since: 0.2
-- summary: Offset and drift of the clock of each host, as far as the collectives of a job tell.
-- grain: one row per clock: one per host, or one per worker whose host is not recorded
-- distributes: run
-- combines: traces; collective_calls()
-- order: run, span, component, rank IS NULL, rank, worker
-- empty: There is no such trace.
-- uses: aligned_clocks, matched_collectives
-- example: samples --run ddp_gloo
-- reading: Both ranks ran on one host. So there is one clock, with nothing to compare it with.
--
-- Workers of one host share a clock. Clocks are compared by collectives in which every rank waits for the last one
-- (all_reduce, all_gather, reduce_scatter, all_to_all, barrier), because these end on all ranks together. Two hosts
-- need not take part in one collective: a third one connects them, if it has collectives with both. Hosts that
-- are not connected have no common clock. Each set of connected hosts is a component, and its offsets have mean 0.
--
-- The time on the mean clock of a component is
-- `time - offset_ns - drift_ppm / 1e6 * (time - at_ns)`.
--
-- A rank cannot leave such a collective before the last rank has entered it. So each collective gives a lowest and
-- a highest offset, whatever the ends are, and an offset beyond these limits is moved to the nearer one. If no offset
-- lies between all of them, offset_ns is NULL and reason says why. The drift is NULL if fewer than 12 collectives tell it, or if it is too small to be told
-- from the spread: at most 20 * spread / (time from first to last collective * sqrt(collectives)). In a trace of one
-- second with a spread of 50 us and 300 collectives that is 58 ppm, so most traces are too short.
--
-- Times in the tables stay as recorded. The view collectives moves them where is_moved says so, and the timeline of the
-- report draws workers of different hosts by them. Other views on workers compare durations, not times.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   name         type     unit  meaning
--   run          VARCHAR  key   Run the row belongs to.
--   span         VARCHAR  key   Recording the row belongs to.
--   worker       VARCHAR  key   Worker with the clock; of several that of the lowest rank.
--   rank         INTEGER  -     Its rank in the job; NULL if it is not recorded.
--   hostname     VARCHAR  -     Host of the clock; NULL if it is not recorded, or if times do not count from 1970.
--   workers      BIGINT   -     Number of workers with the clock.
--   component    BIGINT   -     Number of the set of connected clocks; 1 is the largest.
--   offset_ns    BIGINT   ns    How far the clock is ahead of the mean of its component at at_ns; negative if it is behind, NULL if that is not known.
--   drift_ppm    DOUBLE   -     How much faster it runs than the mean, in millionths; NULL if that is not known.
--   at_ns        BIGINT   ns    Instant of this clock for which the offset holds; NULL if it was not compared.
--   spread_ns    BIGINT   ns    Median distance of its collectives from the offset.
--   low_ns       BIGINT   ns    Lowest offset that its collectives allow, if those of the other clocks are right.
--   high_ns      BIGINT   ns    Highest offset that they allow.
--   collectives  BIGINT   -     Number of collectives in common with other clocks.
--   is_moved     BOOLEAN  -     Whether collectives moves its times: the offset is known, and that moves traces of the component by more than the largest spread.
--   reason       VARCHAR  -     Why the offset or the drift is not known, or what the offset does not hold for.
CREATE MACRO clocks_v1(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    matched AS MATERIALIZED (
        SELECT m.* FROM matched_collectives(run, NULL, span) AS m
    ),

    numbered AS (
        SELECT
            a.*,
            count(*) OVER (PARTITION BY a.clock_id) AS workers,
            row_number() OVER (
                PARTITION BY a.clock_id ORDER BY a."rank" ASC NULLS LAST, a.worker ASC
            ) AS place
        FROM aligned_clocks('matched', run, span) AS a
    )

    SELECT
        n.run,
        n.span,
        n.worker,
        n."rank",
        n.hostname,
        n.workers,
        n.component,
        n.offset_ns,
        CASE WHEN n.has_drift THEN n.drift * 1e6 END AS drift_ppm,
        n.at_ns,
        n.spread_ns,
        n.low_ns,
        n.high_ns,
        n.collectives,
        n.is_moved,
        n.reason
    FROM numbered AS n
    WHERE n.place = 1
    ORDER BY
        n.run ASC, n.span ASC, n.component ASC, n."rank" IS NULL ASC, n."rank" ASC, n.worker ASC;
