-- block: parsed_changes
-- since: 0.1
-- summary: Changes for a replay, read from texts such as 'kernels LIKE "%gemm%" x0.5'.
-- grain: one row per text
--
-- A text says what changes, which of it, and how much. Words may be in upper or lower case:
--
--     kernels free                     collectives LIKE "%AllReduce%" x0.5
--     kernels LIKE "%gemm%" x0.5       operators LIKE "aten::conv%" free
--     device x0.8                      launches free
--     loader free                      host x0.5
--     module /Encoder/Linear_0 x0.8    line train.py:44 free
--
-- After operators, module and line there must be a name; after kernels and collectives there may be one, and without it
-- all are meant. The end is `free`, or x and a factor from 0 to less than 1e6. A text that cannot be read is an error
-- that says what is wrong with it.
--
-- params
--   name     type       unit  default  meaning
--   changes  VARCHAR[]  -     -        The texts.
-- columns
--   name    type     unit  meaning
--   number  BIGINT   key   Place in the list, from 1.
--   text    VARCHAR  -     The text.
--   change  VARCHAR  -     What changes: 'kernels', 'collectives', 'operators', 'device', 'launches', 'loader', 'host', 'module' or 'line'.
--   target  VARCHAR  -     Pattern, path or line; NULL for all.
--   factor  DOUBLE   -     By what the time is multiplied; 0 for free.
CREATE MACRO parsed_changes(changes VARCHAR[]) AS TABLE
    WITH
    _texts AS (
        SELECT
            t.number,
            trim(coalesce(changes[t.number], '')) AS text,
            regexp_extract(
                trim(coalesce(changes[t.number], '')),
                '^(\S*)\s*(.*?)\s*(?:\b((?i:free)|[xX][0-9.][0-9.eE+-]*))?$',
                ['change', 'target', 'amount']
            ) AS part
        FROM (SELECT generate_subscripts(changes, 1) AS number) AS t
    ),

    _parts AS (
        SELECT
            t.number,
            t.text,
            lower(t.part.change) AS change,
            CASE
                WHEN lower(t.part.change) IN ('module', 'line') THEN t.part.target
                ELSE
                    nullif(
                        regexp_extract(
                            t.part.target,
                            '^(?i:LIKE)\s+(?:"([^"]*)"|''([^'']*)'')$',
                            ['double', 'single']
                        ).double
                        || regexp_extract(
                            t.part.target,
                            '^(?i:LIKE)\s+(?:"([^"]*)"|''([^'']*)'')$',
                            ['double', 'single']
                        ).single,
                        ''
                    )
            END AS target,
            t.part.target AS written,
            CASE
                WHEN lower(t.part.amount) = 'free' THEN 0
                ELSE try_cast(substr(t.part.amount, 2) AS DOUBLE)
            END AS factor
        FROM _texts AS t
    )

    SELECT
        p.number,
        p.text,
        p.change,
        p.target,
        CASE
            WHEN p.fault IS NULL THEN p.factor
            ELSE error(format('cannot read the change ''{}'': {}', p.text, p.fault))
        END AS factor
    FROM (
        SELECT
            p.*,
            CASE
                WHEN
                    p.change NOT IN (
                        'kernels', 'collectives', 'operators', 'device', 'launches', 'loader',
                        'host', 'module', 'line'
                    )
                    THEN
                        'it must start with kernels, collectives, operators, device, launches, '
                        || 'loader, host, module or line'
                WHEN p.factor IS NULL
                    THEN 'it must end with free, or with x and a factor, such as x0.5'
                WHEN NOT (p.factor >= 0 AND p.factor < 1e6)
                    THEN 'the factor must be from 0 to less than 1e6'
                WHEN
                    p.change IN ('device', 'launches', 'loader', 'host') AND p.written <> ''
                    THEN format('{} takes no name, only free or a factor', p.change)
                WHEN
                    p.change IN ('kernels', 'collectives', 'operators')
                    AND p.written <> ''
                    AND p.target IS NULL
                    THEN format('names are given as {} LIKE "%PART%"', p.change)
                WHEN p.change = 'operators' AND p.target IS NULL
                    THEN 'name them, such as operators LIKE "aten::conv%"'
                WHEN p.change = 'module' AND trim(p.target, '/') = ''
                    THEN 'name a module, such as module /Encoder/Linear_0'
                WHEN p.change = 'line' AND NOT regexp_matches(p.target, '^.+:[0-9]+$')
                    THEN 'name a file and a line, such as line train.py:44'
            END AS fault
        FROM _parts AS p
    ) AS p;
