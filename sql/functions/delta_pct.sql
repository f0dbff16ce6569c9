-- function: delta_pct
-- since: 0.1
-- summary: How much a figure changed, in percent of the baseline; NULL where that is 0.
-- returns: DOUBLE
-- uses: delta, ratio
--
-- params
--   name        type    unit  default  meaning
--   baseline    DOUBLE  -     -        The figure to compare with.
--   experiment  DOUBLE  -     -        The figure to compare, in the same unit.
CREATE MACRO delta_pct(baseline DOUBLE, experiment DOUBLE) AS (
    ratio(100 * delta(baseline, experiment), baseline)
);
