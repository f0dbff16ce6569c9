-- block: clock_balance
-- since: 0.2
-- summary: What each clock says at one instant, and how fast it runs, from all pairs of clocks together.
-- grain: one row per clock that can be compared with another
--
-- The walk goes to each clock by one way, and other ways may tell something else. Here each clock moves to the mean
-- of what its pairs tell, weighted with collectives / (spread * spread), 32 times and half of the way each time. So
-- the sum of the weighted squares of what the pairs are off becomes least. Where all ways agree, as in a chain,
-- nothing moves.
--
-- params
--   name   type     unit  default  meaning
--   pairs  VARCHAR  -     -        Name of a relation with the rows of clock_pairs.
--   walk   VARCHAR  -     -        Name of a relation with the rows of clock_walk.
-- columns
--   name      type    unit  meaning
--   clock_id  BIGINT  key   The clock.
--   root_id   BIGINT  -     As in clock_walk.
--   local_ns  BIGINT  ns    What the clock says at the instant of the root's first collective.
--   drift     DOUBLE  -     How much faster it runs than the root by the walk, as a share.
CREATE MACRO clock_balance(pairs VARCHAR, walk VARCHAR) AS TABLE
    WITH RECURSIVE
    -- What a pair is off from the walk: at its own instant, which is since_ns after that of the walk.
    _gaps AS (
        SELECT
            p.clock_id,
            p.other_id,
            p.has_drift,
            p.collectives / (greatest(p.spread_ns, 1)::DOUBLE * greatest(p.spread_ns, 1)) AS weight,
            (p.at_ns - a.local_ns)::DOUBLE AS since_ns,
            (p.offset_ns - (b.local_ns - a.local_ns))::DOUBLE
            - (p.at_ns - a.local_ns) * (b.drift - a.drift) / (1 + a.drift) AS gap_ns,
            p.drift - (b.drift - a.drift) / (1 + a.drift) AS gap_drift
        FROM query_table(pairs) AS p
        INNER JOIN query_table(walk) AS a ON p.clock_id = a.clock_id
        INNER JOIN query_table(walk) AS b ON p.other_id = b.clock_id
        WHERE p.is_possible
    ),

    _both AS MATERIALIZED (
        SELECT
            g.clock_id,
            g.other_id,
            g.weight,
            CASE WHEN g.has_drift THEN g.weight ELSE 0 END AS drift_weight,
            g.since_ns,
            g.gap_ns,
            g.gap_drift
        FROM _gaps AS g
        UNION ALL
        SELECT
            g.other_id,
            g.clock_id,
            g.weight,
            CASE WHEN g.has_drift THEN g.weight ELSE 0 END,
            g.since_ns,
            -g.gap_ns,
            -g.gap_drift
        FROM _gaps AS g
    ),

    _moves AS (
        SELECT w.clock_id, 0::DOUBLE AS move_ns, 0::DOUBLE AS move_drift, 0 AS round
        FROM query_table(walk) AS w
        UNION ALL
        SELECT
            b.other_id,
            any_value(n.move_ns) / 2
            + sum(
                b.weight
                * (m.move_ns + b.gap_ns - (n.move_drift - m.move_drift) * b.since_ns)
            ) / sum(b.weight) / 2,
            any_value(n.move_drift) / 2
            + coalesce(
                sum(b.drift_weight * (m.move_drift + b.gap_drift))
                / nullif(sum(b.drift_weight), 0),
                any_value(n.move_drift)
            ) / 2,
            any_value(m.round) + 1
        FROM _moves AS m
        INNER JOIN _both AS b ON m.clock_id = b.clock_id
        INNER JOIN _moves AS n ON b.other_id = n.clock_id
        WHERE m.round < 32
        GROUP BY b.other_id
    )

    SELECT
        w.clock_id,
        w.root_id,
        w.local_ns + round(m.move_ns)::BIGINT AS local_ns,
        w.drift + m.move_drift AS drift
    FROM query_table(walk) AS w
    INNER JOIN _moves AS m ON w.clock_id = m.clock_id
    WHERE m.round = 32;
