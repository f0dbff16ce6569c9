-- function: ratio
-- since: 0.1
-- summary: A number divided by another; NULL where that is 0.
-- returns: DOUBLE
--
-- params
--   name      type    unit  default  meaning
--   dividend  DOUBLE  -     -        The number to divide.
--   divisor   DOUBLE  -     -        The number to divide by.
CREATE MACRO ratio(dividend DOUBLE, divisor DOUBLE) AS (
    dividend / nullif(divisor, 0)
);
