-- function: as_name
-- since: 0.1
-- summary: A name as text in a sentence: more than 60 characters are shortened in the middle.
-- returns: VARCHAR
--
-- Of a graph that Inductor compiled, the first eight characters of its hash are left.
--
-- params
--   name  type     unit  default  meaning
--   name  VARCHAR  -     -        The name, e.g. of a kernel.
CREATE MACRO as_name(name VARCHAR) AS (
    CASE
        WHEN starts_with(name, '## Call CompiledFxGraph ')
            THEN 'CompiledFxGraph ' || substring(name, 25, 8)
        WHEN length(name) > 60 THEN left(name, 36) || '…' || right(name, 21)
        ELSE name
    END
);
