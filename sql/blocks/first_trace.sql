-- block: first_trace
-- since: 0.1
-- summary: The trace that represents a run where a single timeline is needed.
-- grain: one row, or none if there is no such trace
--
-- Of the matching traces, it is the first span of the lowest rank, or of the first worker by name if the
-- ranks are not known.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
CREATE MACRO first_trace(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        t.run,
        t.worker,
        t.span
    FROM traces AS t
    WHERE
        t.run = run
        AND (worker IS NULL OR t.worker = worker)
        AND (span IS NULL OR t.span = span)
    ORDER BY t.rank ASC NULLS LAST, t.worker ASC, try_cast(t.span AS BIGINT) ASC, t.span ASC
    LIMIT 1;
