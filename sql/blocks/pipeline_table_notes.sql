-- block: pipeline_table_notes
-- since: 0.2
-- summary: Why the traces of a pipeline-parallel job do not give a table of its operations.
-- grain: one row per job that is refused, with its first worker
-- uses: traced_operations
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   message  VARCHAR  -  The reason.
CREATE MACRO pipeline_table_notes(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        o.run,
        o.worker,
        o.span,
        o.fault AS message
    FROM traced_operations(run, span) AS o
    WHERE o.fault IS NOT NULL AND (worker IS NULL OR o.worker = worker);
