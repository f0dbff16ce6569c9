-- view: operator_counters
-- version: 1
-- since: 0.1
-- summary: CUPTI counters, added up per operator.
-- grain: one row per operator and counter
-- distributes: worker
-- order: sum DESC, run, worker, span, counter, operator
-- needs: no_counters
-- empty: No kernel has CUPTI counters: on NVIDIA GPUs record with ProfilerActivity.CUDA and the experimental_config that docs/views/kernel_counters.md names.
-- uses: counter_values, kernel_counters_v1
-- example: drawn
--
-- A kernel belongs to the operator that launched it, the innermost one around the launch
-- (bottom_level_op of kernel_counters). Kernels of unknown launch, or of none within an operator, are
-- one row with NULL for its name.
--
-- A sum makes sense of counters that count; of ratios look at the mean and the maximum.
--
-- A value of counter with a % in it is a pattern, in which % is any text and _ any character; any
-- other value is a whole name.
--
-- params
--   name     type     unit  default  meaning
--   run, worker, span
--   counter  VARCHAR  -     NULL     Name of a counter, or a pattern with %, e.g. 'dram%'; NULL takes all.
--   per_span
-- columns
--   name      type     unit  meaning
--   run, worker, span
--   operator  VARCHAR  key   Name of the operator; NULL where unknown, or for none.
--   calls     BIGINT   -     Kernels that have the counter.
--   sum       DOUBLE   -     Sum of its values.
--   mean      DOUBLE   -     Mean per kernel.
--   max       DOUBLE   -     Largest of a kernel.
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
