-- block: step_changes
-- since: 0.1
-- summary: Time per step in two runs, its spread, and whether the runs differ by more than the noise.
-- grain: one row per key
-- uses: rank_sum_test
--
-- A step is the mean over the workers that recorded it. Workers wait for each other, and steps that depend
-- on each other must not count twice. A step without a row counts as 0. A whole recording, whose step is NULL, is not
-- tested against steps.
--
-- params
--   name   type     unit  default  meaning
--   rel    VARCHAR  -     -        Name of a relation with key, side, worker, span, step and value_ns, which is NULL where not recorded; one row per key and step.
--   units  VARCHAR  -     -        Name of a relation with side, worker, span and step: all compared steps.
-- columns
--   name                  type    unit  meaning
--   key                   BIGINT  key   As given: a number for each separate comparison.
--   baseline_steps        BIGINT  -     Number of steps of the baseline.
--   experiment_steps      BIGINT  -     Number of steps of the experiment.
--   baseline_median_us    DOUBLE  us    Median over the steps of the baseline.
--   experiment_median_us  DOUBLE  us    Median over the steps of the experiment.
--   baseline_iqr_us       DOUBLE  us    Interquartile range over the steps of the baseline.
--   experiment_iqr_us     DOUBLE  us    Interquartile range over the steps of the experiment.
--   p_value               DOUBLE  -     Probability of a difference this large by chance; this and the next column are NULL if a run has fewer than 2 steps, or if one has steps and the other whole recordings.
--   least_p_value         DOUBLE  -     P-value if all steps of one run took longer than all of the other.
CREATE MACRO step_changes(rel VARCHAR, units VARCHAR) AS TABLE
    WITH
    _keys AS (
        SELECT DISTINCT r.key
        FROM query_table(rel) AS r
    ),

    _units AS MATERIALIZED (
        SELECT DISTINCT u.side, u.worker, u.span, u.step
        FROM query_table(units) AS u
    ),

    _steps AS MATERIALIZED (
        SELECT u.side, u.span, u.step, count(*) AS workers
        FROM _units AS u
        GROUP BY u.side, u.span, u.step
    ),

    _alike AS (
        SELECT count(DISTINCT u.step IS NULL) < 2 AS are_alike
        FROM _units AS u
    ),

    -- Whole nanoseconds: their sums do not depend on the order, so equal values are found to be equal.
    _sums AS (
        SELECT
            r.key,
            r.side,
            r.span,
            r.step,
            sum(r.value_ns) AS value_ns,
            count(*) - count(r.value_ns) AS unknown
        FROM query_table(rel) AS r
        GROUP BY r.key, r.side, r.span, r.step
    ),

    _samples AS MATERIALIZED (
        SELECT
            k.key,
            s.side = 'experiment' AS is_experiment,
            CASE
                WHEN v.key IS NULL THEN 0
                WHEN s.workers > v.unknown THEN v.value_ns / (s.workers - v.unknown) / 1000.0
            END AS value
        FROM _keys AS k
        CROSS JOIN _steps AS s
        LEFT JOIN _sums AS v
            ON
                k.key = v.key AND s.side = v.side AND s.span = v.span
                AND s.step IS NOT DISTINCT FROM v.step
    ),

    _spreads AS (
        SELECT
            s.key,
            quantile_cont(s.value, [0.25, 0.5, 0.75]) FILTER (WHERE NOT s.is_experiment)
                AS baseline,
            quantile_cont(s.value, [0.25, 0.5, 0.75]) FILTER (WHERE s.is_experiment) AS experiment
        FROM _samples AS s
        GROUP BY s.key
    )

    SELECT
        s.key,
        coalesce(t.baseline_count, 0) AS baseline_steps,
        coalesce(t.experiment_count, 0) AS experiment_steps,
        s.baseline[2] AS baseline_median_us,
        s.experiment[2] AS experiment_median_us,
        s.baseline[3] - s.baseline[1] AS baseline_iqr_us,
        s.experiment[3] - s.experiment[1] AS experiment_iqr_us,
        CASE WHEN least(t.baseline_count, t.experiment_count) > 1 AND a.are_alike THEN t.p_value END
            AS p_value,
        CASE
            WHEN least(t.baseline_count, t.experiment_count) > 1 AND a.are_alike
                THEN t.least_p_value
        END AS least_p_value
    FROM _spreads AS s
    CROSS JOIN _alike AS a
    LEFT JOIN rank_sum_test('_samples') AS t ON s.key = t.key;
