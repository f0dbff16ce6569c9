-- block: interval_sweep
-- since: 0.1
-- summary: Cut time wherever an interval begins or ends, with the sum of the weights that run in each piece.
-- grain: one row per key and piece in which a weight runs or that lies in a slot
--
-- One pass answers what would take a union per kind of interval: give each kind its own digit of a
-- large number as weight, and the digits of a piece's weight count what runs there. Slots are
-- intervals that tell where a piece lies, steps for example; those of a key must not overlap. A row
-- is a slot or an interval with a weight; the other column is 0. Rows of length 0 cut nothing.
--
-- Weight and slot travel as one 126-bit number, for a second running sum costs as much as the first.
-- Keys need no partition: the sum is back at 0 where a key ends.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with key, slot, weight, start_ns and duration_ns.
-- columns
--   name         type     unit  meaning
--   key          BIGINT   key   As given: a number for everything that must not mix.
--   slot         BIGINT   -     Slot the piece lies in; 0 outside of all. Below 2^21.
--   weight       HUGEINT  -     Sum of the weights that run. Below 2^105.
--   start_ns     BIGINT   ns    Start of the piece.
--   duration_ns  BIGINT   ns    Length of the piece.
CREATE MACRO interval_sweep(rel VARCHAR) AS TABLE
    WITH
    _changes AS (
        SELECT
            r.key,
            r.start_ns AS at_ns,
            r.weight + (r.slot::HUGEINT << 105) AS change
        FROM query_table(rel) AS r
        WHERE r.duration_ns > 0
        UNION ALL
        SELECT
            r.key,
            r.start_ns + r.duration_ns,
            -(r.weight + (r.slot::HUGEINT << 105))
        FROM query_table(rel) AS r
        WHERE r.duration_ns > 0
    ),

    _pieces AS (
        SELECT
            c.key,
            c.at_ns,
            lead(c.at_ns) OVER in_order - c.at_ns AS duration_ns,
            sum(c.change) OVER in_order AS running
        FROM _changes AS c
        WINDOW in_order AS (ORDER BY c.key, c.at_ns ROWS UNBOUNDED PRECEDING)
    )

    SELECT
        p.key,
        (p.running >> 105)::BIGINT AS slot,
        p.running & ((1::HUGEINT << 105) - 1) AS weight,
        p.at_ns AS start_ns,
        p.duration_ns
    FROM _pieces AS p
    -- A change at the instant of the next one makes no piece.
    WHERE p.running > 0 AND p.duration_ns > 0;
