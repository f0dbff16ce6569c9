-- function: percentage
-- since: 0.1
-- summary: A part in percent of the whole; NULL where the whole is 0.
-- returns: DOUBLE
-- uses: ratio
--
-- params
--   name   type    unit  default  meaning
--   part   DOUBLE  -     -        The part.
--   whole  DOUBLE  -     -        The whole, in the same unit.
CREATE MACRO percentage(part DOUBLE, whole DOUBLE) AS (
    ratio(100.0 * part, whole)
);
