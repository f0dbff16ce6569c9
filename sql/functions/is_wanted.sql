-- function: is_wanted
-- since: 0.1
-- summary: Whether a row belongs to the run, worker and span that the caller of a view names.
-- returns: BOOLEAN
--
-- A view or block filters each table that it reads with it. DuckDB replaces the call with the
-- expression before it plans a query, so it opens only the Parquet files of the traces that are named.
--
-- params
--   name        type     unit  default  meaning
--   row_run     VARCHAR  -     -        Run of the row.
--   row_worker  VARCHAR  -     -        Worker of the row.
--   row_span    VARCHAR  -     -        Span of the row.
--   run         VARCHAR  -     -        Run to report; NULL reports every run.
--   worker      VARCHAR  -     -        Worker to report; NULL reports all.
--   span        VARCHAR  -     -        Recording to report; NULL reports all.
CREATE MACRO is_wanted(
    row_run VARCHAR,
    row_worker VARCHAR,
    row_span VARCHAR,
    run VARCHAR,
    worker VARCHAR,
    span VARCHAR
) AS (
    (run IS NULL OR row_run = run)
    AND (worker IS NULL OR row_worker = worker)
    AND (span IS NULL OR row_span = span)
);
