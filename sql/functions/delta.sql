-- function: delta
-- since: 0.2
-- summary: Difference of a figure between two runs; 0 where they differ by the rounding of sums alone.
-- returns: DOUBLE
--
-- A mean of the same times over three workers and over two may differ in its last digit.
--
-- params
--   name        type    unit  default  meaning
--   baseline    DOUBLE  -     -        The figure to compare with.
--   experiment  DOUBLE  -     -        The figure to compare, in the same unit.
CREATE MACRO delta(baseline DOUBLE, experiment DOUBLE) AS (
    CASE
        WHEN
            abs(experiment - baseline) <= 1e-12 * greatest(abs(baseline), abs(experiment))
            THEN 0
        ELSE experiment - baseline
    END
);
