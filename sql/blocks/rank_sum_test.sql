-- block: rank_sum_test
-- since: 0.1
-- summary: Mann-Whitney test of whether two samples differ by more than chance, by the ranks of their values.
-- grain: one row per key with values
-- uses: rank_sum_p_values
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with key, is_experiment and value, one row per value; NULL values are left out.
-- columns
--   name              type    unit  meaning
--   key               BIGINT  key   As given: a number for each separate test.
--   baseline_count    BIGINT  -     Number of values of the baseline.
--   experiment_count  BIGINT  -     Number of values of the experiment.
--   baseline_wins     DOUBLE  -     Number of pairs in which the baseline has the larger value; a tie is half a win.
--   p_value           DOUBLE  -     Probability of a difference this large by chance; this and the next column are NULL if a side has no values.
--   least_p_value     DOUBLE  -     P-value if all values of one side were larger than all of the other.
CREATE MACRO rank_sum_test(rel VARCHAR) AS TABLE
    WITH
    _ranked AS (
        SELECT
            r.key,
            r.is_experiment,
            count(*) OVER (PARTITION BY r.key, r.value) AS peers,
            rank() OVER (PARTITION BY r.key ORDER BY r.value) AS first_rank
        FROM query_table(rel) AS r
        WHERE r.value IS NOT NULL
    ),

    _summed AS (
        SELECT
            r.key,
            count(*) FILTER (WHERE NOT r.is_experiment) AS baseline_count,
            count(*) FILTER (WHERE r.is_experiment) AS experiment_count,
            -- Equal values share their ranks.
            sum(r.first_rank + (r.peers - 1) / 2.0) FILTER (WHERE NOT r.is_experiment) AS rank_sum,
            sum(r.peers * r.peers - 1) AS tied
        FROM _ranked AS r
        GROUP BY r.key
    ),

    -- The ranks of the baseline's values, minus the ranks that they have among themselves.
    _counted AS MATERIALIZED (
        SELECT
            s.key,
            s.baseline_count,
            s.experiment_count,
            coalesce(s.rank_sum, 0) - s.baseline_count * (s.baseline_count + 1) / 2.0
                AS baseline_wins,
            s.tied
        FROM _summed AS s
    )

    SELECT
        c.key,
        c.baseline_count,
        c.experiment_count,
        c.baseline_wins,
        p.p_value,
        p.least_p_value
    FROM _counted AS c
    LEFT JOIN rank_sum_p_values('_counted') AS p ON c.key = p.key;
