-- view: operator_counters
-- version: 1
-- since: 0.1
-- summary: Sum, mean and maximum of each CUPTI counter per operator.
-- grain: one row per operator and counter
-- distributes: worker
-- order: sum DESC, run, worker, span, counter, operator
-- needs: no_counters
-- empty: No kernel has counters: {record counters}.
-- uses: counter_values, kernel_counters_v1
-- example: drawn
--
-- A kernel belongs to the innermost operator around its launch (bottom_level_op of kernel_counters).
-- Kernels whose launch is unknown or outside of operators are one row with a NULL name.
--
-- The sum is meaningful for counters that count. For ratios, use the mean and the maximum.
--
-- A value of counter with a % in it is a pattern: % matches any text and _ any character. Any other value
-- is an exact name.
--
-- params
--   name     type     unit  default  meaning
--   run, worker, span
--   counter  VARCHAR  -     NULL     Name of a counter, or a pattern with %, e.g. 'dram%'; NULL reports all.
--   per_span
-- columns
--   name      type     unit  meaning
--   run, worker, span
--   operator  VARCHAR  key   Name of the operator; NULL if there is none or it is unknown.
--   calls     BIGINT   -     Number of kernels with the counter.
--   sum       DOUBLE   -     Sum of the counter's values.
--   mean      DOUBLE   -     Mean per kernel.
--   max       DOUBLE   -     Largest value of a kernel.
--   counter   VARCHAR  key   Name of the counter.
CREATE MACRO operator_counters_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    counter VARCHAR := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    SELECT
        k.run,
        k.worker,
        CASE WHEN per_span OR span IS NOT NULL THEN k.span END AS span,
        k.bottom_level_op AS operator,
        count(c.value) AS calls,
        sum(c.value) AS sum,
        avg(c.value) AS mean,
        max(c.value) AS max,
        c.counter
    FROM kernel_counters_v1(run, worker, span) AS k
    INNER JOIN counter_values(run, worker, span) AS c
        ON k.run = c.run AND k.worker = c.worker AND k.span = c.span AND k.event_id = c.event_id
    WHERE
        counter IS NULL
        OR CASE
            WHEN contains(counter, '%') THEN c.counter LIKE counter ELSE c.counter = counter
        END
    GROUP BY ALL
    ORDER BY
        sum(c.value) DESC,
        k.run ASC, k.worker ASC,
        CASE WHEN per_span OR span IS NOT NULL THEN k.span END ASC,
        c.counter ASC, k.bottom_level_op ASC;
