-- function: replaying_run
-- since: 0.1
-- summary: The run whose graphs were captured in a run: R for R/capture_traces; any other run is its own.
-- returns: VARCHAR
--
-- params
--   name  type     unit  default  meaning
--   run   VARCHAR  -     -        Name of a run.
CREATE MACRO replaying_run(run VARCHAR) AS (
    CASE
        WHEN contains(run || '/', '/capture_traces/')
            THEN split_part(run || '/', '/capture_traces/', 1)
        ELSE run
    END
);
