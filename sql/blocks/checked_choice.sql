-- block: checked_choice
-- since: 0.1
-- summary: Raises an error if a parameter has a value that is not allowed.
--
-- A macro cannot restrict a parameter, and a misspelt value would silently give other rows. Use it as a
-- condition, `WHERE (SELECT c.is_allowed FROM checked_choice(...) AS c)`: a scalar subquery runs, and so
-- raises the error, even if the tables are empty.
--
-- params
--   name       type       unit  default  meaning
--   parameter  VARCHAR    -     -        Name of the parameter, for the message.
--   value      VARCHAR    -     -        Value that the caller gave.
--   allowed    VARCHAR[]  -     -        Allowed values.
-- columns
--   name        type     unit  meaning
--   is_allowed  BOOLEAN  -     Always TRUE; any other value raises an error.
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
