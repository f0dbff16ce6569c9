-- block: timeline_windows
-- since: 0.1
-- summary: The part of each trace that a timeline shows, and the length of its pixels.
-- grain: one row per trace
-- uses: is_wanted
--
-- params
--   run, worker, span
--   name     type     unit  default  meaning
--   from_ns  BIGINT   ns    NULL     Start of the window; NULL takes the start of each trace.
--   to_ns    BIGINT   ns    NULL     End of the window; NULL takes the end of each trace.
--   pixels   INTEGER  -     1000     Number of pixels in the window, 1 to 100000.
-- columns
--   run, worker, span
--   from_ns   BIGINT  ns  Start of the window, nanoseconds since the epoch.
--   to_ns     BIGINT  ns  End of the window; no event of the trace starts there if it is the end of the trace.
--   pixel_ns  BIGINT  ns  Length of a pixel; the last one may be shorter.
CREATE MACRO timeline_windows(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    from_ns BIGINT := NULL,
    to_ns BIGINT := NULL,
    pixels INTEGER := 1000
) AS TABLE
    WITH
    _checked AS (
        SELECT
            CASE
                WHEN pixels IS NULL OR pixels NOT BETWEEN 1 AND 100000
                    THEN error(format(
                        'pixels must be 1 to 100000, not {}', coalesce(pixels::VARCHAR, 'NULL')
                    ))
                WHEN to_ns <= from_ns THEN error('to_ns must be greater than from_ns')
                ELSE TRUE
            END AS is_allowed
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        w.from_ns,
        w.to_ns,
        greatest(1, (w.to_ns - w.from_ns + pixels - 1) // pixels) AS pixel_ns
    FROM (
        SELECT
            t.run,
            t.worker,
            t.span,
            coalesce(from_ns, t.start_ns) AS from_ns,
            coalesce(to_ns, t.end_ns + 1) AS to_ns
        FROM traces AS t
        WHERE
            is_wanted(t.run, t.worker, t.span, run, worker, span)
            AND (SELECT c.is_allowed FROM _checked AS c)
    ) AS w;
