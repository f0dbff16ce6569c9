-- function: as_name
-- since: 0.1
-- summary: A name as text in a sentence: more than 60 characters are shortened in the middle.
-- returns: VARCHAR
--
-- params
--   name  type     unit  default  meaning
--   name  VARCHAR  -     -        The name, e.g. of a kernel.
CREATE MACRO as_name(name VARCHAR) AS (
    if(length(name) > 60, left(name, 36) || '…' || right(name, 21), name)
);
