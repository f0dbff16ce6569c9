-- view: diff_modules
-- version: 1
-- since: 0.1
-- summary: The timelines of two runs aligned block by block, with the difference in time of each block.
-- distributes: warehouse
-- order: abs(delta_us) DESC, position
-- empty: Neither run has an event with a duration: {record events}.
-- uses: aligned_blocks, checked_between, percentage, step_changes
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2 --depth 2 --limit 8
-- reading: The data loader takes 8 ms less of each step, and nothing else changes much.
--
-- The timeline of a run is that of one trace: the first span of the lowest rank (of the first worker by
-- name if ranks are not known), unless you give a worker or span. It consists of nested blocks: profiler
-- steps, data loading, module calls, backward passes (divided by module), optimizers, and user annotations.
-- Module blocks need a trace recorded with frames (with_stack) or by PyTorch Lightning. Their backward
-- blocks need sequence numbers as well. What torch wraps around a model, such as OptimizedModule of
-- torch.compile or DistributedDataParallel, is no block if the model inside is recorded: so a compiled
-- model is compared with the plain one.
--
-- Within two matching blocks, the child blocks are aligned in order of time, by a longest common
-- subsequence of kind and name: of equal names, the k-th matches the k-th. Names are compared without the
-- parts that identify instances and steps. A block without a counterpart is one row, including
-- everything in it. The time between two aligned blocks that no block covers is a row of kind 'unknown' for
-- both sides.
--
-- Each instant of a trace counts once. While the device works, it counts for the block that launched the
-- work, which is the block that the host was in at the launch. If several pieces of work run at once, the
-- first one to start counts. While the device is idle, the instant counts for the block that the host
-- is in. So a block that launched work has clock 'device': its time is the time that the device worked for
-- it, plus the time that the device was idle while the host was in it. Any other block has clock 'host': its
-- time is its host time without the part that device work hides. The rows of a level always add up to the
-- row that contains them, and the rows of the first level to the length of the trace. Host time from start
-- to end, and device work as a plain sum, have columns of their own, and add up too.
--
-- Work that a CUDA or HIP graph replayed counts for the block that launched the graph;
-- baseline_replayed_us and experiment_replayed_us say how much that is. module_stats, module_tree and
-- diff_block_contents have it by the modules and operators that captured it.
--
-- Whether a difference is more than noise is tested on the steps that both traces have, without those that
-- the end of the recording cut short, as in diff_steps. The tested value is the time of the block at the same
-- place in each step, e.g. of /ProfilerStep/forward, /ProfilerStep[2]/forward and so on, so all of these have
-- the same p-value. A step without the block counts as 0. Nothing tests what lies outside of steps, or in a
-- step that is not compared.
--
-- Differences are experiment - baseline; a side that is NULL counts as 0. The largest difference, positive or
-- negative, comes first; ORDER BY position gives the timeline. Cumulative figures run along a level.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL takes the lowest rank.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL takes the lowest rank.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL takes the first.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL takes the first.
--   depth              BIGINT   -     NULL     Number of levels to show below the trace, or below the block; NULL shows all.
--   block              VARCHAR  -     NULL     Path of a block: show only this block and its content; NULL shows the whole trace.
--   alpha              DOUBLE   -     0.05     A p-value below this level is significant.
-- columns
--   name                      type     unit  meaning
--   position                  BIGINT   key   Position in the timeline, from 0; a row comes before the rows in it.
--   path                      VARCHAR  key   Names from the outermost to the innermost, each after a '/', with [n] for the n-th block of a name in its level; '/' for the trace.
--   depth                     BIGINT   -     Level: 0 for the trace.
--   kind                      VARCHAR  -     'trace', 'step', 'dataloader', 'module', 'backward', 'optimizer', 'annotation' or 'unknown'.
--   name                      VARCHAR  -     Name that alignment uses, e.g. 'ProfilerStep', 'DataLoader', 'Linear', 'Linear.backward'.
--   matched                   BOOLEAN  -     Whether both runs have the block.
--   clock                     VARCHAR  -     'device' if either side launched device work in it, else 'host'.
--   baseline_us               DOUBLE   us    Time that counts for the block in the baseline; NULL if the baseline does not have it.
--   experiment_us             DOUBLE   us    The same in the experiment.
--   delta_us                  DOUBLE   us    Difference in that time.
--   delta_us_pct              DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0 or NULL.
--   baseline_cumulative_us    DOUBLE   us    Time of the baseline in this row and the rows before it in its level.
--   experiment_cumulative_us  DOUBLE   us    The same of the experiment.
--   cumulative_delta_us       DOUBLE   us    Difference of the two.
--   baseline_host_us          DOUBLE   us    Time on the host from start to end in the baseline.
--   experiment_host_us        DOUBLE   us    The same in the experiment.
--   delta_host_us             DOUBLE   us    Difference in host time.
--   delta_host_us_pct         DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0 or NULL.
--   baseline_device_us        DOUBLE   us    Sum of the device work launched in it in the baseline; NULL if the trace has none.
--   experiment_device_us      DOUBLE   us    The same in the experiment.
--   delta_device_us           DOUBLE   us    Difference in device work; NULL if a trace has none.
--   delta_device_us_pct       DOUBLE   pct   The difference as a share of the baseline; NULL if the baseline is 0 or NULL.
--   baseline_replayed_us      DOUBLE   us    Part of baseline_device_us that graphs replayed.
--   experiment_replayed_us    DOUBLE   us    The same in the experiment.
--   baseline_name             VARCHAR  -     Name as recorded in the baseline; NULL if the block has several events or none.
--   experiment_name           VARCHAR  -     The same in the experiment.
--   baseline_start_ns         BIGINT   ns    Start in the baseline, nanoseconds since the epoch.
--   experiment_start_ns       BIGINT   ns    The same in the experiment.
--   p_value                   DOUBLE   -     Probability of a difference this large by chance; NULL if the block is not in a compared step, or with fewer than 2 steps.
--   significant               BOOLEAN  -     Whether the p-value is below alpha; NULL if nothing tests the block, or if there are too few steps to tell.
CREATE MACRO diff_modules_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    depth BIGINT := NULL,
    block VARCHAR := NULL,
    alpha DOUBLE := 0.05
) AS TABLE
    WITH
    aligned AS MATERIALIZED (
        SELECT
            a.position,
            a.path,
            a.depth,
            a.kind,
            a.name,
            a.baseline_parts IS NOT NULL AND a.experiment_parts IS NOT NULL AS matched,
            a.baseline_time_ns,
            a.experiment_time_ns,
            coalesce(a.experiment_time_ns, 0) - coalesce(a.baseline_time_ns, 0) AS delta_ns,
            coalesce(sum(a.baseline_time_ns) OVER so_far, 0)::BIGINT AS baseline_cumulative_ns,
            coalesce(sum(a.experiment_time_ns) OVER so_far, 0)::BIGINT AS experiment_cumulative_ns,
            a.baseline_host_ns,
            a.experiment_host_ns,
            coalesce(a.experiment_host_ns, 0) - coalesce(a.baseline_host_ns, 0) AS delta_host_ns,
            a.baseline_device_ns,
            a.experiment_device_ns,
            coalesce(a.baseline_launches, 0) + coalesce(a.experiment_launches, 0) AS launches,
            a.baseline_replayed_ns,
            a.experiment_replayed_ns,
            a.baseline_name,
            a.experiment_name,
            a.baseline_parts[1][1] AS baseline_start_ns,
            a.experiment_parts[1][1] AS experiment_start_ns,
            a.baseline_worker,
            a.baseline_span,
            a.experiment_worker,
            a.experiment_span
        FROM
            aligned_blocks(
                baseline,
                experiment,
                baseline_worker,
                experiment_worker,
                baseline_span,
                experiment_span,
                CASE WHEN block IS NULL THEN depth END
            ) AS a
        WINDOW so_far AS (PARTITION BY a.outer_pair ORDER BY a.position)
    ),

    tails AS MATERIALIZED (
        SELECT s.run, s.worker, s.span, s.start_ns
        FROM steps AS s
        WHERE s.is_tail AND s.run IN (baseline, experiment)
    ),

    compared_steps AS MATERIALIZED (
        SELECT a.position, a.path
        FROM aligned AS a
        WHERE
            a.kind = 'step'
            AND a.matched
            AND NOT EXISTS (
                SELECT *
                FROM tails AS t
                WHERE
                    (
                        t.run = baseline
                        AND t.worker = a.baseline_worker
                        AND t.span = a.baseline_span
                        AND t.start_ns = a.baseline_start_ns
                    )
                    OR (
                        t.run = experiment
                        AND t.worker = a.experiment_worker
                        AND t.span = a.experiment_span
                        AND t.start_ns = a.experiment_start_ns
                    )
            )
    ),

    -- The blocks in a step follow it. The same place in each step has the same key.
    in_steps AS MATERIALIZED (
        SELECT
            n.position,
            n.step,
            dense_rank() OVER (ORDER BY n.kind, substr(n.path, len(n.step_path) + 1)) AS key,
            n.baseline_time_ns,
            n.experiment_time_ns
        FROM (
            SELECT
                a.position,
                a.path,
                a.kind,
                a.baseline_time_ns,
                a.experiment_time_ns,
                last_value(c.position IGNORE NULLS) OVER so_far AS step,
                last_value(c.path IGNORE NULLS) OVER so_far AS step_path
            FROM aligned AS a
            LEFT JOIN compared_steps AS c ON a.position = c.position
            WINDOW so_far AS (ORDER BY a.position ROWS UNBOUNDED PRECEDING)
        ) AS n
        WHERE n.path = n.step_path OR starts_with(n.path, n.step_path || '/')
    ),

    figures AS (
        SELECT
            i.key, 'baseline' AS side, '' AS worker, '' AS span, i.step,
            i.baseline_time_ns AS value_ns
        FROM in_steps AS i
        WHERE i.baseline_time_ns IS NOT NULL
        UNION ALL
        SELECT i.key, 'experiment', '', '', i.step, i.experiment_time_ns
        FROM in_steps AS i
        WHERE i.experiment_time_ns IS NOT NULL
    ),

    units AS (
        SELECT
            unnest(['baseline', 'experiment']) AS side, '' AS worker, '' AS span,
            c.position AS step
        FROM compared_steps AS c
    ),

    tested AS MATERIALIZED (
        SELECT i.position, c.p_value, c.least_p_value
        FROM in_steps AS i
        INNER JOIN step_changes('figures', 'units') AS c ON i.key = c.key
    ),

    -- Where both traces have work on a device.
    on_devices AS (
        SELECT
            a.position,
            coalesce(a.experiment_device_ns, 0) - coalesce(a.baseline_device_ns, 0) AS delta_ns
        FROM aligned AS a
        INNER JOIN aligned AS t
            ON
                t.path = '/'
                AND t.baseline_device_ns IS NOT NULL
                AND t.experiment_device_ns IS NOT NULL
    )

    SELECT
        a.position,
        a.path,
        a.depth,
        a.kind,
        a.name,
        a.matched,
        CASE WHEN a.launches > 0 THEN 'device' ELSE 'host' END AS clock,
        a.baseline_time_ns / 1000.0 AS baseline_us,
        a.experiment_time_ns / 1000.0 AS experiment_us,
        a.delta_ns / 1000.0 AS delta_us,
        percentage(a.delta_ns, a.baseline_time_ns) AS delta_us_pct,
        a.baseline_cumulative_ns / 1000.0 AS baseline_cumulative_us,
        a.experiment_cumulative_ns / 1000.0 AS experiment_cumulative_us,
        (a.experiment_cumulative_ns - a.baseline_cumulative_ns) / 1000.0 AS cumulative_delta_us,
        a.baseline_host_ns / 1000.0 AS baseline_host_us,
        a.experiment_host_ns / 1000.0 AS experiment_host_us,
        a.delta_host_ns / 1000.0 AS delta_host_us,
        percentage(a.delta_host_ns, a.baseline_host_ns) AS delta_host_us_pct,
        a.baseline_device_ns / 1000.0 AS baseline_device_us,
        a.experiment_device_ns / 1000.0 AS experiment_device_us,
        d.delta_ns / 1000.0 AS delta_device_us,
        percentage(d.delta_ns, a.baseline_device_ns) AS delta_device_us_pct,
        a.baseline_replayed_ns / 1000.0 AS baseline_replayed_us,
        a.experiment_replayed_ns / 1000.0 AS experiment_replayed_us,
        a.baseline_name,
        a.experiment_name,
        a.baseline_start_ns,
        a.experiment_start_ns,
        t.p_value,
        CASE
            WHEN t.least_p_value < checked_between('alpha', alpha, 0, 1) THEN t.p_value < alpha
        END AS significant
    FROM aligned AS a
    LEFT JOIN on_devices AS d ON a.position = d.position
    LEFT JOIN tested AS t ON a.position = t.position
    WHERE
        block IS NULL
        OR CASE
            WHEN (SELECT count(*) FROM aligned AS k WHERE k.path = block) = 0
                THEN
                    error(format(
                        'there is no block ''{}''; diff_modules shows which there are', block
                    ))
            ELSE
                (a.path = block OR starts_with(a.path, rtrim(block, '/') || '/'))
                AND (
                    depth IS NULL
                    OR a.depth - depth <= (SELECT k.depth FROM aligned AS k WHERE k.path = block)
                )
        END
    ORDER BY abs(a.delta_ns) DESC, a.position ASC;
