-- block: change_points
-- since: 0.1
-- summary: Lasting changes of level in a series of values.
-- grain: one row per change
-- uses: checked_between, rank_sum_p_values
--
-- Circular binary segmentation (Olshen, Venkatraman, Lucito and Wigler 2004) on ranks. The test of Mann and
-- Whitney compares each segment of values with all other values of the series. The segments are those
-- that begin with the series, which are single steps, and those in its middle, which go and come back. A
-- segment with a p-value below alpha splits the series, and the parts are treated in the same way.
--
-- If several segments qualify, the one with the least sum of squares is used: ranks alone cannot
-- distinguish a value below the step from one above it that happens to come next. Values beyond Tukey's
-- fences (1.5 interquartile ranges outside of the quartiles) count as if they were on the fence.
--
-- Among many segments some differ by chance, so each p-value is multiplied by the number of segments
-- (Bonferroni). Nine tenths of alpha go to the single steps, of which there are n - 1, and one tenth goes to
-- the (n - 1) * (n - 2) / 2 segments in the middle. With fewer than 11 values no p-value is below 0.05.
--
-- params
--   name   type     unit  default  meaning
--   rel    VARCHAR  -     -        Name of a relation with place, from 1 without gaps, and value, not NULL.
--   alpha  DOUBLE   -     0.05     Level of the test.
-- columns
--   place    BIGINT  key  Position of the first value after the change.
--   p_value  DOUBLE  -    Probability of a change this clear by chance, among the values that were split there.
CREATE MACRO change_points(rel VARCHAR, alpha DOUBLE := 0.05) AS TABLE
    WITH RECURSIVE
    _series AS MATERIALIZED (
        SELECT r.place::BIGINT AS place, r.value
        FROM query_table(rel) AS r
    ),

    _parts AS (
        SELECT
            min(s.place) AS first, max(s.place) AS last, FALSE AS is_change, NULL::DOUBLE AS p_value
        FROM _series AS s
        UNION ALL
        SELECT c.part.first, c.part.last, c.part.first > c.first, c.p_value
        FROM (
            WITH
            _fences AS (
                SELECT
                    p.first, p.last, quantile_cont(s.value, [0.25, 0.75]) AS quartiles
                FROM _parts AS p
                INNER JOIN _series AS s ON s.place BETWEEN p.first AND p.last
                GROUP BY p.first, p.last
            ),

            _ranked AS (
                SELECT
                    p.first,
                    p.last,
                    s.place,
                    least(
                        greatest(s.value, 2.5 * p.quartiles[1] - 1.5 * p.quartiles[2]),
                        2.5 * p.quartiles[2] - 1.5 * p.quartiles[1]
                    ) AS value,
                    count(*) OVER (PARTITION BY p.first, s.value) AS peers,
                    rank() OVER (PARTITION BY p.first ORDER BY s.value) AS first_rank
                FROM _fences AS p
                INNER JOIN _series AS s ON s.place BETWEEN p.first AND p.last
            ),

            _summed AS MATERIALIZED (
                SELECT
                    r.first,
                    r.last,
                    r.place,
                    sum(r.first_rank + (r.peers - 1) / 2.0) OVER (
                        PARTITION BY r.first ORDER BY r.place
                    ) AS rank_sum,
                    sum(r.value) OVER (PARTITION BY r.first ORDER BY r.place) AS value_sum,
                    sum(r.value) OVER (PARTITION BY r.first) AS value_total,
                    sum(r.peers * r.peers - 1) OVER (PARTITION BY r.first) AS tied
                FROM _ranked AS r
            ),

            -- A segment is numbered by its start and end.
            _stretches AS MATERIALIZED (
                SELECT
                    e.first,
                    e.last,
                    coalesce(b.place, e.first - 1) + 1 AS begins,
                    e.place AS ends,
                    (coalesce(b.place, e.first - 1) << 30) + e.place AS key,
                    e.place - coalesce(b.place, e.first - 1) AS baseline_count,
                    e.last - e.first + 1 - (e.place - coalesce(b.place, e.first - 1))
                        AS experiment_count,
                    e.rank_sum - coalesce(b.rank_sum, 0)
                    - (e.place - coalesce(b.place, e.first - 1))
                    * (e.place - coalesce(b.place, e.first - 1) + 1) / 2.0 AS baseline_wins,
                    e.tied,
                    e.value_sum - coalesce(b.value_sum, 0) AS value_sum,
                    e.value_total,
                    CASE
                        WHEN b.place IS NULL THEN (e.last - e.first) / 0.9
                        ELSE (e.last - e.first) * (e.last - e.first - 1) / 2 / 0.1
                    END AS stretches
                FROM _summed AS e
                INNER JOIN (
                    SELECT u.first, u.place, u.rank_sum, u.value_sum
                    FROM _summed AS u
                    UNION ALL
                    SELECT DISTINCT u.first, NULL, NULL, NULL
                    FROM _summed AS u
                ) AS b
                    ON e.first = b.first AND (b.place IS NULL OR b.place < e.place)
                WHERE e.place < e.last
            ),

            -- Of two means that are far apart, and of many values each, little is left in squares.
            _best AS (
                SELECT
                    s.first,
                    s.last,
                    max_by(
                        { 'begins': s.begins, 'ends': s.ends, 'p_value': p.p_value * s.stretches },
                        (
                            pow(
                                s.value_sum / s.baseline_count
                                - (s.value_total - s.value_sum) / s.experiment_count,
                                2
                            ) * s.baseline_count * s.experiment_count,
                            -s.begins,
                            -s.ends
                        )
                    ) AS stretch
                FROM _stretches AS s
                INNER JOIN rank_sum_p_values('_stretches') AS p ON s.key = p.key
                WHERE p.p_value * s.stretches < checked_between('alpha', alpha, 0, 1)
                GROUP BY s.first, s.last
            )

            SELECT
                b.first,
                b.stretch.p_value,
                unnest([
                    { 'first': b.first, 'last': b.stretch.begins - 1 },
                    { 'first': b.stretch.begins, 'last': b.stretch.ends },
                    { 'first': b.stretch.ends + 1, 'last': b.last }
                ]) AS part
            FROM _best AS b
        ) AS c
        WHERE c.part.first <= c.part.last
    )

    SELECT p.first AS place, p.p_value
    FROM _parts AS p
    WHERE p.is_change;
