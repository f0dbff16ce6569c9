-- function: as_time
-- since: 0.1
-- summary: A time as text with two or three significant digits and a unit that suits its size, e.g. '166 ms'.
-- returns: VARCHAR
-- uses: as_digits
--
-- params
--   name  type    unit  default  meaning
--   us    DOUBLE  us    -        The time.
CREATE MACRO as_time(us DOUBLE) AS (
    CASE
        WHEN abs(us) >= 999500 THEN as_digits(us / 1000000) || ' s'
        WHEN abs(us) >= 999.5 THEN as_digits(us / 1000) || ' ms'
        ELSE as_digits(us) || ' us'
    END
);
