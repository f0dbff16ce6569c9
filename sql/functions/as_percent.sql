-- function: as_percent
-- since: 0.1
-- summary: A share as text with two significant digits, e.g. '56 %', '2.1 %', '<0.1 %' or '>99 %'.
-- returns: VARCHAR
--
-- params
--   name  type    unit  default  meaning
--   pct   DOUBLE  pct   -        The share.
CREATE MACRO as_percent(pct DOUBLE) AS (
    CASE
        WHEN pct = 0 THEN '0 %'
        WHEN abs(pct) < 0.1 THEN '<0.1 %'
        WHEN abs(pct) < 9.95 THEN format('{:.1f} %', pct)
        WHEN abs(pct) >= 99.5 AND abs(pct) < 99.9999999 THEN '>99 %'
        ELSE format('{:.0f} %', pct)
    END
);
