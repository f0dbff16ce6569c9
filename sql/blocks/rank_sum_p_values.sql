-- block: rank_sum_p_values
-- since: 0.1
-- summary: P-value of the Mann-Whitney test for a count of pairs that one of two samples wins.
-- grain: one row per key with values on both sides
-- uses: ratio
--
-- The two-sided test of Mann and Whitney (1947). It counts how many of the pairs with one value from each
-- side the baseline wins, where a tie is half a win. The p-value is the probability of a count at least as
-- far from half if the sides do not differ. The test assumes no distribution of the values, and the distance
-- of an outlier does not matter.
--
-- If a side has 8 values or fewer, no two values are equal, and there are at most a million pairs, all arrangements
-- are counted. The number of arrangements in which u of the n * m pairs are won is the coefficient of q^u in the
-- product of (1 - q^(m + i)) / (1 - q^i) over i from 1 to n. Otherwise the count is treated as normally distributed,
-- with corrections for ties and for continuity, and the p-value is at least that of the clearest arrangement.
-- scipy.stats.mannwhitneyu does the same, but counts any number of pairs and lacks that last rule; for few and tied
-- values, the normal distribution alone gives p-values that are too small.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with key, baseline_count, experiment_count, baseline_wins and tied: the sum of t * t - 1 over all values, where t is the number of values equal to that value.
-- columns
--   name           type    unit  meaning
--   key            BIGINT  key   As given: a number for each separate test.
--   p_value        DOUBLE  -     Probability by chance of a count at least as far from half the pairs.
--   least_p_value  DOUBLE  -     P-value if all values of one side were larger than all of the other.
CREATE MACRO rank_sum_p_values(rel VARCHAR) AS TABLE
    WITH RECURSIVE
    _samples AS MATERIALIZED (
        SELECT
            r.key,
            r.baseline_wins,
            r.baseline_count * r.experiment_count AS pairs,
            r.tied::DOUBLE AS tied,
            (r.baseline_count + r.experiment_count)::DOUBLE AS total,
            least(r.baseline_count, r.experiment_count) AS n,
            greatest(r.baseline_count, r.experiment_count) AS m
        FROM query_table(rel) AS r
        WHERE r.baseline_count > 0 AND r.experiment_count > 0
    ),

    _sizes AS (
        SELECT DISTINCT s.n, s.m
        FROM _samples AS s
        WHERE s.tied = 0 AND s.n <= 8 AND s.pairs <= 1000000
    ),

    -- One factor of the product at a time: the denominator is a running sum, the numerator a difference.
    _ways AS (
        SELECT c.n, c.m, 0 AS i, c.u, (c.u = 0)::HUGEINT AS ways
        FROM (
            SELECT z.n, z.m, unnest(range(z.n * z.m + 1)) AS u
            FROM _sizes AS z
        ) AS c
        UNION ALL
        SELECT
            f.n,
            f.m,
            f.i + 1,
            f.u,
            (sum(f.ways) OVER (PARTITION BY f.n, f.m, f.u % (f.i + 1) ORDER BY f.u))::HUGEINT
        FROM (
            SELECT
                w.n,
                w.m,
                w.i,
                w.u,
                w.ways
                - coalesce(
                    -- Not lag with a distance: DuckDB 1.5 cannot read that from a macro of 2.0.
                    sum(w.ways) OVER (
                        PARTITION BY w.n, w.m
                        ORDER BY w.u
                        ROWS BETWEEN (w.m + w.i + 1) PRECEDING AND (w.m + w.i + 1) PRECEDING  -- noqa: PRS
                    ),
                    0
                ) AS ways
            FROM _ways AS w
            WHERE w.i < w.n
        ) AS f
    ),

    _exact AS (
        SELECT
            w.n,
            w.m,
            w.u,
            (sum(w.ways) OVER (PARTITION BY w.n, w.m ORDER BY w.u))::DOUBLE
            / (sum(w.ways) OVER (PARTITION BY w.n, w.m))::DOUBLE AS tail
        FROM _ways AS w
        WHERE w.i = w.n
    ),

    _scored AS (
        SELECT
            s.key,
            2 * e.tail AS exact_p_value,
            -- The number of arrangements is whole: rounded, the probability is exact to the last bit.
            2 / round(exp(lgamma(s.total + 1) - lgamma(s.n + 1) - lgamma(s.m + 1)))
                AS least_p_value,
            ratio(
                abs(s.baseline_wins - s.pairs / 2.0) - 0.5,
                sqrt(s.pairs / 12.0 * (s.total + 1 - s.tied / (s.total * (s.total - 1))))
            ) AS z
        FROM _samples AS s
        LEFT JOIN _exact AS e
            ON
                s.tied = 0 AND s.n = e.n AND s.m = e.m
                AND least(s.baseline_wins, s.pairs - s.baseline_wins) = e.u
    ),

    -- The tail of the normal distribution: Abramowitz and Stegun, 26.2.17, accurate to 7.5e-8.
    _tails AS (
        SELECT
            c.key,
            c.exact_p_value,
            c.least_p_value,
            c.z,
            1 / (1 + 0.2316419 * c.z) AS t
        FROM _scored AS c
    )

    SELECT
        t.key,
        least(
            1,
            CASE
                WHEN t.exact_p_value IS NOT NULL THEN t.exact_p_value
                WHEN t.z > 0
                    THEN greatest(
                        t.least_p_value,
                        2 * exp(-t.z * t.z / 2) / sqrt(2 * pi()) * t.t
                        * (
                            0.319381530
                            + t.t * (
                                -0.356563782
                                + t.t * (1.781477937 + t.t * (-1.821255978 + t.t * 1.330274429))
                            )
                        )
                    )
                ELSE 1
            END
        ) AS p_value,
        t.least_p_value
    FROM _tails AS t;
