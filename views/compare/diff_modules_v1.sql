-- view: diff_modules
-- version: 1
-- since: 0.1
-- summary: The timelines of two runs side by side, block by block, and where their time differs.
-- distributes: warehouse
-- order: abs(delta_us) DESC, position
-- empty: Neither run has an event that lasts: record with ProfilerActivity.CPU among the activities.
-- uses: aligned_blocks, percentage
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2 --depth 2 --limit 8
-- reading: The loader takes 2.6 to 4.2 ms less of each step. The third forward pass and the first backward pass took longer, so that the trace is no shorter for it.
--
-- A timeline is that of one trace: the first span of the lowest rank (of the first worker by name where
-- ranks are not known), unless worker or span say otherwise. It is made of blocks in blocks: steps of the
-- profiler, the data loader, calls of modules, backward passes and in them what belongs to which module,
-- optimizers, and annotations of the user. Modules are there if the trace was recorded with frames
-- (with_stack) or by PyTorch Lightning, their backward if it has sequence numbers besides.
--
-- Two blocks that belong together have the blocks in them aligned in order of time, by a longest common
-- subsequence of kind and name: of equal names the k-th belongs to the k-th. A name is without what tells
-- instances and steps apart. A block without a counterpart is one row, with what is in it. The time that
-- no block fills, between one aligned block and the next, is a row of kind 'unknown' for both sides.
--
-- Each instant of a trace counts once. While the device works, it counts for the block that launched that
-- work (the one in which the host was then; of several things at once, for that of the first to start);
-- while it does not, for the block in which the host is. So a block that launched work has clock 'device':
-- its time is how long the device worked for it, and how long the device was idle while the host was in
-- it. Any other has clock 'host': its time on the host, less what device work hides. The rows of a level
-- add up to the row they are in, always, and those of the first level to the length of the trace. Time on
-- the host from start to end, and device work as a plain sum, have columns of their own, and add up too.
--
-- Differences are experiment - baseline, with nothing for a side that is NULL. The largest comes first, in
-- either direction; ORDER BY position gives the timeline. Cumulative figures run along a level.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL takes the lowest rank.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL takes the lowest rank.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL takes the first.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL takes the first.
--   depth              BIGINT   -     NULL     Levels to show below the trace, or below the block; NULL shows all.
--   block              VARCHAR  -     NULL     Path of a block: show it and what is in it; NULL shows the trace.
-- columns
--   name                      type     unit  meaning
--   position                  BIGINT   key   Place in the timeline, from 0: each row before those in it.
--   path                      VARCHAR  key   Names from the outermost in, after a '/' each, with [n] where it is the n-th of a name in its level; '/' for the trace.
--   depth                     BIGINT   -     Level: 0 for the trace.
--   kind                      VARCHAR  -     'trace', 'step', 'dataloader', 'module', 'backward', 'optimizer', 'annotation' or 'unknown'.
--   name                      VARCHAR  -     Name by which blocks are aligned, e.g. 'ProfilerStep', 'DataLoader', 'Linear', 'Linear.backward'.
--   matched                   BOOLEAN  -     Whether both sides have it.
--   clock                     VARCHAR  -     'device' if either side launched device work in it, else 'host'.
--   baseline_us               DOUBLE   us    Time that counts for it in the baseline; NULL where that does not have it.
--   experiment_us             DOUBLE   us    The same in the experiment.
--   delta_us                  DOUBLE   us    Difference in that time.
--   delta_us_pct              DOUBLE   pct   The same as a share of the baseline; NULL where that is 0 or NULL.
--   baseline_cumulative_us    DOUBLE   us    Time of the baseline in this row and those before it in its level.
--   experiment_cumulative_us  DOUBLE   us    The same of the experiment.
--   cumulative_delta_us       DOUBLE   us    Difference of the two.
--   baseline_host_us          DOUBLE   us    Time on the host from start to end in the baseline.
--   experiment_host_us        DOUBLE   us    The same in the experiment.
--   delta_host_us             DOUBLE   us    Difference in host time.
--   delta_host_us_pct         DOUBLE   pct   The same as a share of the baseline; NULL where that is 0 or NULL.
--   baseline_device_us        DOUBLE   us    Device work launched in it in the baseline, added up; NULL where the trace has none.
--   experiment_device_us      DOUBLE   us    The same in the experiment.
--   delta_device_us           DOUBLE   us    Difference in device work; NULL where a trace has none.
--   delta_device_us_pct       DOUBLE   pct   The same as a share of the baseline; NULL where that is 0 or NULL.
--   baseline_name             VARCHAR  -     Name as recorded in the baseline; NULL where several events or none stand for it.
--   experiment_name           VARCHAR  -     The same in the experiment.
--   baseline_start_ns         BIGINT   ns    When it starts in the baseline, nanoseconds since the epoch.
--   experiment_start_ns       BIGINT   ns    The same in the experiment.
CREATE MACRO diff_modules_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    depth BIGINT := NULL,
    block VARCHAR := NULL
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
            a.baseline_name,
            a.experiment_name,
            a.baseline_parts[1][1] AS baseline_start_ns,
            a.experiment_parts[1][1] AS experiment_start_ns
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

    -- Where both traces have work on a device.
    devices AS (
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
        a.baseline_name,
        a.experiment_name,
        a.baseline_start_ns,
        a.experiment_start_ns
    FROM aligned AS a
    LEFT JOIN devices AS d ON a.position = d.position
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
