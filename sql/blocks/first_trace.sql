-- block: first_trace
-- since: 0.1
-- summary: The one trace that stands for a run where a single timeline is asked for.
-- grain: one row, or none where there is no such trace
--
-- Of the traces that are asked for it is the first span of the lowest rank, or of the first worker by name
-- where the ranks are not known.
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
