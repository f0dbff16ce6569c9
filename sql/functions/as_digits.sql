-- function: as_digits
-- since: 0.1
-- summary: A number as text with two or three significant digits, as a person would say it.
-- returns: VARCHAR
--
-- From 20 on a number has no decimals, from 1 on it has one. So 166.25 is '166', 12.41 is '12.4' and 2.07 is
-- '2.1'. Smaller numbers have two significant digits.
--
-- params
--   name   type    unit  default  meaning
--   value  DOUBLE  -     -        The number.
CREATE MACRO as_digits(value DOUBLE) AS (
    CASE
        WHEN value = 0 THEN '0'
        WHEN abs(value) >= 19.95 THEN format('{:.0f}', value)
        WHEN abs(value) >= 0.995 THEN format('{:.1f}', value)
        ELSE format('{:.2g}', value)
    END
);
