-- The trace of a run that the report shows: that of $worker and $span where they are named, else the first
-- recording of the lowest rank. With it the number of traces of the run, whether the version of Kineto's format is
-- missing, and what the times of the file are counted from. A trace without complete events, as a table of Nsight
-- Compute, starts and ends at 0, and comes last.
SELECT
    t.worker,
    t.span,
    coalesce(t.start_ns, 0) AS start_ns,
    coalesce(t.end_ns, 0) AS end_ns,
    t.source,
    count(*) OVER () AS traces,
    coalesce(t.source = 'kineto', FALSE) AND t.schema_version IS NULL AS lacks_version,
    coalesce(t.base_time_ns, 0) AS base_ns
FROM traces AS t
WHERE t.run = $run
QUALIFY t.worker = coalesce($worker, t.worker) AND t.span = coalesce($span, t.span)
ORDER BY
    t.start_ns IS NULL ASC, t.rank ASC NULLS LAST, t.worker ASC,
    try_cast(t.span AS INTEGER) ASC, t.span ASC
LIMIT 1;
