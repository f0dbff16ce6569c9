-- function: checked_between
-- since: 0.2
-- summary: The number that a parameter has, if it lies between two limits; else an error that says so.
-- returns: DOUBLE
--
-- A macro cannot restrict a parameter. NULL is no number, and stays NULL.
--
-- params
--   name       type     unit  default  meaning
--   parameter  VARCHAR  -     -        Name of the parameter, for the message.
--   value      DOUBLE   -     -        The number that the caller gave.
--   least      DOUBLE   -     -        It must be greater than this.
--   most       DOUBLE   -     -        It must be this at most; NULL if it has no upper limit.
CREATE MACRO checked_between(parameter VARCHAR, value DOUBLE, least DOUBLE, most DOUBLE) AS (
    CASE
        WHEN value <= least OR value > coalesce(most, 'inf'::DOUBLE)
            THEN
                error(
                    parameter || ' must be greater than ' || least::DECIMAL(18, 0)
                    || coalesce(' and at most ' || most::DECIMAL(18, 0), '')
                    || ', not ' || format('{:g}', value)
                )::DOUBLE
        ELSE value
    END
);
