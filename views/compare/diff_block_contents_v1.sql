-- view: diff_block_contents
-- version: 1
-- since: 0.1
-- summary: Operators and kernels in each block of two aligned timelines, those that changed most.
-- grain: one row per block and operator, and per block and kernel
-- distributes: warehouse
-- order: path, kind DESC, position
-- empty: Neither run has operators or kernels in blocks: {record operators}.
-- notes: replay_notes
-- uses: aligned_blocks, kernels_in_parts, operators_in_parts
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2 --limit 6
-- reading: In the first step, two operators of the data set have left the training process.
--
-- diff_operators and diff_kernels with a `block` report one block, and this view many blocks at once. The
-- blocks are those of diff_modules. An operator counts in the block in which its call starts, and a kernel in
-- the block in which it was launched. They count in all blocks around that block, too, so do not add up
-- blocks of different depth.
--
-- Differences are experiment - baseline. An operator that does not occur in a block counts as 0 there. If
-- only one run has the block, the other has NULL, and so has the difference. A run on the host alone has no kernels,
-- and so has NULL for them.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL takes the lowest rank.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL takes the lowest rank.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL takes the first.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL takes the first.
--   depth              BIGINT   -     2        Number of levels of blocks below the trace.
--   most_blocks        BIGINT   -     50       Number of blocks to report: those whose time changed most.
--   most               BIGINT   -     20       Number of operators, and of kernels, to report for each block.
-- columns
--   name                    type     unit  meaning
--   path                    VARCHAR  key   Path of the block, as in diff_modules.
--   kind                    VARCHAR  key   'operator' or 'kernel'.
--   position                BIGINT   key   Place in its block, from 1; the largest difference in device time comes first, then that in host time.
--   name                    VARCHAR  -     Name of the operator or kernel.
--   baseline_calls          BIGINT   -     Number of calls in the baseline.
--   experiment_calls        BIGINT   -     Number of calls in the experiment.
--   delta_calls             BIGINT   -     Difference in calls.
--   baseline_device_us      DOUBLE   us    Time of the kernel, or of the device work that the operator launched itself, in the baseline.
--   experiment_device_us    DOUBLE   us    The same in the experiment.
--   delta_device_us         DOUBLE   us    Difference in device time.
--   baseline_replayed_us    DOUBLE   us    Part of baseline_device_us of an operator that graphs replayed; NULL for kernels.
--   experiment_replayed_us  DOUBLE   us    The same in the experiment.
--   baseline_host_us        DOUBLE   us    Host time of the operator itself in the baseline; NULL for kernels.
--   experiment_host_us      DOUBLE   us    The same in the experiment.
--   delta_host_us           DOUBLE   us    Difference in host time.
CREATE MACRO diff_block_contents_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    depth BIGINT := 2,
    most_blocks BIGINT := 50,
    most BIGINT := 20
) AS TABLE
    WITH
    blocks AS MATERIALIZED (
        SELECT
            a.path,
            a.baseline_worker,
            a.baseline_span,
            a.baseline_parts,
            a.experiment_worker,
            a.experiment_span,
            a.experiment_parts
        FROM
            aligned_blocks(
                baseline,
                experiment,
                baseline_worker,
                experiment_worker,
                baseline_span,
                experiment_span,
                depth
            ) AS a
        WHERE a.depth > 0
        QUALIFY
            row_number() OVER (
                ORDER BY
                    abs(coalesce(a.experiment_time_ns, 0) - coalesce(a.baseline_time_ns, 0)) DESC,
                    a.position ASC
            ) <= most_blocks
    ),

    parts AS MATERIALIZED (
        SELECT p.side, p.path, p.worker, p.span, p.part[1] AS start_ns, p.part[2] AS end_ns
        FROM (
            SELECT
                'baseline' AS side,
                b.path,
                b.baseline_worker AS worker,
                b.baseline_span AS span,
                unnest(b.baseline_parts) AS part
            FROM blocks AS b
            UNION ALL
            SELECT
                'experiment',
                e.path,
                e.experiment_worker,
                e.experiment_span,
                unnest(e.experiment_parts)
            FROM blocks AS e
        ) AS p
    ),

    traces_of_sides AS (
        SELECT DISTINCT
            p.side,
            CASE p.side WHEN 'baseline' THEN baseline ELSE experiment END AS run,
            p.worker,
            p.span
        FROM parts AS p
    ),

    found AS MATERIALIZED (
        SELECT
            'operator' AS kind, b.side, b.path, b.name, b.calls, b.device_self_us AS device_us,
            b.host_self_us AS host_us, b.replayed_us
        FROM operators_in_parts('parts', 'baseline', baseline, 'name') AS b
        UNION ALL
        SELECT
            'operator', e.side, e.path, e.name, e.calls, e.device_self_us, e.host_self_us,
            e.replayed_us
        FROM operators_in_parts('parts', 'experiment', experiment, 'name') AS e
        UNION ALL
        SELECT 'kernel', b.side, b.path, b.name, b.calls, b.total_us, NULL, NULL
        FROM kernels_in_parts('parts', 'baseline', baseline, 'name') AS b
        UNION ALL
        SELECT 'kernel', e.side, e.path, e.name, e.calls, e.total_us, NULL, NULL
        FROM kernels_in_parts('parts', 'experiment', experiment, 'name') AS e
    ),

    -- What the trace of each side records, in these blocks or elsewhere.
    recorded AS (
        SELECT r.side, r.kind, bool_or(r.has_device) AS has_device
        FROM (
            SELECT f.side, f.kind, f.device_us IS NOT NULL AS has_device
            FROM found AS f
            UNION ALL
            SELECT DISTINCT t.side, 'operator', h.plain_self_ns IS NOT NULL
            FROM host_events AS h
            INNER JOIN traces_of_sides AS t
                ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
            WHERE h.run IN (baseline, experiment) AND h.inner_self_ns IS NOT NULL
            UNION ALL
            SELECT DISTINCT t.side, 'kernel', TRUE
            FROM device_events AS d
            INNER JOIN traces_of_sides AS t
                ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
            WHERE d.run IN (baseline, experiment) AND d.kind IN ('compute', 'communication')
        ) AS r
        GROUP BY r.side, r.kind
    ),

    -- What a side has of an operator that does not occur in a block: 0, if the side has the block and records
    -- operators, and for device time if it recorded any. Likewise for a kernel.
    absent AS (
        SELECT
            b.path,
            k.kind,
            CASE WHEN b.baseline_parts IS NOT NULL AND o.side IS NOT NULL THEN 0 END AS baseline,
            CASE WHEN b.experiment_parts IS NOT NULL AND n.side IS NOT NULL THEN 0 END
                AS experiment,
            CASE WHEN b.baseline_parts IS NOT NULL AND o.has_device THEN 0 END
                AS baseline_device,
            CASE WHEN b.experiment_parts IS NOT NULL AND n.has_device THEN 0 END
                AS experiment_device
        FROM blocks AS b
        CROSS JOIN (VALUES ('operator'), ('kernel')) AS k (kind)
        LEFT JOIN recorded AS o ON k.kind = o.kind AND o.side = 'baseline'
        LEFT JOIN recorded AS n ON k.kind = n.kind AND n.side = 'experiment'
    ),

    summed AS (
        SELECT
            f.path,
            f.kind,
            f.name,
            (sum(f.calls) FILTER (WHERE f.side = 'baseline'))::BIGINT AS baseline_calls,
            (sum(f.calls) FILTER (WHERE f.side = 'experiment'))::BIGINT AS experiment_calls,
            sum(f.device_us) FILTER (WHERE f.side = 'baseline') AS baseline_device_us,
            sum(f.device_us) FILTER (WHERE f.side = 'experiment') AS experiment_device_us,
            sum(f.host_us) FILTER (WHERE f.side = 'baseline') AS baseline_host_us,
            sum(f.host_us) FILTER (WHERE f.side = 'experiment') AS experiment_host_us,
            sum(f.replayed_us) FILTER (WHERE f.side = 'baseline') AS baseline_replayed_us,
            sum(f.replayed_us) FILTER (WHERE f.side = 'experiment') AS experiment_replayed_us
        FROM found AS f
        GROUP BY f.path, f.kind, f.name
    ),

    paired AS (
        SELECT
            s.path,
            s.kind,
            s.name,
            coalesce(s.baseline_calls, a.baseline) AS baseline_calls,
            coalesce(s.experiment_calls, a.experiment) AS experiment_calls,
            coalesce(s.baseline_device_us, a.baseline_device) AS baseline_device_us,
            coalesce(s.experiment_device_us, a.experiment_device) AS experiment_device_us,
            CASE WHEN s.kind = 'operator' THEN coalesce(s.baseline_host_us, a.baseline) END
                AS baseline_host_us,
            CASE WHEN s.kind = 'operator' THEN coalesce(s.experiment_host_us, a.experiment) END
                AS experiment_host_us,
            CASE
                WHEN s.kind = 'operator' THEN coalesce(s.baseline_replayed_us, a.baseline_device)
            END AS baseline_replayed_us,
            CASE
                WHEN s.kind = 'operator'
                    THEN coalesce(s.experiment_replayed_us, a.experiment_device)
            END AS experiment_replayed_us
        FROM summed AS s
        INNER JOIN absent AS a ON s.path = a.path AND s.kind = a.kind
    ),

    placed AS (
        SELECT
            p.*,
            row_number() OVER (
                PARTITION BY p.path, p.kind
                ORDER BY
                    abs(p.experiment_device_us - p.baseline_device_us) DESC NULLS LAST,
                    abs(p.experiment_host_us - p.baseline_host_us) DESC NULLS LAST,
                    p.name ASC
            ) AS position
        FROM paired AS p
    )

    SELECT
        p.path,
        p.kind,
        p.position,
        p.name,
        p.baseline_calls,
        p.experiment_calls,
        p.experiment_calls - p.baseline_calls AS delta_calls,
        p.baseline_device_us,
        p.experiment_device_us,
        p.experiment_device_us - p.baseline_device_us AS delta_device_us,
        p.baseline_replayed_us,
        p.experiment_replayed_us,
        p.baseline_host_us,
        p.experiment_host_us,
        p.experiment_host_us - p.baseline_host_us AS delta_host_us
    FROM placed AS p
    WHERE p.position <= most
    ORDER BY p.path ASC, p.kind DESC, p.position ASC;
