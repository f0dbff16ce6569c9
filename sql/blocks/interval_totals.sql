-- block: interval_totals
-- since: 0.1
-- summary: Total time of each sum of weights, where every interval adds its weight while it lasts.
-- grain: one row per key, slot and sum of weights that occurred
--
-- One pass replaces a union per kind of interval: give each kind its own digit of a large number as weight,
-- and the digits of a sum count what ran at the same time. Slots are intervals that divide the time, for
-- example steps; those of a key must not overlap. A row is a slot or an interval with a weight; the other
-- column is 0. Rows with a duration of 0 add nothing.
--
-- Weight and slot are combined into one 126-bit number, because a second running sum costs as much as the
-- first. Keys need no partition: the sum is back at 0 where a key ends. Rows are sorted before the window,
-- not by it: then the running sum needs no memory, and half the time.
--
-- params
--   name        type     unit  default  meaning
--   rel         VARCHAR  -     -        Name of a relation with key, slot, weight, start_ns and duration_ns.
--   least_slot  BIGINT   -     0        1 leaves out time in no slot, before anything is added up.
-- columns
--   name         type     unit  meaning
--   key          BIGINT   key   As given: a number for everything that must not be mixed.
--   slot         BIGINT   key   Slot of the time; 0 outside of all slots. Below 2^21.
--   weight       HUGEINT  key   Sum of the weights of the running intervals. Below 2^105.
--   duration_ns  BIGINT   ns    Total time with that sum in that slot.
CREATE MACRO interval_totals(rel VARCHAR, least_slot BIGINT := 0) AS TABLE
    WITH
    _changes AS (
        SELECT
            r.key,
            CASE WHEN e.is_start THEN r.start_ns ELSE r.start_ns + r.duration_ns END AS at_ns,
            CASE
                WHEN e.is_start THEN r.weight + (r.slot::HUGEINT << 105)
                ELSE -(r.weight + (r.slot::HUGEINT << 105))
            END AS change
        FROM query_table(rel) AS r
        CROSS JOIN (VALUES (TRUE), (FALSE)) AS e (is_start)
        WHERE r.duration_ns > 0
    ),

    _in_order AS (
        SELECT c.key, c.at_ns, c.change
        FROM _changes AS c
        ORDER BY c.key, c.at_ns
    ),

    _pieces AS (
        SELECT
            c.key,
            sum(c.change) OVER (ROWS UNBOUNDED PRECEDING) AS running,  -- noqa: PRS, CP02
            lead(c.at_ns) OVER () - c.at_ns AS duration_ns
        FROM _in_order AS c
    ),

    -- Split after they are added up: there are far fewer sums than pieces.
    _totals AS (
        SELECT p.key, p.running, sum(p.duration_ns)::BIGINT AS duration_ns
        FROM _pieces AS p
        -- A change at the instant of the next one makes no piece.
        WHERE
            p.running > 0 AND p.duration_ns > 0 AND p.running >= least_slot::HUGEINT << 105
        GROUP BY p.key, p.running
    )

    SELECT
        t.key,
        (t.running >> 105)::BIGINT AS slot,
        t.running & ((1::HUGEINT << 105) - 1) AS weight,
        t.duration_ns
    FROM _totals AS t;
