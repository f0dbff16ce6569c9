-- view: trace_quality
-- version: 1
-- since: 0.1
-- summary: What is missing or odd in a trace, and the profiler option that would record it.
-- grain: one row per trace and finding
-- distributes: run
-- order: list_position(['error', 'warning', 'info'], severity), run, worker, span, "check"
-- uses: clocks_apart
-- example: samples --run ddp_gloo --worker rank0
--
-- A trace without findings has no rows. 'error' means that figures are wrong for want of events,
-- 'warning' that some of them may mislead, 'info' that some views have nothing to say.
--
-- Launches without kernels and kernels without launches are usual at both ends of a recording. Of
-- ranks, only those of a job with more than one are compared, within one run and recording.
--
-- A clock counts as not aligned where collectives that make every rank wait for the last, as all_reduce,
-- have no instant in common with the same ones of other ranks, or else where a step lies entirely before
-- or after the same step of the median worker, which no job that communicates in every step can do. No
-- instant is corrected for it: the views of collectives compare lengths.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   check     VARCHAR  key  What was found; one word that stays the same.
--   severity  VARCHAR  -    'error', 'warning' or 'info'.
--   count     BIGINT   -    Events, steps, collectives or ranks that it concerns; NULL where it concerns the whole trace.
--   message   VARCHAR  -    What it means, and what to do.
CREATE MACRO trace_quality_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- The other ranks of a run count although they are not reported, so workers are filtered last.
    files AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.rank,
            t.world_size,
            t.skipped_events,
            t.skipped_reasons,
            max(t.world_size) OVER ranks AS job_ranks,
            count(DISTINCT coalesce(t.rank::VARCHAR, t.worker)) OVER ranks AS present_ranks,
            row_number() OVER () << 40 AS first_id
        FROM traces AS t
        WHERE
            (run IS NULL OR t.run = run)
            AND (span IS NULL OR t.span = span)
        WINDOW ranks AS (PARTITION BY t.run, t.span)
    ),

    reported AS MATERIALIZED (
        SELECT f.*
        FROM files AS f
        WHERE worker IS NULL OR f.worker = worker
    ),

    host AS MATERIALIZED (
        SELECT
            f.first_id,
            f.first_id + h.event_id AS id,
            f.first_id + h.parent_id AS parent_id,
            h.start_ns + h.duration_ns AS end_ns,
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND contains(h.name, 'Launch')
            AND (contains(h.name, 'Kernel') OR contains(h.name, 'Graph')) AS is_launch,
            contains(h.name, 'Graph') AS is_graph,
            h.category = 'cpu_op' AS is_operator,
            h.input_dims IS NOT NULL AS has_shapes,
            h.call_stack IS NOT NULL OR h.category = 'python_function' AS has_stack,
            h.python_module_id IS NOT NULL OR h.module_hierarchy IS NOT NULL AS has_module,
            starts_with(h.name, '[pl]') AS is_lightning,
            h.category = 'python_function'
            AND (contains(h.name, 'pytorch_lightning/') OR contains(h.name, 'lightning/pytorch/'))
                AS is_lightning_frame
        FROM host_events AS h
        INNER JOIN reported AS f ON h.run = f.run AND h.worker = f.worker AND h.span = f.span
    ),

    device AS MATERIALIZED (
        SELECT f.first_id, f.first_id + d.launch_id AS launch_id, d.graph_id > 0 AS is_replay
        FROM device_events AS d
        INNER JOIN reported AS f ON d.run = f.run AND d.worker = f.worker AND d.span = f.span
        WHERE d.kind IN ('compute', 'communication', 'memcpy', 'memset')
    ),

    host_facts AS (
        SELECT
            h.first_id,
            count(*) FILTER (WHERE h.is_operator) AS operators,
            bool_or(h.has_shapes) AS has_shapes,
            bool_or(h.has_stack) AS has_stacks,
            bool_or(h.has_module) AS has_modules,
            bool_or(h.is_lightning_frame) AND NOT bool_or(h.is_lightning) AS lacks_lightning
        FROM host AS h
        GROUP BY h.first_id
    ),

    overlapping AS (
        SELECT c.first_id, count(*) AS partial_overlaps
        FROM host AS c
        INNER JOIN host AS p ON c.parent_id = p.id
        WHERE c.end_ns > p.end_ns
        GROUP BY c.first_id
    ),

    launches AS (
        SELECT h.first_id, count(*) AS without_kernels
        FROM host AS h
        WHERE
            h.is_launch
            AND NOT EXISTS (SELECT 1 FROM device AS d WHERE d.launch_id = h.id)
        GROUP BY h.first_id
    ),

    device_facts AS (
        SELECT
            d.first_id,
            count(*) FILTER (WHERE d.launch_id IS NULL) AS without_launches,
            count(*) FILTER (WHERE d.is_replay OR h.is_graph) AS replays
        FROM device AS d
        LEFT JOIN host AS h ON d.launch_id = h.id AND h.is_launch
        GROUP BY d.first_id
    ),

    stepped AS (
        SELECT DISTINCT s.run, s.worker, s.span
        FROM steps AS s
        WHERE s.step IS NOT NULL
    ),

    remembered AS (
        SELECT DISTINCT m.run, m.worker, m.span
        FROM memory_records AS m
    ),

    counted AS (
        SELECT DISTINCT c.run, c.worker, c.span
        FROM counters AS c
    ),

    findings AS (
        SELECT
            f.run,
            f.worker,
            f.span,
            unnest([
                {
                    'check': 'truncated_file',
                    'severity': 'error',
                    'holds': contains(f.skipped_reasons::VARCHAR, 'truncated'),
                    'count': NULL,
                    'message': 'The file ends in the middle of an event: what came after is lost.'
                },
                {
                    'check': 'skipped_events',
                    'severity': 'error',
                    'holds': f.skipped_events > 0,
                    'count': f.skipped_events,
                    'message': 'Events that could not be taken in: ' || f.skipped_reasons
                },
                {
                    'check': 'clocks_not_aligned',
                    'severity': 'warning',
                    'holds': c.clock.compared > 0,
                    'count': c.clock.compared,
                    'message': c.clock.evidence || ' that do not overlap with the same ones of '
                    || 'the other ranks: this clock is '
                    || abs(c.clock.ahead_ns) // 1000 || ' us '
                    || CASE WHEN c.clock.ahead_ns < 0 THEN 'behind' ELSE 'ahead of' END
                    || ' the median rank; compare no instants with other ranks, and synchronise '
                    || 'the clocks of the hosts (NTP, PTP) before the next recording.'
                },
                {
                    'check': 'ranks_missing',
                    'severity': 'warning',
                    'holds': f.present_ranks < f.job_ranks,
                    'count': f.job_ranks - f.present_ranks,
                    'message': 'Only ' || f.present_ranks || ' of ' || f.job_ranks
                    || ' ranks are here: figures over all ranks cover these only.'
                },
                {
                    'check': 'rank_unknown',
                    'severity': CASE WHEN f.present_ranks > 1 THEN 'warning' ELSE 'info' END,
                    'holds': f.rank IS NULL,
                    'count': NULL,
                    'message': 'The trace does not say its rank: in a distributed job call '
                    || 'init_process_group before the profiler starts, or put rank<N> in the '
                    || 'file name.'
                },
                {
                    'check': 'launches_without_kernels',
                    'severity': 'warning',
                    'holds': l.without_kernels > 0,
                    'count': l.without_kernels,
                    'message': 'Launches whose kernels were not recorded: their operators show too '
                    || 'little device time; synchronise the device before the profiler stops.'
                },
                {
                    'check': 'kernels_without_launches',
                    'severity': 'warning',
                    'holds': d.without_launches > 0 AND h.first_id IS NOT NULL,
                    'count': d.without_launches,
                    'message': 'Device events whose launch was not recorded: they belong to no '
                    || 'operator; give the schedule a warmup step.'
                },
                {
                    'check': 'graph_replays',
                    'severity': 'info',
                    'holds': d.replays > 0,
                    'count': d.replays,
                    'message': 'Device events replayed from graphs: they belong to the call that '
                    || 'launched the graph, not to the operators that were captured.'
                },
                {
                    'check': 'partial_overlaps',
                    'severity': 'info',
                    'holds': o.partial_overlaps > 0,
                    'count': o.partial_overlaps,
                    'message': 'Host events that end after the event they began in: only the part '
                    || 'inside counts against its self time.'
                },
                {
                    'check': 'no_steps',
                    'severity': 'info',
                    'holds': s.run IS NULL,
                    'count': NULL,
                    'message': 'No steps: give the profiler a schedule and call prof.step() after '
                    || 'each iteration.'
                },
                {
                    'check': 'no_device_events',
                    'severity': 'info',
                    'holds': d.first_id IS NULL,
                    'count': NULL,
                    'message': 'No work on a device: where the job uses one, record with '
                    || 'ProfilerActivity.CUDA (or XPU, ...) among the activities.'
                },
                {
                    'check': 'no_operators',
                    'severity': 'info',
                    'holds': coalesce(h.operators, 0) = 0,
                    'count': NULL,
                    'message': 'No operators: record with ProfilerActivity.CPU among the '
                    || 'activities.'
                },
                {
                    'check': 'no_shapes',
                    'severity': 'info',
                    'holds': h.operators > 0 AND NOT h.has_shapes,
                    'count': h.operators,
                    'message': 'Operators without input shapes: record with record_shapes=True.'
                },
                {
                    'check': 'no_stacks',
                    'severity': 'info',
                    'holds': h.operators > 0 AND NOT h.has_stacks,
                    'count': h.operators,
                    'message': 'Operators without source lines: record with with_stack=True.'
                },
                {
                    'check': 'no_modules',
                    'severity': 'info',
                    'holds': h.operators > 0 AND NOT h.has_modules,
                    'count': h.operators,
                    'message': 'Operators without modules: record with with_modules=True, and '
                    || 'with_stack=True for modules that are not TorchScript.'
                },
                {
                    'check': 'no_lightning',
                    'severity': 'info',
                    'holds': h.lacks_lightning,
                    'count': NULL,
                    'message': 'PyTorch Lightning without the rows of its profiler: record with '
                    || 'Trainer(profiler=PyTorchProfiler(...)).'
                },
                {
                    'check': 'no_memory',
                    'severity': 'info',
                    'holds': r.run IS NULL,
                    'count': NULL,
                    'message': 'No allocations: record with profile_memory=True.'
                },
                {
                    'check': 'no_counters',
                    'severity': 'info',
                    'holds': d.first_id IS NOT NULL AND n.run IS NULL,
                    'count': NULL,
                    'message': 'No CUPTI counters: record them by themselves, with '
                    || 'experimental_config=torch.profiler._ExperimentalConfig('
                    || 'profiler_metrics=["dram__bytes_read.sum", ...], '
                    || 'profiler_measure_per_kernel=True).'
                }
            ]) AS finding
        FROM reported AS f
        LEFT JOIN host_facts AS h ON f.first_id = h.first_id
        LEFT JOIN device_facts AS d ON f.first_id = d.first_id
        LEFT JOIN launches AS l ON f.first_id = l.first_id
        LEFT JOIN overlapping AS o ON f.first_id = o.first_id
        LEFT JOIN stepped AS s ON f.run = s.run AND f.worker = s.worker AND f.span = s.span
        LEFT JOIN remembered AS r ON f.run = r.run AND f.worker = r.worker AND f.span = r.span
        LEFT JOIN counted AS n ON f.run = n.run AND f.worker = n.worker AND f.span = n.span
        -- Through a list: where DuckDB 2.0 plans the block together with the rest, it may end in an
        -- internal error once a worker is asked for.
        LEFT JOIN (
            SELECT unnest(k.rows) AS clock
            FROM (
                SELECT
                    list({
                        'run': a.run,
                        'worker': a.worker,
                        'span': a.span,
                        'evidence': a.evidence,
                        'compared': a.compared,
                        'ahead_ns': a.ahead_ns
                    }) AS rows
                FROM clocks_apart(run, span) AS a
            ) AS k
        ) AS c
            ON f.run = c.clock.run AND f.worker = c.clock.worker AND f.span = c.clock.span
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.finding."check",
        g.finding.severity,
        g.finding.count::BIGINT AS "count",
        g.finding.message
    FROM findings AS g
    WHERE g.finding.holds
    ORDER BY
        list_position(['error', 'warning', 'info'], g.finding.severity),
        g.run,
        g.worker,
        g.span,
        g.finding."check";
