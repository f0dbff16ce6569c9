-- block: stacked_workers
-- since: 0.1
-- summary: The workers of a recording, and how far the times of each are moved to stand under those of one of them.
-- grain: one row per trace of the recording
-- uses: aligned_clocks, has_epoch, matched_collectives, clock_offsets_v1
--
-- A time of a worker, counted from the start of its trace, plus shift_ns is a time of the reference, counted
-- from the start of its trace. Where clock_offsets tells the offset of the clock, it is subtracted. Where it does not,
-- other hosts may connect the two clocks: then the difference of the offsets of the view clocks is. Otherwise the times stay as recorded if both count from 1970 and the two recordings overlap. If not, the first steps
-- of both start together, or without steps the recordings.
--
-- params
--   name    type     unit  default  meaning
--   run     VARCHAR  -     -        The run.
--   worker  VARCHAR  -     -        The reference.
--   span    VARCHAR  -     -        The recording.
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   rank         INTEGER  -     Rank in the job; NULL if it is not recorded.
--   length_ns    BIGINT   ns    Length of the trace.
--   shift_ns     BIGINT   ns    What to add to its times.
--   aligned_by   VARCHAR  -     'clock', 'recorded', 'step' or 'start', as explained above.
--   source       VARCHAR  -     What tells the offset of the clock, as in clock_offsets.
--   offset_ns    BIGINT   ns    How far its clock is ahead; NULL if that is not known.
--   spread_ns    BIGINT   ns    Distance of the collectives from the offset.
--   allowing     BIGINT   -     Number of collectives that allow the offset.
--   reason       VARCHAR  -     Why the offset is not known.
CREATE MACRO stacked_workers(run VARCHAR, worker VARCHAR, span VARCHAR) AS TABLE
    WITH
    _first_steps AS (
        SELECT s.worker, min(s.start_ns) AS start_ns
        FROM steps AS s
        WHERE s.run = run AND s.span = span AND s.step IS NOT NULL
        GROUP BY s.worker
    ),

    _reference AS (
        SELECT
            t.start_ns,
            t.end_ns,
            f.start_ns AS step_ns,
            has_epoch(t.skipped_reasons) AS has_epoch
        FROM traces AS t
        LEFT JOIN _first_steps AS f ON t.worker = f.worker
        WHERE t.run = run AND t.worker = worker AND t.span = span
    ),

    _matched AS MATERIALIZED (
        SELECT m.* FROM matched_collectives(run, NULL, span) AS m
    ),

    _clocks AS MATERIALIZED (
        SELECT a.* FROM aligned_clocks('_matched', run, span) AS a
    ),

    -- At the time of the reference for which its offset holds.
    _connected AS (
        SELECT
            a.worker,
            a.offset_ns - r.offset_ns AS offset_ns,
            greatest(a.spread_ns, r.spread_ns) AS spread_ns,
            least(a.collectives, r.collectives) AS allowing
        FROM _clocks AS a
        INNER JOIN _clocks AS r ON a.component = r.component
        WHERE r.worker = worker AND a.clock_id <> r.clock_id
    ),

    _offsets AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o."rank",
            CASE
                WHEN o.offset_ns IS NULL AND c.offset_ns IS NOT NULL THEN 'collectives'
                ELSE o.source
            END AS source,
            coalesce(o.offset_ns, c.offset_ns) AS offset_ns,
            CASE WHEN o.offset_ns IS NULL THEN c.spread_ns ELSE o.spread_ns END AS spread_ns,
            CASE
                WHEN o.offset_ns IS NULL AND c.offset_ns IS NOT NULL THEN c.allowing
                ELSE o.allowing
            END AS allowing,
            CASE WHEN c.offset_ns IS NULL THEN o.reason END AS reason
        FROM clock_offsets_v1(run := run, span := span, reference := worker) AS o
        LEFT JOIN _connected AS c ON o.worker = c.worker
    ),

    _placed AS (
        SELECT
            o.*,
            t.end_ns - t.start_ns AS length_ns,
            t.start_ns - r.start_ns - coalesce(o.offset_ns, 0) AS shift_ns,
            (r.step_ns - r.start_ns) - (f.start_ns - t.start_ns) AS step_shift_ns,
            CASE
                WHEN o.offset_ns IS NOT NULL THEN 'clock'
                WHEN
                    r.has_epoch AND has_epoch(t.skipped_reasons)
                    AND t.start_ns <= r.end_ns AND t.end_ns >= r.start_ns
                    THEN 'recorded'
                WHEN r.step_ns IS NOT NULL AND f.start_ns IS NOT NULL THEN 'step'
                ELSE 'start'
            END AS aligned_by
        FROM _offsets AS o
        INNER JOIN traces AS t ON o.run = t.run AND o.worker = t.worker AND o.span = t.span
        CROSS JOIN _reference AS r
        LEFT JOIN _first_steps AS f ON o.worker = f.worker
        WHERE t.start_ns IS NOT NULL
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.rank,
        p.length_ns,
        CASE p.aligned_by WHEN 'step' THEN p.step_shift_ns WHEN 'start' THEN 0 ELSE p.shift_ns END
            AS shift_ns,
        p.aligned_by,
        p.source,
        p.offset_ns,
        p.spread_ns,
        p.allowing,
        p.reason
    FROM _placed AS p;
