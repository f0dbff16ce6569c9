-- block: simulated_times
-- since: 0.2
-- summary: When steps end if operations take other times than recorded, in many scenarios at once.
-- grain: one row per world and scenario
--
-- A group of operations starts when the last operation that any of its members waits for has ended, and
-- each member ends its own time later. The groups are climbed rung by rung, as pipeline_rungs has them, in all
-- worlds at once. What is carried is the time at which a group is reached, eight scenarios to a row; of all
-- that reach it the latest counts. Nothing is carried but what later rungs wait for.
--
-- What nothing leads to is reached at own_s or ideal_s, as its bit says, of the row to start from.
--
-- A world is what can be simulated alone: a step, or two lanes of a step. In worlds of the second kind, of
-- which joins tells, scenarios 0 and 1 are the two lanes, which start together where a group waits for all
-- data-parallel ranks.
--
-- params
--   name   type     unit  default  meaning
--   moves  VARCHAR  -     -        Name of a relation with the rows of pipeline_moves.
-- columns
--   name         type    unit  meaning
--   world        BIGINT  key   As given.
--   scenario     BIGINT  key   Number of the scenario, from 0.
--   span_s       DOUBLE  s     Latest end minus earliest start.
--   optimizer_s  DOUBLE  s     Latest end of an optimizer.
CREATE MACRO simulated_times(moves VARCHAR) AS TABLE
    WITH RECURSIVE
    _moves AS (
        SELECT m.*
        FROM query_table(moves) AS m
        WHERE m.spot IS NOT NULL
    ),

    _reached AS (
        SELECT
            m.world,
            m.block,
            0 AS rung,
            m.to_spot,
            m.to_rung,
            NULL::BIGINT AS lane_id,
            NULL::BIGINT AS to_node_id,
            NULL::BIGINT AS waits_for,
            FALSE AS is_optimizer,
            CASE WHEN m.keeps[m.block + 1] & 1 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_0,
            CASE WHEN m.keeps[m.block + 1] & 2 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_1,
            CASE WHEN m.keeps[m.block + 1] & 4 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_2,
            CASE WHEN m.keeps[m.block + 1] & 8 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_3,
            CASE WHEN m.keeps[m.block + 1] & 16 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_4,
            CASE WHEN m.keeps[m.block + 1] & 32 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_5,
            CASE WHEN m.keeps[m.block + 1] & 64 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_6,
            CASE WHEN m.keeps[m.block + 1] & 128 > 0 THEN m.own_s ELSE m.ideal_s END
                AS time_7
        FROM (
            SELECT q.*, unnest(range(len(q.keeps))) AS block
            FROM query_table(moves) AS q
            WHERE q.spot IS NULL
        ) AS m
        UNION ALL
        (
            WITH
            _started AS (
                SELECT
                    r.block,
                    r.to_spot AS spot,
                    any_value(r.rung) AS rung,
                    max(r.time_0) AS time_0,
                    max(r.time_1) AS time_1,
                    max(r.time_2) AS time_2,
                    max(r.time_3) AS time_3,
                    max(r.time_4) AS time_4,
                    max(r.time_5) AS time_5,
                    max(r.time_6) AS time_6,
                    max(r.time_7) AS time_7
                FROM _reached AS r
                WHERE r.to_rung = r.rung
                GROUP BY r.block, r.to_spot
            ),

            _moved AS (
                SELECT
                    m.world,
                    s.block,
                    s.rung + 1 AS rung,
                    m.to_spot,
                    m.to_rung,
                    m.lane_id,
                    m.to_node_id,
                    m.waits_for,
                    m.is_optimizer,
                    m.own_s,
                    m.ideal_s,
                    m.keeps[s.block + 1] AS keeps,
                    CASE WHEN m.joins THEN greatest(s.time_0, s.time_1) ELSE s.time_0 END
                        AS time_0,
                    CASE WHEN m.joins THEN greatest(s.time_0, s.time_1) ELSE s.time_1 END
                        AS time_1,
                    s.time_2,
                    s.time_3,
                    s.time_4,
                    s.time_5,
                    s.time_6,
                    s.time_7
                FROM _started AS s
                INNER JOIN _moves AS m ON s.spot = m.spot
            )

            SELECT
                m.world,
                m.block,
                m.rung,
                m.to_spot,
                m.to_rung,
                m.lane_id,
                m.to_node_id,
                m.waits_for,
                m.is_optimizer,
                m.time_0 + CASE WHEN m.keeps & 1 > 0 THEN m.own_s ELSE m.ideal_s END,
                m.time_1 + CASE WHEN m.keeps & 2 > 0 THEN m.own_s ELSE m.ideal_s END,
                m.time_2 + CASE WHEN m.keeps & 4 > 0 THEN m.own_s ELSE m.ideal_s END,
                m.time_3 + CASE WHEN m.keeps & 8 > 0 THEN m.own_s ELSE m.ideal_s END,
                m.time_4 + CASE WHEN m.keeps & 16 > 0 THEN m.own_s ELSE m.ideal_s END,
                m.time_5 + CASE WHEN m.keeps & 32 > 0 THEN m.own_s ELSE m.ideal_s END,
                m.time_6 + CASE WHEN m.keeps & 64 > 0 THEN m.own_s ELSE m.ideal_s END,
                m.time_7 + CASE WHEN m.keeps & 128 > 0 THEN m.own_s ELSE m.ideal_s END
            FROM _moved AS m
            UNION ALL
            SELECT
                r.world,
                r.block,
                r.rung + 1,
                r.to_spot,
                r.to_rung,
                NULL,
                NULL,
                NULL,
                FALSE,
                r.time_0,
                r.time_1,
                r.time_2,
                r.time_3,
                r.time_4,
                r.time_5,
                r.time_6,
                r.time_7
            FROM _reached AS r
            WHERE r.to_rung > r.rung
        )
    ),

    _ends AS (
        SELECT
            r.world,
            r.block,
            [
                max(r.time_0), max(r.time_1), max(r.time_2), max(r.time_3),
                max(r.time_4), max(r.time_5), max(r.time_6), max(r.time_7)
            ] AS ends,
            [
                max(r.time_0) FILTER (WHERE r.is_optimizer),
                max(r.time_1) FILTER (WHERE r.is_optimizer),
                max(r.time_2) FILTER (WHERE r.is_optimizer),
                max(r.time_3) FILTER (WHERE r.is_optimizer),
                max(r.time_4) FILTER (WHERE r.is_optimizer),
                max(r.time_5) FILTER (WHERE r.is_optimizer),
                max(r.time_6) FILTER (WHERE r.is_optimizer),
                max(r.time_7) FILTER (WHERE r.is_optimizer)
            ] AS optimizers
        FROM _reached AS r
        WHERE r.to_spot IS NULL
        GROUP BY r.world, r.block
    ),

    -- Operations that wait for nothing start at 0. Others start earlier if all that they wait for ends
    -- earlier, because transfers can be below 0.
    _early AS (
        SELECT
            r.world,
            r.lane_id,
            r.to_node_id,
            r.waits_for,
            8 * r.block + k.place AS scenario,
            [
                r.time_0, r.time_1, r.time_2, r.time_3, r.time_4, r.time_5, r.time_6, r.time_7
            ][k.place + 1] AS time_s
        FROM _reached AS r
        CROSS JOIN range(8) AS k (place)
        WHERE
            r.to_node_id IS NOT NULL
            AND least(
                r.time_0, r.time_1, r.time_2, r.time_3, r.time_4, r.time_5, r.time_6, r.time_7
            ) < 0
    ),

    _early_starts AS (
        SELECT e.world, e.scenario, max(e.time_s) AS start_s
        FROM _early AS e
        WHERE e.time_s < 0
        GROUP BY e.world, e.scenario, e.lane_id, e.to_node_id
        HAVING count(*) = min(e.waits_for)
    ),

    _starts AS (
        SELECT e.world, e.scenario, min(e.start_s) AS start_s
        FROM _early_starts AS e
        GROUP BY e.world, e.scenario
    )

    SELECT
        e.world,
        8 * e.block + k.place AS scenario,
        e.ends[k.place + 1] - coalesce(s.start_s, 0) AS span_s,
        e.optimizers[k.place + 1] AS optimizer_s
    FROM _ends AS e
    CROSS JOIN range(8) AS k (place)
    LEFT JOIN _starts AS s ON e.world = s.world AND 8 * e.block + k.place = s.scenario;
