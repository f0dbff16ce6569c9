-- block: aligned_lists
-- since: 0.1
-- summary: Longest common subsequence of two lists, for many pairs of lists at once.
-- grain: one row per element that both lists have in common
--
-- Greedy algorithm of E. Myers ("An O(ND) Difference Algorithm and Its Variations", 1986): for each d, it
-- finds how far one can get on each diagonal with d elements that only one list has. The length of a common
-- run is found in as many steps as the length has binary digits, using keys for runs of 1, 2, 4, ...
-- elements. So the time grows with the square of d, and hardly with the length of the lists: 0.1 s for
-- 10 000 elements of which 100 differ, 10 s for 5 000 elements in unrelated order. Elements that only one
-- list has are removed before.
--
-- The common beginning of both lists is aligned first, so of elements with the same key the k-th of one
-- list is aligned with the k-th of the other. Keys are compared by a hash of 64 bits.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with pair, is_baseline, position and key: the elements of two lists per pair.
-- columns
--   name                 type    unit  meaning
--   pair                 BIGINT  key   As given.
--   baseline_position    BIGINT  key   Position of the element in the list of the baseline.
--   experiment_position  BIGINT  -     Position of the element in the list of the experiment.
CREATE MACRO aligned_lists(rel VARCHAR) AS TABLE
    WITH RECURSIVE
    _shared AS (
        SELECT
            r.pair,
            r.is_baseline,
            r.position,
            hash(r.key) AS key
        FROM query_table(rel) AS r
        QUALIFY
            bool_or(r.is_baseline) OVER (PARTITION BY r.pair, hash(r.key))
            AND NOT bool_and(r.is_baseline) OVER (PARTITION BY r.pair, hash(r.key))
    ),

    _lists AS MATERIALIZED (
        SELECT
            s.pair,
            list(s.key ORDER BY s.position) FILTER (WHERE s.is_baseline) AS baseline,
            list(s.key ORDER BY s.position) FILTER (WHERE NOT s.is_baseline) AS experiment,
            list(s.position ORDER BY s.position) FILTER (WHERE s.is_baseline) AS positions,
            list(s.position ORDER BY s.position) FILTER (WHERE NOT s.is_baseline)
                AS other_positions
        FROM _shared AS s
        GROUP BY s.pair
    ),

    _levels AS (
        SELECT
            l.pair,
            l.baseline,
            l.experiment,
            1 + floor(log2(least(len(l.baseline), len(l.experiment))))::BIGINT AS levels
        FROM _lists AS l
        WHERE l.baseline <> l.experiment
    ),

    -- keys[j + 1][i] represents the 2^j elements from the i-th on. Numbers are lists of lists where they are
    -- reduced to such, because DuckDB 1.5 requires both to have one type.
    _keys AS MATERIALIZED (
        SELECT
            l.pair,
            l.levels,
            len(l.baseline) AS length,
            len(l.experiment) AS other_length,
            -- The linter does not know lambdas with two parameters.
            list_reduce(  -- noqa: PRS
                list_transform(range(1, l.levels), LAMBDA j: [[j::UBIGINT]]),
                LAMBDA keys, j: list_append(keys, list_transform(
                    range(1, len(l.baseline) - (1 << j[1][1]::BIGINT) + 2),
                    LAMBDA i: hash(
                        keys[j[1][1]::BIGINT][i],
                        keys[j[1][1]::BIGINT][i + (1 << (j[1][1]::BIGINT - 1))]
                    )
                )),
                [l.baseline]
            ) AS keys,
            list_reduce(
                list_transform(range(1, l.levels), LAMBDA j: [[j::UBIGINT]]),
                LAMBDA keys, j: list_append(keys, list_transform(
                    range(1, len(l.experiment) - (1 << j[1][1]::BIGINT) + 2),
                    LAMBDA i: hash(
                        keys[j[1][1]::BIGINT][i],
                        keys[j[1][1]::BIGINT][i + (1 << (j[1][1]::BIGINT - 1))]
                    )
                )),
                [l.experiment]
            ) AS other_keys
        FROM _levels AS l
    ),

    -- The last list of reached has d + 1 numbers. Each is the number of baseline elements before the furthest
    -- point with d elements in one list only, on diagonal -d, 2 - d, ..., d; the other list has that many
    -- elements fewer. NULL is beyond the end. 32 lists at a time, because keys are copied for each.
    _rounds AS (
        SELECT
            k.pair,
            [[]]::BIGINT[][] AS reached,
            FALSE AS is_done
        FROM _keys AS k
        UNION ALL
        SELECT
            r.pair,
            r.reached,
            coalesce(
                (r.length - r.other_length + len(r.reached[-1])) % 2 = 1
                AND r.reached[-1][(r.length - r.other_length + len(r.reached[-1]) + 1) // 2]
                = r.length,
                FALSE
            ) AS is_done
        FROM (
            SELECT
                o.pair,
                k.length,
                k.other_length,
                list_reduce(  -- noqa: PRS
                    list_transform(range(32), LAMBDA n: [[n]]),
                    LAMBDA reached, n: CASE
                        WHEN
                            (k.length - k.other_length + len(reached[-1])) % 2 = 1
                            AND reached[-1][(k.length - k.other_length + len(reached[-1]) + 1) // 2]
                            = k.length
                            THEN reached
                        ELSE list_append(reached, list_transform(
                            range(len(reached[-1]) + 1),
                            LAMBDA i: list_reduce(
                                range(k.levels - 1, -1, -1),
                                LAMBDA x, j: CASE
                                    WHEN
                                        k.keys[j + 1][x + 1]
                                        = k.other_keys[j + 1][x - 2 * i + len(reached[-1]) + 1]
                                        THEN x + (1 << j)
                                    ELSE x
                                END,
                                CASE
                                    WHEN len(reached[-1]) = 0 THEN 0
                                    ELSE greatest(
                                        CASE
                                            WHEN reached[-1][i] < k.length THEN reached[-1][i] + 1
                                        END,
                                        CASE
                                            WHEN
                                                reached[-1][i + 1] - 2 * i + len(reached[-1])
                                                <= k.other_length
                                                THEN reached[-1][i + 1]
                                        END
                                    )
                                END
                            )
                        ))
                    END,
                    [o.reached[-1]]
                )[2:] AS reached
            FROM _rounds AS o
            INNER JOIN _keys AS k ON o.pair = k.pair
            WHERE NOT o.is_done
        ) AS r
    ),

    _reached AS (
        SELECT
            u.pair,
            list(u.places ORDER BY len(u.places)) AS reached
        FROM (
            SELECT
                r.pair,
                unnest(r.reached) AS places
            FROM _rounds AS r
        ) AS u
        WHERE len(u.places) > 0
        GROUP BY u.pair
    ),

    -- The diagonals on the way back from the end, with d = len(reached) - 1 down to 0.
    _diagonals AS (
        SELECT
            r.pair,
            r.reached,
            list_reverse(list_reduce(  -- noqa: LT01
                list_transform(range(len(r.reached) - 1, 0, -1), LAMBDA d: [d]),  -- noqa: PRS
                LAMBDA way, d: list_append(way, CASE
                    WHEN
                        r.reached[d[1]][(way[-1] + d[1]) // 2 + 1] - way[-1] <= k.other_length
                        AND coalesce(
                            r.reached[d[1]][(way[-1] + d[1]) // 2] >= k.length
                            OR r.reached[d[1]][(way[-1] + d[1]) // 2]
                            < r.reached[d[1]][(way[-1] + d[1]) // 2 + 1],
                            TRUE
                        )
                        THEN way[-1] + 1
                    ELSE way[-1] - 1
                END),
                [k.length - k.other_length]
            )) AS way
        FROM _reached AS r
        INNER JOIN _keys AS k ON r.pair = k.pair
    ),

    _runs AS (
        SELECT
            w.pair,
            w.place.diagonal,
            w.place.x,
            lag(w.place.x) OVER of_pair
            + CASE WHEN w.place.diagonal > lag(w.place.diagonal) OVER of_pair THEN 1 ELSE 0 END
                AS from_x
        FROM (
            SELECT
                d.pair,
                unnest(list_transform(
                    range(len(d.way)),
                    LAMBDA n: {
                        'd': n,
                        'diagonal': d.way[n + 1],
                        'x': d.reached[n + 1][(d.way[n + 1] + n) // 2 + 1]
                    }
                )) AS place
            FROM _diagonals AS d
        ) AS w
        WINDOW of_pair AS (PARTITION BY w.pair ORDER BY w.place.d)
    )

    SELECT
        l.pair,
        unnest(l.positions) AS baseline_position,
        unnest(l.other_positions) AS experiment_position
    FROM _lists AS l
    WHERE l.baseline = l.experiment
    UNION ALL
    SELECT
        r.pair,
        unnest(l.positions[coalesce(r.from_x, 0) + 1:r.x]) AS baseline_position,
        unnest(l.other_positions[coalesce(r.from_x, 0) + 1 - r.diagonal:r.x - r.diagonal])
            AS experiment_position
    FROM _runs AS r
    INNER JOIN _lists AS l ON r.pair = l.pair;
