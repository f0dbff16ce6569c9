-- view: kernel_stats
-- version: 1
-- since: 0.1
-- summary: Calls, time and occupancy of each kernel.
-- distributes: worker
-- order: total_us DESC, run, worker, span, name, operator, grid, block, registers_per_thread, shared_memory_bytes
-- carries: spark
-- needs: no_device_events
-- empty: The devices ran no kernels, only copies and memsets.
-- notes: replay_notes
-- uses: checked_choice, first_id, is_wanted, matched_replays, operator_names, percentage, ratio, trace_names
-- example: samples --run gpt_eager --limit 5
-- reading: Five of 50 kernels take 37 % of the kernel time. One of them, a matrix product, uses tensor cores.
--
-- Kernels are the device work that computes or communicates; copies, memsets and synchronisations are not
-- listed. group_by 'launch' splits the rows of a name by its launch: operator, grid, block, registers and
-- shared memory. The operator is the nearest one around the launch, or the nearest annotation if there is no
-- operator. Kernels that a CUDA or HIP graph replayed have the operator that was called when they were captured, if
-- the capture is known (see graph_replays).
--
-- mean_blocks_per_sm and mean_est_achieved_occupancy_pct are weighted by duration, over the rows that have
-- a value.
--
-- params
--   name      type     unit  default  meaning
--   run, worker, span
--   group_by  VARCHAR  -     'name'   'name' or 'launch'.
--   step      BIGINT   -     NULL     Number of a step as recorded: only kernels whose launch call lies inside it; NULL reports all.
--   per_span, combine_workers
-- columns
--   name                             type       unit   meaning
--   run, worker, span
--   name                             VARCHAR    key    Name of the kernel.
--   operator                         VARCHAR    key    Operator or annotation that launched it; NULL where unknown, and unless grouped by 'launch'.
--   grid                             INTEGER[]  key    Blocks in x, y and z; NULL unless grouped by 'launch'.
--   block                            INTEGER[]  key    Threads per block in x, y and z; NULL unless grouped by 'launch'.
--   registers_per_thread             INTEGER    key    Registers per thread; NULL unless grouped by 'launch'.
--   shared_memory_bytes              BIGINT     bytes  Shared memory per block; NULL unless grouped by 'launch'.
--   calls                            BIGINT     -      Number of times it ran.
--   total_us                         DOUBLE     us     Sum of the durations.
--   mean_us                          DOUBLE     us     Mean duration.
--   median_us                        DOUBLE     us     Median duration, exact.
--   min_us                           DOUBLE     us     Shortest.
--   max_us                           DOUBLE     us     Longest.
--   stddev_us                        DOUBLE     us     Sample standard deviation; NULL for one call.
--   share_pct                        DOUBLE     pct    Share of total_us in the sum of all listed rows of the same run, worker and span.
--   cumulative_pct                   DOUBLE     pct    Running sum of share_pct, this row included.
--   uses_tensor_cores                BOOLEAN    -      Whether it uses tensor cores, by its name or by CUPTI counters; NULL if neither tells.
--   mean_blocks_per_sm               DOUBLE     -      Blocks of the grid divided by the number of multiprocessors.
--   mean_est_achieved_occupancy_pct  DOUBLE     pct    Occupancy that the launch allows.
CREATE MACRO kernel_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'name',
    step BIGINT := NULL,
    per_span BOOLEAN := FALSE,
    combine_workers BOOLEAN := FALSE
) AS TABLE
    WITH
    launches_in_step AS (
        SELECT h.run, h.worker, h.span, h.event_id
        FROM steps AS s
        INNER JOIN host_events AS h
            ON
                s.run = h.run
                AND s.worker = h.worker
                AND s.span = h.span
                AND s.start_ns <= h.start_ns
                AND s.end_ns >= h.start_ns + h.duration_ns
        WHERE s.step = step AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- Only for grouping by launch: numbering the traces opens a file of each.
    numbered AS (
        SELECT t.names
        FROM trace_names(run, worker, span) AS t
        WHERE group_by = 'launch'
    ),

    runs_of_kernels AS (
        SELECT
            d.run,
            CASE WHEN NOT combine_workers OR worker IS NOT NULL THEN d.worker END AS worker,
            CASE WHEN per_span OR span IS NOT NULL THEN d.span END AS span,
            d.span AS recording,
            d.event_id,
            d.name,
            d.grid,
            d.block,
            d.registers_per_thread,
            d.shared_memory_bytes,
            first_id(t.names, d.run, d.worker, d.span) + d.op_id AS operator_id,
            d.duration_ns,
            d.uses_tensor_cores,
            d.blocks_per_sm,
            d.est_achieved_occupancy_pct
        FROM device_events AS d
        LEFT JOIN numbered AS t ON TRUE
        WHERE
            (SELECT c.is_allowed FROM checked_choice('group_by', group_by, ['name', 'launch']) AS c)
            AND d.kind IN ('compute', 'communication')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
            AND (
                step IS NULL
                OR EXISTS (
                    FROM launches_in_step AS l
                    WHERE
                        l.run = d.run
                        AND l.worker = d.worker
                        AND l.span = d.span
                        AND l.event_id = d.launch_id
                )
            )
    ),

    grouped AS (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.name,
            CASE WHEN group_by = 'launch' THEN coalesce(r.operator, o.operator) END AS operator,
            CASE WHEN group_by = 'launch' THEN k.grid END AS grid,
            CASE WHEN group_by = 'launch' THEN k.block END AS block,
            CASE WHEN group_by = 'launch' THEN k.registers_per_thread END AS registers_per_thread,
            CASE WHEN group_by = 'launch' THEN k.shared_memory_bytes END AS shared_memory_bytes,
            count(*) AS calls,
            sum(k.duration_ns) AS total_ns,
            median(k.duration_ns) AS median_ns,
            min(k.duration_ns) AS min_ns,
            max(k.duration_ns) AS max_ns,
            stddev_samp(k.duration_ns) AS stddev_ns,
            bool_or(k.uses_tensor_cores) AS uses_tensor_cores,
            ratio(
                sum(k.blocks_per_sm * k.duration_ns),
                sum(k.duration_ns) FILTER (WHERE k.blocks_per_sm IS NOT NULL)
            ) AS mean_blocks_per_sm,
            ratio(
                sum(k.est_achieved_occupancy_pct * k.duration_ns),
                sum(k.duration_ns) FILTER (WHERE k.est_achieved_occupancy_pct IS NOT NULL)
            ) AS mean_est_achieved_occupancy_pct
        FROM runs_of_kernels AS k
        LEFT JOIN operator_names(run, worker, span) AS o
            ON group_by = 'launch' AND k.operator_id = o.id
        LEFT JOIN matched_replays(run, worker, span) AS r
            ON
                group_by = 'launch' AND k.run = r.run AND k.worker = r.worker
                AND k.recording = r.span AND k.event_id = r.event_id
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.operator,
        g.grid,
        g.block,
        g.registers_per_thread,
        g.shared_memory_bytes,
        g.calls,
        g.total_ns / 1000.0 AS total_us,
        g.total_ns / 1000.0 / g.calls AS mean_us,
        g.median_ns / 1000.0 AS median_us,
        g.min_ns / 1000.0 AS min_us,
        g.max_ns / 1000.0 AS max_us,
        g.stddev_ns / 1000.0 AS stddev_us,
        percentage(g.total_ns, sum(g.total_ns) OVER of_trace) AS share_pct,
        percentage(sum(g.total_ns) OVER so_far, sum(g.total_ns) OVER of_trace) AS cumulative_pct,
        g.uses_tensor_cores,
        g.mean_blocks_per_sm,
        g.mean_est_achieved_occupancy_pct
    FROM grouped AS g
    WINDOW
        of_trace AS (PARTITION BY g.run, g.worker, g.span),
        so_far AS (
            PARTITION BY g.run, g.worker, g.span
            ORDER BY
                g.total_ns DESC,
                g.name ASC, g.operator ASC, g.grid ASC, g.block ASC,
                g.registers_per_thread ASC, g.shared_memory_bytes ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY
        g.total_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.name ASC, g.operator ASC, g.grid ASC, g.block ASC,
        g.registers_per_thread ASC, g.shared_memory_bytes ASC;
