-- block: clock_walk
-- since: 0.2
-- summary: What each clock says at one instant, and how fast it runs, found by a walk from the first of the clocks that are connected.
-- grain: one row per clock that can be compared with another
--
-- Clocks that share collectives are connected, and so are those connected with the same clock. Of connected clocks
-- the one of the lowest number is the root. From it, the walk goes to each clock by the pairs with the least
-- variance in sum: the variance of a pair is spread * spread / collectives. Pairs that are not possible are not
-- used. Each round improves the clocks one pair further away, and the walk ends when nothing changes.
--
-- params
--   name   type     unit  default  meaning
--   pairs  VARCHAR  -     -        Name of a relation with the rows of clock_pairs.
-- columns
--   name      type    unit  meaning
--   clock_id  BIGINT  key   The clock.
--   root_id   BIGINT  -     The root: the lowest number of the clocks that are connected.
--   local_ns  BIGINT  ns    What the clock says at the instant of the root's first collective.
--   drift     DOUBLE  -     How much faster it runs than the root, as a share.
CREATE MACRO clock_walk(pairs VARCHAR) AS TABLE
    WITH RECURSIVE
    _steps AS MATERIALIZED (
        SELECT
            p.clock_id,
            p.other_id,
            p.at_ns,
            p.offset_ns,
            p.drift,
            greatest(p.spread_ns, 1)::DOUBLE * greatest(p.spread_ns, 1) / p.collectives AS cost
        FROM query_table(pairs) AS p
        WHERE p.is_possible
        UNION ALL
        SELECT
            p.other_id,
            p.clock_id,
            p.at_ns + p.offset_ns,
            -p.offset_ns,
            -p.drift / (1 + p.drift),
            greatest(p.spread_ns, 1)::DOUBLE * greatest(p.spread_ns, 1) / p.collectives
        FROM query_table(pairs) AS p
        WHERE p.is_possible
    ),

    _known AS (
        SELECT
            s.clock_id,
            s.clock_id AS root_id,
            0::DOUBLE AS cost,
            s.clock_id AS before_id,
            min(s.at_ns) AS local_ns,
            0::DOUBLE AS drift,
            TRUE AS is_changed
        FROM _steps AS s
        GROUP BY s.clock_id
        UNION ALL
        (
            WITH
            _ways AS (
                SELECT
                    k.clock_id,
                    k.root_id,
                    k.cost,
                    k.before_id,
                    k.local_ns,
                    k.drift,
                    FALSE AS is_changed
                FROM _known AS k
                UNION ALL
                SELECT
                    s.other_id,
                    k.root_id,
                    k.cost + s.cost,
                    k.clock_id,
                    k.local_ns + s.offset_ns + round(s.drift * (k.local_ns - s.at_ns))::BIGINT,
                    (1 + k.drift) * (1 + s.drift) - 1,
                    TRUE
                FROM _known AS k
                INNER JOIN _steps AS s ON k.clock_id = s.clock_id
                WHERE k.is_changed
            ),

            -- A way that is known is kept if another one is no better.
            _ordered AS (
                SELECT
                    w.*,
                    row_number() OVER (
                        PARTITION BY w.clock_id
                        ORDER BY w.root_id, w.cost, w.is_changed, w.before_id
                    ) AS place
                FROM _ways AS w
            )

            SELECT
                o.clock_id,
                o.root_id,
                o.cost,
                o.before_id,
                o.local_ns,
                o.drift,
                o.is_changed
            FROM _ordered AS o
            WHERE o.place = 1 AND EXISTS (FROM _known AS k WHERE k.is_changed)
        )
    ),

    _ordered_ways AS (
        SELECT
            k.*,
            row_number() OVER (
                PARTITION BY k.clock_id ORDER BY k.root_id, k.cost, k.is_changed
            ) AS place
        FROM _known AS k
    )

    SELECT
        o.clock_id,
        o.root_id,
        o.local_ns,
        o.drift
    FROM _ordered_ways AS o
    WHERE o.place = 1;
