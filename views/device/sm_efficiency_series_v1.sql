-- view: sm_efficiency_series
-- version: 1
-- since: 0.1
-- summary: Share of each device that its kernels could use over time, in pieces of constant value.
-- grain: one row per piece and device of a trace
-- distributes: trace
-- order: run, worker, span, device_id, start_ns
-- carries: spark
-- needs: no_device_events
-- empty: No kernel has blocks per multiprocessor, which are recorded on NVIDIA GPUs only.
-- uses: device_key, device_trace_names, is_wanted
-- example: samples --run gpt_eager --limit 6
-- reading: The first kernels have too few blocks to fill all multiprocessors.
--
-- The value is the sum of the blocks per multiprocessor of all running kernels, at most 1. A piece begins
-- and ends where a kernel starts or ends; time without kernels has no row. A kernel without recorded blocks
-- counts as not running, so devices that record none, such as AMD and MTIA, have no rows. Collectives
-- count as kernels; copies and memsets do not.
--
-- The definition is that of the TensorBoard profiler plugin. It is an estimate: the blocks of a large grid
-- wait for each other, and a block need not use all of its multiprocessor.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id    INTEGER  key  Number of the device on its host.
--   start_ns     BIGINT   ns   Start of the piece, nanoseconds since the epoch.
--   duration_us  DOUBLE   us   Length of the piece.
--   value_pct    DOUBLE   pct  Share of the multiprocessors that the kernels could use.
CREATE MACRO sm_efficiency_series_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    kernel_runs AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            device_key(t.names, d.run, d.worker, d.span, d.device_id) AS device_key,
            d.start_ns,
            d.duration_ns,
            d.blocks_per_sm
        FROM device_events AS d
        CROSS JOIN device_trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication')
            AND d.blocks_per_sm > 0
            AND d.duration_ns > 0
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    used_devices AS MATERIALIZED (
        SELECT DISTINCT k.run, k.worker, k.span, k.device_id, k.device_key
        FROM kernel_runs AS k
    ),

    -- In 10^-9 of the device, because sums of whole numbers return to exactly 0. One kernel can fill a
    -- device only once, so a share above 1 counts as 1.
    changes AS (
        SELECT
            k.device_key,
            CASE WHEN e.is_start THEN k.start_ns ELSE k.start_ns + k.duration_ns END AS at_ns,
            CASE WHEN e.is_start THEN 1 ELSE -1 END
            * greatest(round(1e9 * least(k.blocks_per_sm, 1)), 1)::BIGINT AS change
        FROM kernel_runs AS k
        CROSS JOIN (VALUES (TRUE), (FALSE)) AS e (is_start)
    ),

    -- Sorted before the window, not by it: then the sum needs no memory.
    in_order AS (
        SELECT c.device_key, c.at_ns, c.change
        FROM changes AS c
        ORDER BY c.device_key, c.at_ns
    ),

    -- The sum is back at 0 where a device ends.
    pieces AS (
        SELECT
            o.device_key,
            o.at_ns AS start_ns,
            lead(o.at_ns) OVER () - o.at_ns AS duration_ns,
            sum(o.change) OVER (ROWS UNBOUNDED PRECEDING) AS filled  -- noqa: PRS, CP02
        FROM in_order AS o
    )

    SELECT
        u.run,
        u.worker,
        u.span,
        u.device_id,
        p.start_ns,
        p.duration_ns / 1000.0 AS duration_us,
        100.0 * least(p.filled / 1e9, 1) AS value_pct
    FROM pieces AS p
    INNER JOIN used_devices AS u ON p.device_key = u.device_key
    WHERE p.filled > 0 AND p.duration_ns > 0
    ORDER BY u.run, u.worker, u.span, u.device_id, p.start_ns;
