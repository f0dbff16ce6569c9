-- Panel of the report: Kernel sequences.
SELECT
    list_aggregate(pattern, 'string_agg', ' › ') AS pattern,
    * EXCLUDE (run, worker, span, pattern)
FROM kernel_sequences(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
