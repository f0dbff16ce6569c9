-- view: trend
-- version: 1
-- since: 0.1
-- summary: One figure over all runs in order of time, with the runs at which it changed level.
-- grain: one row per run
-- distributes: warehouse
-- combines: trend_values(figure, name := name, runs := runs)
-- order: first_ns NULLS LAST, run
-- uses: change_points, delta, delta_pct, trend_values
-- example: drawn --figure step_us
-- reading: From the seventh run on, a step takes a quarter longer, and this is not noise.
--
-- Use this view for the runs of a nightly job, to see whether it became slower for good, and when. A change
-- point is a lasting step up or down: the values after it differ from those before it by their ranks, by
-- more than chance gives among all the places where a change could be. Noise and single outliers are not
-- change points. Several changes are found one by one, also a change that is reverted later. At least 11
-- runs are needed. With 17 runs before it, a change is found in the third run after it. The block
-- change_points has the method.
--
-- The figures are those of step_breakdown, gpu_summary, gpu_time and memory_curve:
--
-- - Per step, over the steps that are not tail steps: step_us, kernel_us, memcpy_us, memset_us,
--   communication_us, runtime_us, dataloader_us, cpu_exec_us, other_us.
-- - Means over the devices: gpu_utilization_pct, est_sm_efficiency_pct, est_achieved_occupancy_pct,
--   tensor_core_time_pct; and gpu_idle_pct and exposed_communication_pct, which are shares of the time from
--   the first device work to the last.
-- - Memory allocated on devices: peak_memory_bytes, mean_memory_bytes; and on the host:
--   peak_host_memory_bytes, mean_host_memory_bytes.
-- - Per step, of the operator called name: operator_calls, operator_host_self_us,
--   operator_device_self_us; of the kernel called name: kernel_calls, kernel_total_us.
--
-- For a run with several traces, a figure is the mean over its workers of the mean over the spans of each
-- worker, over the traces that record the figure. For figures per step, a trace without steps counts as one
-- step, unless another trace of its run has steps: then it is left out. A figure that no trace records is
-- NULL, and the run is skipped. An operator or kernel that does not occur counts as 0 if the run has others.
--
-- params
--   name    type     unit  default  meaning
--   figure  VARCHAR  -     -        Name of a figure, e.g. step_us; the page of the view lists them.
--   name    VARCHAR  -     NULL     Name of the operator or kernel, for the figures that need one.
--   runs    VARCHAR  -     '*'      Pattern of the runs to include, e.g. 'nightly/*'.
--   alpha   DOUBLE   -     0.05     A change is marked if its p-value is below this: the probability that pure noise has any mark.
-- columns
--   name             type     unit  meaning
--   run              VARCHAR  key   Name of the run.
--   first_ns         BIGINT   ns    Start of its first event, nanoseconds since the epoch; NULL if no trace says when it was recorded.
--   value            DOUBLE   -     The figure, in the unit of its name.
--   delta            DOUBLE   -     Difference to the previous run that has the figure.
--   delta_pct        DOUBLE   pct   The difference as a share of that run's value; NULL if that is 0.
--   level            DOUBLE   -     Median of the runs between two change points.
--   is_change_point  BOOLEAN  -     Whether the figure changes level with this run.
--   change_pct       DOUBLE   pct   Change of the level there, as a share of the previous level; NULL in other runs.
--   p_value          DOUBLE   -     Probability of a change this clear by chance; NULL in other runs.
CREATE MACRO trend_v1(
    figure VARCHAR,
    name VARCHAR := NULL,
    runs VARCHAR := '*',
    alpha DOUBLE := 0.05
) AS TABLE
    WITH
    traces_of_runs AS MATERIALIZED (
        SELECT
            v.run,
            v.worker,
            v.start_ns,
            CASE
                WHEN
                    v.is_recording AND bool_or(NOT v.is_recording) OVER (PARTITION BY v.run)
                    THEN NULL
                ELSE v.value
            END AS value
        FROM trend_values(figure, name := name, runs := runs) AS v
    ),

    wanted AS MATERIALIZED (
        SELECT t.run, min(t.start_ns) AS first_ns
        FROM traces_of_runs AS t
        GROUP BY t.run
    ),

    worker_values AS (
        SELECT v.run, v.worker, avg(v.value) AS value
        FROM traces_of_runs AS v
        GROUP BY v.run, v.worker
    ),

    run_values AS (
        SELECT v.run, avg(v.value) AS value
        FROM worker_values AS v
        GROUP BY v.run
    ),

    series AS MATERIALIZED (
        SELECT
            w.run,
            v.value,
            row_number() OVER (ORDER BY w.first_ns ASC NULLS LAST, w.run ASC) AS place
        FROM wanted AS w
        INNER JOIN run_values AS v ON w.run = v.run
        WHERE v.value IS NOT NULL
    ),

    -- Ranks tell values apart that only the rounding of a mean makes differ.
    rounded AS MATERIALIZED (
        SELECT s.place, round(s.value, 6) AS value
        FROM series AS s
    ),

    parts AS (
        SELECT
            s.run,
            s.place,
            s.value,
            lag(s.value) OVER (ORDER BY s.place) AS value_before,
            c.p_value,
            count(c.place) OVER (ORDER BY s.place) AS part
        FROM series AS s
        LEFT JOIN change_points('rounded', alpha) AS c ON s.place = c.place
    ),

    levels AS (
        SELECT
            p.run,
            p.place,
            p.value,
            p.value_before,
            p.p_value,
            median(p.value) OVER (PARTITION BY p.part) AS level
        FROM parts AS p
    ),

    changes AS (
        SELECT
            l.run,
            l.value,
            l.value_before,
            l.p_value,
            l.level,
            lag(l.level) OVER (ORDER BY l.place) AS level_before
        FROM levels AS l
    )

    SELECT
        w.run,
        w.first_ns,
        c.value,
        delta(c.value_before, c.value) AS delta,
        delta_pct(c.value_before, c.value) AS delta_pct,
        c.level,
        CASE WHEN c.run IS NOT NULL THEN c.p_value IS NOT NULL END AS is_change_point,
        CASE
            WHEN c.p_value IS NOT NULL
                THEN delta_pct(c.level_before, c.level)
        END AS change_pct,
        c.p_value
    FROM wanted AS w
    LEFT JOIN changes AS c ON w.run = c.run
    ORDER BY w.first_ns ASC NULLS LAST, w.run ASC;
