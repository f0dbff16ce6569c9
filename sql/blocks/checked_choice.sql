-- block: checked_choice
-- since: 0.1
-- summary: Refuse a value that a parameter does not allow.
--
-- A macro cannot restrict a parameter, and a misspelt word would silently give other rows. Written
-- as a condition, `WHERE (SELECT c.is_allowed FROM checked_choice(...) AS c)`: a scalar subquery
-- runs, and so refuses, also where the tables are empty.
--
-- params
--   name       type       unit  default  meaning
--   parameter  VARCHAR    -     -        Name of the parameter, for the message.
--   value      VARCHAR    -     -        What the caller gave.
--   allowed    VARCHAR[]  -     -        What it may be.
-- columns
--   name        type     unit  meaning
--   is_allowed  BOOLEAN  -     True; any other value is an error.
CREATE MACRO checked_choice(parameter VARCHAR, value VARCHAR, allowed VARCHAR[]) AS TABLE
    SELECT
        CASE
            WHEN list_contains(allowed, value) THEN TRUE
            ELSE error(format(
                '{} must be one of ''{}'', not {}',
                parameter,
                array_to_string(allowed, ''', '''),
                coalesce('''' || value || '''', 'NULL')
            ))
        END AS is_allowed;
