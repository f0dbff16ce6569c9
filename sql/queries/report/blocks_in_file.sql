-- The blocks of two timelines whose operators and kernels the file of a report holds.
SELECT path
FROM
    diff_modules(
        baseline := $baseline,
        experiment := $run,
        baseline_worker := $baseline_worker,
        experiment_worker := $worker,
        baseline_span := $baseline_span,
        experiment_span := $span,
        depth := $depth
    )
WHERE depth > 0
ORDER BY abs(delta_us) DESC, position
LIMIT $most_blocks;
