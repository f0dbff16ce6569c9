-- view: trace_quality
-- version: 1
-- since: 0.1
-- summary: What is missing or wrong in a trace, and the profiler option that records it.
-- grain: one row per trace and finding
-- distributes: run
-- combines: traces; steps; collective_calls(); shortened_steps(); trace_contents(); unrecorded_threads(); unrecorded_work(); graph_replays_v1()
-- order: list_position(['error', 'warning', 'info'], severity), run, worker, span, "check"
-- empty: The checks found nothing missing and nothing wrong.
-- uses: as_time, clocks_apart, has_epoch, is_cut_off, jobs, recording_hint, shortened_steps, source_limits, trace_contents, unrecorded_threads, unrecorded_work, graph_replays_v1
-- example: samples --run ddp_gloo --worker rank0
--
-- A trace without findings has no rows. 'error' means that figures are wrong because events are missing,
-- 'warning' that some figures may mislead, 'info' that some views have no rows for the trace.
--
-- Of a trace that another program wrote, of one in which nothing ran, and of a file that was cut off, the checks do
-- not say which options would have recorded more.
--
-- Launches without kernels and kernels without launches are normal at both ends of a recording. Ranks
-- are compared within one run and recording, for jobs with more than one rank.
--
-- A clock is reported as not aligned in two cases. In the first, collectives in which every rank waits for
-- the last one, such as all_reduce, do not overlap with the same collectives of other ranks. If no
-- collective shows this, the second case is a step that lies entirely before or after the same step of the
-- median worker, which cannot happen in a job that communicates in every step. Times are not
-- corrected: the views of collectives compare durations.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   check     VARCHAR  key  Name of the check; it never changes.
--   severity  VARCHAR  -    'error', 'warning' or 'info'.
--   count     BIGINT   -    Number of events, steps, collectives or ranks concerned; NULL where it is the whole trace.
--   message   VARCHAR  -    What the finding means and what to do.
CREATE MACRO trace_quality_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- All ranks of a run count, also those that are not reported, so workers are filtered last.
    files AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.rank,
            t.world_size,
            t.skipped_events,
            t.skipped_reasons,
            t.source,
            is_cut_off(t.skipped_reasons) AS is_cut,
            coalesce(t.source, 'kineto') = 'kineto'
            AND coalesce(t.metadata ->> '$.profile_memory' = '1', FALSE) AS asked_memory,
            j.world_size AS job_ranks,
            count(DISTINCT coalesce(t.rank::VARCHAR, t.worker)) OVER (PARTITION BY j.job)
                AS present_ranks,
            count(t.rank) OVER (
                PARTITION BY t.run, t.span, t.world_size, t.rank
            ) AS traces_of_rank
        FROM traces AS t
        INNER JOIN jobs(run, span) AS j
            ON t.run = j.run AND t.worker = j.worker AND t.span = j.span
        WHERE
            (run IS NULL OR t.run = run)
            AND (span IS NULL OR t.span = span)
    ),

    findings AS (
        SELECT
            f.run,
            f.worker,
            f.span,
            f.source,
            f.is_cut,
            unnest([
                {
                    'check': 'truncated_file',
                    'severity': 'error',
                    'holds': f.is_cut,
                    'count': NULL,
                    'message': 'The file was cut off: the events after that place are lost, and '
                    || 'figures are of the rest; copy the file again, or record once more.'
                },
                {
                    'check': 'skipped_events',
                    'severity': 'error',
                    'holds': f.skipped_events > 0,
                    'count': f.skipped_events,
                    'message': 'Events that could not be ingested: '
                    -- The other reasons are repairs. Older versions had other words.
                    || coalesce(
                        nullif(
                            concat_ws(
                                ', ',
                                'unreadable_event (' || (f.skipped_reasons ->> '$.unreadable_event')
                                || ')',
                                'not_an_object (' || (f.skipped_reasons ->> '$.not_an_object')
                                || ')',
                                'damaged_rows (' || (f.skipped_reasons ->> '$.damaged_rows') || ')'
                            ),
                            ''
                        ),
                        f.skipped_reasons::VARCHAR
                    )
                },
                {
                    'check': 'missing_times',
                    'severity': 'error',
                    'holds': contains(f.skipped_reasons::VARCHAR, 'missing_times'),
                    'count': (f.skipped_reasons ->> '$.missing_times')::BIGINT,
                    'message': 'Events without a time or a duration: they are in other_events, and '
                    || 'views of operators, kernels and steps leave them out.'
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
                    || ' the median rank; do not compare times between ranks, and synchronise '
                    || 'the clocks of the hosts (NTP, PTP) before the next recording.'
                },
                {
                    'check': 'no_epoch',
                    'severity': 'info',
                    'holds': NOT has_epoch(f.skipped_reasons),
                    'count': NULL,
                    'message': 'The file does not say when it was recorded: compare no times with '
                    || 'those of other traces.'
                },
                {
                    'check': 'ranks_missing',
                    'severity': 'warning',
                    'holds': f.present_ranks < f.job_ranks,
                    'count': f.job_ranks - f.present_ranks,
                    'message': 'Only ' || f.present_ranks || ' of ' || f.job_ranks
                    || CASE
                        WHEN f.present_ranks = 1
                            THEN ' ranks is in the warehouse: figures over all ranks cover only it.'
                        ELSE ' ranks are in the warehouse: figures over all ranks cover only these.'
                    END
                },
                {
                    'check': 'rank_repeated',
                    'severity': 'warning',
                    'holds': f.world_size > 1 AND f.traces_of_rank > 1,
                    'count': f.traces_of_rank,
                    'message': 'Rank ' || f.rank || ' has ' || f.traces_of_rank || ' traces in '
                    || 'this recording, as if the job ran twice: ranks are not compared; ingest '
                    || 'each recording into a run of its own.'
                },
                {
                    'check': 'rank_unknown',
                    'severity': CASE WHEN f.present_ranks > 1 THEN 'warning' ELSE 'info' END,
                    -- A table of pipeline operations is of all ranks.
                    'holds': f.rank IS NULL AND f.source IS DISTINCT FROM 'pipeline'
                    AND NOT h.is_foreign,
                    'count': NULL,
                    'message': 'The trace does not record its rank: in a distributed job, call '
                    || 'init_process_group before the profiler starts, or put rank<N> in the '
                    || 'file name.'
                },
                {
                    'check': 'launches_without_kernels',
                    'severity': 'warning',
                    'holds': h.launches > coalesce(w.captured, 0),
                    'count': h.launches - coalesce(w.captured, 0),
                    'message': 'Launches without a recorded kernel: their operators show too '
                    || 'little device time; '
                    || CASE
                        WHEN f.is_cut
                            THEN 'the kernels are ' || recording_hint(f.source, 'lost') || '.'
                        WHEN h.has_counters AND h.replays IS NULL
                            THEN
                                'counters were recorded instead of kernels, so record once more '
                                || 'without profiler_metrics.'
                        ELSE 'synchronise the device before the profiler stops.'
                    END
                },
                {
                    'check': 'work_not_recorded',
                    'severity': 'warning',
                    'holds': coalesce(w.is_partial, FALSE),
                    'count': NULL,
                    'message': 'Launched work waited for ' || as_time(w.queued_us)
                    || ' while nothing was recorded on its device: '
                    || CASE
                        WHEN f.is_cut
                            THEN 'that work is ' || recording_hint(f.source, 'lost') || '.'
                        ELSE
                            'the device did something that is not in this trace, so it was '
                            || 'busier than the views show; record whole steps in one file, and '
                            || 'no other process on the device.'
                    END
                },
                {
                    'check': 'graph_capture',
                    'severity': CASE WHEN w.is_capture THEN 'warning' ELSE 'info' END,
                    'holds': w.captured > 0,
                    'count': w.captured,
                    'message': 'Launches that a graph captured: they ran no kernel here. For the '
                    || 'time of these kernels see a recording that replays the graph.'
                },
                {
                    'check': 'kernels_without_launches',
                    'severity': 'warning',
                    'holds': h.orphans > 0 AND h.operators IS NOT NULL,
                    'count': h.orphans,
                    'message': 'Device events without a recorded launch: they belong to no '
                    || 'operator; '
                    || CASE
                        WHEN f.is_cut
                            THEN 'the launches are ' || recording_hint(f.source, 'lost') || '.'
                        WHEN h.has_early_work
                            THEN
                                'they were launched before the recording began, so synchronise '
                                || 'the device before it begins.'
                        ELSE 'add a warmup step to the schedule.'
                    END
                },
                {
                    'check': 'threads_not_recorded',
                    'severity': 'warning',
                    'holds': u.kernels > 0 AND NOT f.is_cut
                    AND coalesce(f.source, 'kineto') = 'kineto',
                    'count': u.kernels,
                    'message': 'Kernels of PyTorch that '
                    || CASE WHEN u.threads = 1 THEN 'a thread' ELSE u.threads || ' threads' END
                    || ' without recorded operators launched: they belong to no operator; '
                    || recording_hint(f.source, 'threads') || '.'
                },
                {
                    'check': 'graph_replays',
                    'severity': 'info',
                    'holds': h.replays > 0,
                    'count': h.replays,
                    'message': 'Device events of graph replays: only the call that launched the '
                    || 'graph was recorded. graph_kernels shows the operators that were captured.'
                },
                {
                    'check': 'no_graph_capture',
                    'severity': 'info',
                    'holds': r.events > r.attributed_events,
                    'count': r.events - r.attributed_events,
                    'message': 'Device events of graph replays without a known operator: record '
                    || 'how the graphs are captured, into the folder capture_traces next to this '
                    || 'trace. vLLM: --profiler-config.capture_torch_profiler; SGLang: '
                    || '--enable-profile-cuda-graph and SGLANG_GRAPH_BATCH_CAPTURE=1; torch: '
                    || 'start the profiler before the graph is captured, with record_shapes=True. '
                    || 'With PyTorch 2.11 this helps on AMD GPUs only: captures on NVIDIA GPUs '
                    || 'have no names of kernels.'
                },
                {
                    'check': 'partial_overlaps',
                    'severity': 'info',
                    'holds': h.partial_overlaps > 0,
                    'count': h.partial_overlaps,
                    'message': 'Host events that end after the event in which they started: only '
                    || 'the part inside it is subtracted from its self time.'
                },
                {
                    'check': 'lost_frame_ends',
                    'severity': 'info',
                    'holds': contains(f.skipped_reasons::VARCHAR, 'lost_frame_ends'),
                    'count': (f.skipped_reasons ->> '$.lost_frame_ends')::BIGINT,
                    'message': 'Python frames that end after the function that called them: the '
                    || 'profiler lost their end. In the warehouse they end with that function.'
                },
                {
                    'check': 'recordings_of_other_times',
                    'severity': 'info',
                    'holds': contains(f.skipped_reasons::VARCHAR, 'recordings_of_other_times'),
                    'count': (f.skipped_reasons ->> '$.recordings_of_other_times')::BIGINT,
                    'message': 'Recordings of tracewh.record beside the trace that have nothing '
                    || 'from its time: they show another part of the training.'
                },
                {
                    'check': 'unknown_kinds',
                    'severity': 'warning',
                    'holds': h.is_foreign,
                    'count': NULL,
                    'message': 'No event is of a kind that the PyTorch profiler records, such as '
                    || 'an operator: perhaps another program wrote this trace. range_stats adds '
                    || 'its events up by name.'
                },
                {
                    'check': 'empty_recording',
                    'severity': 'warning',
                    'holds': h.is_empty AND NOT f.is_cut AND p.steps IS NULL,
                    'count': NULL,
                    'message': 'Nothing ran in the only step of this recording: the loop ended '
                    || 'just as the schedule began to record. Limit the schedule with repeat, or '
                    || 'ignore this trace.'
                },
                {
                    'check': 'shortened_steps',
                    'severity': 'warning',
                    'holds': p.steps > 0,
                    'count': p.steps,
                    'message': 'Steps that cover only the call of prof.step(), so figures per step '
                    || 'leave the work out: record without adjust_profiler_step=True in '
                    || 'experimental_config.'
                },
                {
                    'check': 'no_steps',
                    'severity': 'info',
                    'holds': NOT h.has_steps AND NOT h.is_foreign,
                    'count': NULL,
                    'message': 'No steps: ' || recording_hint(f.source, 'steps') || '.'
                },
                {
                    'check': 'no_device_events',
                    'severity': 'info',
                    'holds': h.replays IS NULL AND NOT h.is_foreign
                    AND (f.is_cut OR p.steps > 0 OR NOT h.is_empty),
                    'count': NULL,
                    'message': 'No work on a device: '
                    || CASE
                        WHEN h.has_counters
                            THEN
                                'counters were recorded instead of kernels, so record once more '
                                || 'without profiler_metrics'
                        WHEN h.launches > 0 AND h.launches <= w.captured
                            THEN 'a graph captured all launches'
                        WHEN h.launches > 0
                            THEN
                                'launches were recorded, but none of their kernels, so '
                                || 'synchronise the device before the profiler stops'
                        ELSE 'if the job uses one, ' || recording_hint(f.source, 'device')
                    END
                    || '.'
                },
                {
                    'check': 'no_operators',
                    'severity': 'info',
                    'holds': coalesce(h.operators, 0) = 0 AND NOT h.is_foreign
                    AND (f.is_cut OR p.steps > 0 OR NOT h.is_empty),
                    'count': NULL,
                    'message': 'No operators: '
                    || recording_hint(
                        f.source,
                        -- A step is recorded as operators are.
                        CASE
                            WHEN h.has_steps AND coalesce(f.source, 'kineto') = 'kineto'
                                THEN 'threads'
                            ELSE 'operators'
                        END
                    )
                    || '.'
                },
                {
                    'check': 'no_shapes',
                    'severity': 'info',
                    'holds': h.operators > 0 AND NOT h.has_shapes,
                    'count': h.operators,
                    'message': 'Operators without input shapes: '
                    || recording_hint(f.source, 'shapes') || '.'
                },
                {
                    'check': 'no_stacks',
                    'severity': 'info',
                    'holds': h.operators > 0 AND NOT h.has_stacks,
                    'count': h.operators,
                    'message': 'Operators without source lines: '
                    || recording_hint(f.source, 'stacks') || '.'
                },
                {
                    'check': 'no_modules',
                    'severity': 'info',
                    'holds': h.operators > 0 AND NOT h.has_modules,
                    'count': h.operators,
                    'message': 'Operators without modules: '
                    || CASE
                        WHEN h.has_frames THEN 'no nn.Module was called'
                        ELSE recording_hint(f.source, 'modules')
                    END || '.'
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
                    'holds': NOT h.has_memory AND NOT h.is_foreign
                    AND (f.is_cut OR p.steps > 0 OR NOT h.is_empty),
                    'count': NULL,
                    'message': 'No allocations: '
                    || recording_hint(
                        f.source, CASE WHEN f.asked_memory THEN 'asked_memory' ELSE 'memory' END
                    )
                    || '.'
                },
                {
                    'check': 'no_counters',
                    'severity': 'info',
                    'holds': h.replays IS NOT NULL AND NOT h.has_counters,
                    'count': NULL,
                    'message': 'No counters of kernels: '
                    || recording_hint(f.source, 'counters') || '.'
                }
            ]) AS finding
        FROM files AS f
        INNER JOIN trace_contents(run, worker, span) AS h
            ON f.run = h.run AND f.worker = h.worker AND f.span = h.span
        LEFT JOIN shortened_steps(run, worker, span) AS p
            ON f.run = p.run AND f.worker = p.worker AND f.span = p.span
        LEFT JOIN unrecorded_threads(run, worker, span) AS u
            ON f.run = u.run AND f.worker = u.worker AND f.span = u.span
        LEFT JOIN unrecorded_work(run, worker, span) AS w
            ON f.run = w.run AND f.worker = w.worker AND f.span = w.span
        LEFT JOIN (
            SELECT
                g.run,
                g.worker,
                g.span,
                sum(g.events)::BIGINT AS events,
                sum(g.attributed_events)::BIGINT AS attributed_events
            FROM graph_replays_v1(run := run, worker := worker, span := span) AS g
            GROUP BY g.run, g.worker, g.span
        ) AS r
            ON f.run = r.run AND f.worker = r.worker AND f.span = r.span
        -- Through a list: if DuckDB 2.0 plans the block together with the rest, it may fail with an
        -- internal error when a worker is given.
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

    -- Some of the sources need other words than those above.
    SELECT
        r.run,
        r.worker,
        r.span,
        r."check",
        r.severity,
        r."count",
        r.message
    FROM (
        SELECT
            g.run,
            g.worker,
            g.span,
            g.finding."check",
            g.finding.severity,
            g.finding.count::BIGINT AS "count",
            coalesce(
                CASE
                    WHEN
                        g.is_cut
                        AND g.finding."check" IN (
                            'no_steps', 'no_device_events', 'no_operators', 'no_shapes',
                            'no_stacks', 'no_modules', 'no_lightning', 'no_memory', 'no_counters'
                        )
                        THEN
                            split_part(g.finding.message, ': ', 1) || ': '
                            || recording_hint(g.source, 'lost') || '.'
                END,
                l.message,
                g.finding.message
            ) AS message
        FROM findings AS g
        LEFT JOIN source_limits() AS l ON g.source = l.source AND g.finding."check" = l."check"
        WHERE g.finding.holds
        UNION ALL
        SELECT
            f.run,
            f.worker,
            f.span,
            l."check",
            'info' AS severity,
            NULL::BIGINT AS "count",
            l.message
        FROM files AS f
        INNER JOIN source_limits() AS l ON f.source = l.source AND l.holds
        WHERE worker IS NULL OR f.worker = worker
    ) AS r
    ORDER BY
        list_position(['error', 'warning', 'info'], r.severity),
        r.run,
        r.worker,
        r.span,
        r."check";
