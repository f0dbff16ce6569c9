-- block: chains
-- since: 0.1
-- summary: Elements on chains in which each element has at most one successor.
-- grain: one row per chain and element on it
--
-- The work is done in rounds; each doubles the reach of the links, so a chain of a million elements takes
-- 20 rounds. Following the chain one element at a time would need a join per element.
--
-- params
--   name    type     unit  default  meaning
--   links   VARCHAR  -     -        Name of a relation with id, next_id and next_ns: one row per element with a successor, and the time of the successor.
--   starts  VARCHAR  -     -        Name of a relation with chain, id and from_ns: one row per chain, its first element, and a time that all other elements are later than.
-- columns
--   name   type    unit  meaning
--   chain  BIGINT  key   Number of the chain.
--   id     BIGINT  key   Element on the chain, including the first.
CREATE MACRO chains(links VARCHAR, starts VARCHAR) AS TABLE
    WITH RECURSIVE
    -- Rows with a chain are the elements found so far; the other rows are the links.
    _rounds AS (
        SELECT
            NULL::BIGINT AS chain, NULL::BIGINT AS from_ns, l.id, l.next_id, l.next_ns, 1 AS number
        FROM query_table(links) AS l
        UNION ALL
        SELECT s.chain, s.from_ns, s.id, NULL, NULL, 1
        FROM query_table(starts) AS s
        UNION
        (
            SELECT
                a.chain,
                a.from_ns,
                CASE WHEN a.chain IS NULL THEN a.id ELSE b.next_id END,
                CASE WHEN a.chain IS NULL THEN b.next_id END,
                CASE WHEN a.chain IS NULL THEN b.next_ns END,
                a.number + 1
            FROM _rounds AS a
            INNER JOIN _rounds AS b
                ON CASE WHEN a.chain IS NULL THEN a.next_id ELSE a.id END = b.id AND b.chain IS NULL
            -- If the links are circular, the number ends the rounds, and UNION keeps them small.
            WHERE a.number < 32 AND (a.chain IS NULL OR b.next_ns > a.from_ns)
            UNION ALL
            SELECT a.chain, a.from_ns, a.id, NULL, NULL, a.number + 1
            FROM _rounds AS a
            WHERE
                a.chain IS NOT NULL
                AND a.number < 32
                AND EXISTS (FROM _rounds AS b WHERE b.chain IS NULL)
        )
    )

    SELECT DISTINCT r.chain, r.id
    FROM _rounds AS r
    WHERE r.chain IS NOT NULL;
