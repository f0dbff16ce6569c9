-- view: verdict
-- version: 1
-- since: 0.1
-- summary: The answer in sentences: one headline, six key figures, and what costs most.
-- grain: one row per sentence, figure or finding of a trace
-- distributes: run
-- combines: traces; devices; graph_launches(); device_words(); used_devices(); costliest_collectives(); data_advice(); data_waits(); device_advice(); device_setup(); eligible_kernel_share(); frameworks(); label_time(); mean_mfu(); memory_fullness(); memory_growth(); optimizer_time(); recorded_intervals(); serving_advice(); slow_functions(); small_launches(); step_compilation(); step_synchronizations(); unrecorded_work(); used_groups(); gpu_summary_v1(); steps; recorded_kinds(); memory_peaks(); serving_verdict(); shortened_steps(); straggler_verdict(); unknown_events(); comm_overlap_v1(); operator_stats_v1(per_span := TRUE); step_breakdown_v1()
-- order: run, worker, span, list_position(['headline', 'gain', 'card', 'finding'], part), position
-- uses: as_bytes, as_digits, as_name, as_percent, as_time, device_words, finding_phrases, graph_launches, is_cut_off, is_wanted, mean_mfu, memory_growth, memory_peaks, percentage, recorded_kinds, recording_hint, serving_verdict, shortened_steps, straggler_verdict, unknown_events, unrecorded_work, worker_waits, comm_overlap_v1, gpu_summary_v1, operator_stats_v1, recommendations_v1, step_breakdown_summary_v1, step_breakdown_v1
-- example: samples --run ddp_gloo --worker rank0
-- reading: This rank waits for its data loader for a third of each step. Without that, a step would take 24 ms instead of 36 ms.
--
-- `tracewh summary` prints these rows. Each trace has the parts, in this order:
--
-- - headline: time per step, how busy the device is, and the costliest finding.
--   For a trace of serving it is about the steps that decode, or else about those that prefill: their median
--   time, requests, tokens per second, attention, time without launched work, and what limits them. The first four
--   cards are about the same steps. For a table of pipeline operations the headline is what stragglers cost, and why.
--   The cost of a finding is a mean over the steps. If one step takes at least twice as long as another, the cost may
--   lie in few of them, and is that 'of the average step'. If there is one step, it is that 'of the step'.
-- - gain: what a step would take without that finding. There is no such row without steps, without a
--   finding, and for low utilization, which has no single cause.
-- - card: six figures, always in the same places. Their names depend on what the trace recorded:
--
--       1  step_time      mean step; its range and the steps per second. Without steps, the whole recording
--       2  gpu_busy       mean utilization of the devices; SM efficiency, occupancy, and MFU where it is known
--          host_busy      if no kernel was recorded: share of the step in which operators run
--          busiest_thread for a trace of another program: share of the recording in which events run on the
--                         busiest thread
--       3  data_loading   waiting for the data loader per step
--          host_alone     if no data loader ran, but kernels did: time per step in which the host works or
--                         waits, and the devices do nothing
--          launch_gaps    for serving: time per step in which the device has no launched work
--       4  tensor_cores   share of the kernel time of operators and graphs in kernels that use tensor cores
--          top_operator   if no kernel was recorded: share of the operator with the most self time
--          top_event      for a trace of another program: share of the events with the most self time
--          attention      for serving: share of attention in the device work
--       5  communication  communication per step that no kernel hides; if no kernel was recorded, all of it
--       6  peak_memory    peak of the allocated memory; the capacity of the device, and how much memory grows
--                         per step if that is in every step
--
-- - finding: up to three rules of recommendations, the costliest first. Findings that cost less than 1 % of
--   the mean step are left out, and so are those whose cost is unknown.
--
-- A card without data has no value and no text. Its detail tells which option of the profiler records the
-- data, if there is one. Tables of pipeline operations and of counters hold no events, and traces of other
-- programs no operators, so their cards without data are left out. If there is nothing to record, the text
-- of a card is 'none'. Texts have two or three significant digits; value has all of them. All figures are
-- those of the views in the last column.
--
-- A worker that waits for another one has a finding that names the other one. recommendations lists it with every_rule
-- only, because the other worker has the finding that counts.
--
-- The headline says if graphs are captured, if the devices did work that is not in the trace, if nothing ran in
-- the recording, if another program seems to have written the trace, if steps cover no work, and if the file was cut
-- off. So do graph_capture, work_not_recorded, empty_recording, unknown_kinds, shortened_steps and truncated_file of
-- trace_quality. Of a file that was cut off, no card says which option records its data: they may be in the part that
-- is lost.
--
-- The gain assumes that the time of the finding disappears and nothing else changes. If the finding is an
-- upper bound, so is the gain, and both texts say so.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name        type     unit  meaning
--   part        VARCHAR  key   'headline', 'gain', 'card' or 'finding'.
--   position    INTEGER  key   Place within the part, from 1.
--   name        VARCHAR  -     What the row is about: the card as listed above, or the rule of recommendations; 'step_time' for the headline without a finding.
--   title       VARCHAR  -     Label of a card; cost of a finding as text; NULL for sentences.
--   value       DOUBLE   -     The figure, in the unit of column unit: mean step time (headline), step time to expect (gain), or cost per step (finding).
--   unit        VARCHAR  -     'us', 'pct' or 'bytes'; NULL without a value.
--   text        VARCHAR  -     The sentence, or the value of a card as text.
--   detail      VARCHAR  -     More about it: devices and steps (headline), or what was measured (finding).
--   remedy      VARCHAR  -     What to change, for a finding.
--   confidence  VARCHAR  -     'measured' or 'estimated', as in recommendations; NULL if the row depends on no finding.
--   view        VARCHAR  -     The view that has the evidence.
CREATE MACRO verdict_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    step_times AS MATERIALIZED (
        SELECT
            b.run,
            b.worker,
            b.span,
            count(b.step) FILTER (WHERE NOT b.is_tail) AS steps,
            min(b.total_us) FILTER (WHERE NOT b.is_tail) AS min_us,
            max(b.total_us) FILTER (WHERE NOT b.is_tail) AS max_us,
            bool_and(b.is_tail) AS is_empty
        FROM step_breakdown_v1(run := run, worker := worker, span := span) AS b
        GROUP BY b.run, b.worker, b.span
    ),

    mean_steps AS MATERIALIZED (
        SELECT
            b.run,
            b.worker,
            b.span,
            any_value(b.mean_us) FILTER (WHERE b.category = 'total') AS total_us,
            any_value(b.mean_us) FILTER (WHERE b.category = 'communication') AS communication_us,
            any_value(b.mean_us) FILTER (WHERE b.category = 'dataloader') AS dataloader_us,
            any_value(b.share_pct) FILTER (WHERE b.category = 'cpu_exec') AS operators_pct,
            any_value(b.share_pct) FILTER (WHERE b.category = 'other') AS other_pct,
            any_value(b.mean_us) FILTER (WHERE b.category = 'memcpy') AS copies_us,
            any_value(b.mean_us) FILTER (WHERE b.category = 'runtime') IS NOT NULL AS has_calls,
            sum(b.mean_us) FILTER (WHERE b.category IN ('kernel', 'memcpy', 'memset')) AS device_us,
            sum(b.mean_us) FILTER (WHERE b.category IN ('runtime', 'cpu_exec')) AS host_us
        FROM step_breakdown_summary_v1(run := run, worker := worker, span := span) AS b
        GROUP BY b.run, b.worker, b.span
    ),

    -- Steps that the user marks come first.
    served AS MATERIALIZED (
        SELECT v.*
        FROM serving_verdict(run, worker, span) AS v
        ANTI JOIN (
            SELECT DISTINCT p.run, p.worker, p.span
            FROM steps AS p
            WHERE starts_with(p.name, 'ProfilerStep#')
        ) AS p ON v.run = p.run AND v.worker = p.worker AND v.span = p.span
    ),

    busy AS MATERIALIZED (
        SELECT
            g.run,
            g.worker,
            g.span,
            count(*) AS devices,
            string_agg(DISTINCT g.name, ', ' ORDER BY g.name) AS models,
            avg(g.gpu_utilization_pct) AS busy_pct,
            min(g.gpu_utilization_pct) AS least_pct,
            avg(g.est_sm_efficiency_pct) AS sm_pct,
            avg(g.est_achieved_occupancy_pct) AS occupancy_pct,
            avg(g.tensor_core_time_pct) AS tensor_pct,
            avg(g.tensor_core_unknown_pct) AS unknown_pct
        FROM gpu_summary_v1(run := run, worker := worker, span := span) AS g
        GROUP BY g.run, g.worker, g.span
    ),

    operators AS MATERIALIZED (
        SELECT
            o.run,
            o.worker,
            o.span,
            arg_max(o.name, (o.host_self_us, o.name)) AS name,
            max(o.host_share_pct) AS share_pct,
            coalesce(sum(o.device_self_us), 0) AS device_us,
            coalesce(sum(o.replayed_us), 0) AS replayed_us
        FROM
            operator_stats_v1(
                run := run, worker := worker, span := span, per_span := TRUE
            ) AS o
        GROUP BY o.run, o.worker, o.span
    ),

    -- Work of graphs that no operator launched.
    replays AS MATERIALIZED (
        SELECT
            g.run,
            g.worker,
            g.span,
            coalesce(sum(g.duration_ns) FILTER (WHERE NOT g.has_operator), 0) / 1000.0 AS device_us
        FROM graph_launches(run, worker, span) AS g
        GROUP BY g.run, g.worker, g.span
    ),

    hidden AS MATERIALIZED (
        SELECT c.run, c.worker, c.span, c.overlap_pct
        FROM comm_overlap_v1(run := run, worker := worker, span := span) AS c
        WHERE c.step IS NULL
    ),

    listed_devices AS (
        SELECT d.run, d.worker, d.span, count(*) AS devices
        FROM devices AS d
        WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span
    ),

    -- The fullest device counts, and of equally full ones the last, as in memory_growth. The host counts only if no
    -- device recorded its memory.
    peaks AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            arg_max(
                { 'device': p.device, 'bytes': p.peak_bytes, 'capacity': d.total_memory_bytes },
                (
                    p.device <> 'cpu',
                    coalesce(p.peak_bytes / d.total_memory_bytes, 0),
                    p.peak_bytes,
                    p.device
                )
            ) AS peak
        FROM memory_peaks(run, worker, span) AS p
        LEFT JOIN devices AS d
            ON
                p.run = d.run AND p.worker = d.worker AND p.span = d.span
                AND p.device <> 'cpu'
                AND try_cast(split_part(p.device, ':', 2) AS INTEGER) = d.device_id
                AND d.total_memory_bytes > 0
        WHERE p.peak_bytes > 0
        GROUP BY p.run, p.worker, p.span
    ),

    -- A message has what was measured, then a colon and what to change, and at last what it costs.
    advice AS MATERIALIZED (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.rule,
            r.value,
            CASE WHEN w.waits_for IS NOT NULL THEN w.straggler_us ELSE r.cost_per_step_us END
                AS cost_us,
            CASE WHEN w.waits_for IS NOT NULL THEN 'estimated' ELSE r.confidence END AS confidence,
            w.waits_for,
            coalesce(w.waits_in_turn, FALSE) AS waits_in_turn,
            string_split(
                regexp_replace(r.message, ' This costs [a-z0-9. ]+ ms( per step)?\.$', ''), ': '
            ) AS sentences
        FROM
            recommendations_v1(
                run := run, worker := worker, span := span, every_rule := TRUE, per_span := TRUE
            ) AS r
        LEFT JOIN worker_waits(run, worker, span) AS w
            ON
                r.run = w.run AND r.worker = w.worker AND r.span = w.span
                AND r.rule = 'communication'
                AND r.explained_by IS DISTINCT FROM 'backend_not_nccl'
    ),

    -- Collectives count, as in gpu_summary. So a finding about communication tells nothing about this time.
    -- Nor does one about work that a serving step would not do, or do faster.
    kernel_times AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            coalesce(v.mean_busy_us, b.busy_pct / 100 * m.total_us) AS kernel_us
        FROM busy AS b
        INNER JOIN mean_steps AS m ON b.run = m.run AND b.worker = m.worker AND b.span = m.span
        LEFT JOIN served AS v ON b.run = v.run AND b.worker = v.worker AND b.span = v.span
    ),

    hints AS MATERIALIZED (
        SELECT
            a.run,
            a.worker,
            a.span,
            bool_or(a.rule = 'device_gaps') AS has_gaps,
            any_value(a.value) FILTER (WHERE a.rule = 'idle_gpus') AS idle_gpus,
            any_value(a.value - m.other_pct) FILTER (
                WHERE a.rule = 'outside_operators' AND a.value - m.other_pct > 0.05
            ) AS label_pct,
            any_value(a.value) FILTER (WHERE a.rule = 'memory_growth') AS growth_bytes,
            any_value(a.cost_us) FILTER (WHERE a.rule = 'data_loading') AS loading_us,
            any_value(a.value) FILTER (WHERE a.rule = 'tensor_cores_unused') AS eligible_pct
        FROM advice AS a
        INNER JOIN mean_steps AS m
            ON a.run = m.run AND a.worker = m.worker AND a.span = m.span
        GROUP BY a.run, a.worker, a.span
    ),

    findings AS MATERIALIZED (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.rule,
            a.cost_us,
            a.confidence,
            array_to_string(a.sentences[:-2], ': ') || '.' AS measured,
            CASE
                WHEN a.is_copying THEN 'Copy less, or on another stream while kernels run.'
                WHEN regexp_matches(a.sentences[-1], '^[a-z]+_') THEN a.sentences[-1]
                ELSE upper(a.sentences[-1][1]) || a.sentences[-1][2:]
            END AS remedy,
            CASE WHEN a.confidence = 'measured' THEN '' ELSE 'up to ' END AS up_to,
            -- Those who wait are other workers, and what they recorded may be longer.
            CASE WHEN a.rule = 'straggler' THEN a.value END AS waited_pct,
            CASE
                WHEN a.is_unrecorded THEN 'Nothing was recorded for'
                WHEN a.is_outside AND a.is_without_kernels THEN 'No operator runs for'
                WHEN a.is_copying
                    THEN 'The ' || a.device || ' copies memory and runs no kernel for'
                WHEN a.waits_for IS NOT NULL
                    THEN 'This worker waits for ' || a.waits_for || ' for'
                WHEN a.waits_in_turn THEN 'Waiting for other workers costs'
                WHEN a.is_small THEN 'Small collectives cost'
                ELSE replace(p.cause, '{device}', a.device)
            END AS cause,
            CASE
                WHEN a.is_unrecorded THEN 'record the host, too'
                WHEN a.frame <> '' THEN a.frame
                WHEN a.is_copying THEN 'copy less, or while kernels run'
                WHEN a.waits_for IS NOT NULL THEN 'see what delays it'
                WHEN a.waits_in_turn THEN 'balance the work of each step'
                WHEN a.is_small THEN 'join them into larger ones'
                WHEN a.lacks_workers THEN 'it has no workers'
                WHEN a.restarts_workers THEN 'it starts its workers again and again'
                WHEN a.is_on_host THEN 'send less, or less often'
                ELSE p.advice
            END AS advice,
            CASE
                WHEN a.is_copying THEN 'Copies take most of the time.'
                WHEN a.is_unrecorded THEN 'For most of the time nothing was recorded.'
                WHEN a.is_labelled
                    THEN
                        'The host works or waits in annotations. The average step counts them as '
                        || 'operators.'
                WHEN a.has_labels
                    THEN p.sentence || ' The average step counts annotations as operators.'
                WHEN a.waits_for IS NOT NULL THEN 'The step waits for ' || a.waits_for || '.'
                WHEN a.waits_in_turn THEN 'The step waits for whichever worker comes last.'
                WHEN a.is_small THEN 'The step waits for many small collectives.'
                ELSE replace(p.sentence, '{device}', a.device)
            END AS sentence,
            CASE
                WHEN a.is_copying THEN 'memory_copy_stats'
                WHEN a.is_of_pipeline THEN 'data_preparation_summary'
                WHEN a.waits_for IS NOT NULL OR a.waits_in_turn THEN 'comm_wait'
                WHEN a.is_on_host OR a.is_small THEN 'collective_stats'
                WHEN a.frame <> '' OR a.is_function THEN 'source_lines'
                WHEN a.is_labelled THEN 'annotation_breakdown'
                WHEN a.is_outside AND a.has_gaps THEN 'gpu_gaps'
                ELSE p.view
            END AS view,
            row_number() OVER (
                PARTITION BY a.run, a.worker, a.span ORDER BY a.cost_us DESC, a.rule ASC
            ) AS place
        FROM (
            SELECT
                r.*,
                n.device,
                b.busy_pct IS NULL AS is_without_kernels,
                r.rule = 'outside_operators' AS is_outside,
                r.rule = 'outside_operators' AND m.operators_pct IS NULL AS is_unrecorded,
                -- Of the time in which no operator runs, annotations are open for half or more.
                r.rule = 'outside_operators' AND h.label_pct >= 0.5 * r.value AS is_labelled,
                r.rule = 'outside_operators' AND h.label_pct > 0 AS has_labels,
                CASE
                    WHEN r.rule = 'outside_operators'
                        THEN regexp_extract(
                            r.sentences[-1], '^look at .* first(; most of that time is in .*\))?'
                        )
                    ELSE ''
                END AS frame,
                h.has_gaps,
                r.rule = 'data_loading' AND coalesce(m.dataloader_us, 0) = 0 AS is_of_pipeline,
                starts_with(r.sentences[-1], 'set num_workers') AS lacks_workers,
                starts_with(r.sentences[-1], 'keep one DataLoader') AS restarts_workers,
                contains(r.sentences[-1], ' do less work in ') AS is_function,
                r.rule = 'low_gpu_utilization' AND m.copies_us >= 0.5 * m.total_us AS is_copying,
                r.rule = 'communication'
                AND regexp_matches(r.sentences[-1], '^(join them|let FSDP wrap)') AS is_small,
                -- Of collectives without kernels beside them nobody can say what hides them.
                r.rule = 'communication' AND b.busy_pct IS NULL AS is_on_host
            FROM advice AS r
            INNER JOIN mean_steps AS m
                ON r.run = m.run AND r.worker = m.worker AND r.span = m.span
            INNER JOIN device_words(run, worker, span) AS n
                ON r.run = n.run AND r.worker = n.worker AND r.span = n.span
            LEFT JOIN served AS v
                ON r.run = v.run AND r.worker = v.worker AND r.span = v.span
            LEFT JOIN busy AS b
                ON r.run = b.run AND r.worker = b.worker AND r.span = b.span
            LEFT JOIN hints AS h
                ON r.run = h.run AND r.worker = h.worker AND r.span = h.span
            WHERE r.cost_us > 0 AND r.cost_us >= 0.01 * coalesce(v.mean_us, m.total_us)
        ) AS a
        INNER JOIN finding_phrases() AS p ON a.rule = p.rule
    ),

    facts AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.world_size,
            z.device,
            t.source,
            coalesce(v.mean_us, m.total_us) AS total_us,
            m.communication_us,
            -- The pipeline of MindSpore is recorded, and the loop that waits for it is not.
            coalesce(nullif(m.dataloader_us, 0), u.loading_us, m.dataloader_us) AS dataloader_us,
            p.peak,
            coalesce(k.has_batches, FALSE) AS has_batches,
            m.total_us IS NULL AND coalesce(k.has_async, FALSE) AS is_async,
            -- Labels count as operators in the breakdown, and not where they hide that none runs.
            m.operators_pct - coalesce(u.label_pct, 0) AS operators_pct,
            u.label_pct,
            m.device_us,
            coalesce(m.has_calls, FALSE) AS has_calls,
            CASE WHEN m.host_us > 0 OR o.name IS NOT NULL THEN m.host_us END AS alone_us,
            coalesce(v.steps, s.steps, 0) AS steps,
            coalesce(v.steps + v.other_steps, s.steps, 0) AS all_steps,
            v.step_name,
            CASE WHEN v.other_steps > 0 THEN v.step_name ELSE 'step' END AS step_word,
            v.p50_us,
            v.p90_us,
            v.starved_us,
            v.attention_pct,
            v.busy_pct AS served_pct,
            v.sentence,
            q.sentence AS straggler_sentence,
            q.step_us AS straggler_step_us,
            v.wait_says,
            v.rate_says,
            v.work_says,
            coalesce(v.min_us, s.min_us) AS min_us,
            coalesce(v.max_us, s.max_us) AS max_us,
            b.devices,
            b.models,
            b.busy_pct,
            b.least_pct,
            b.sm_pct,
            b.occupancy_pct,
            b.tensor_pct,
            b.unknown_pct,
            o.name AS operator,
            o.share_pct AS operator_pct,
            percentage(
                coalesce(o.device_us, 0)
                + greatest(coalesce(r.device_us, 0) - coalesce(o.replayed_us, 0), 0),
                m.device_us * greatest(s.steps, 1)
            ) AS launched_pct,
            h.overlap_pct,
            l.devices AS listed_devices,
            coalesce(k.has_memory, FALSE) AS has_memory,
            coalesce(t.source, 'kineto') = 'kineto'
            AND coalesce(t.metadata ->> '$.profile_memory' = '1', FALSE) AS asked_memory,
            is_cut_off(t.skipped_reasons) AS is_cut,
            y.run IS NOT NULL AS is_shortened,
            r.run IS NOT NULL AS has_graphs,
            u.idle_gpus,
            CASE WHEN e.device = p.peak.device THEN u.growth_bytes END AS growth_bytes,
            g.mfu_pct,
            u.eligible_pct,
            coalesce(k.has_counters, FALSE) AS has_counters,
            -- A tail step follows a whole one, unless it is the only step and nothing ran in it. What ran in a step
            -- may be in the part of the file that is lost.
            coalesce(s.is_empty, FALSE)
            AND y.run IS NULL
            AND NOT is_cut_off(t.skipped_reasons) AS is_empty,
            -- Kineto writes a version of its format, and so does hardly any other program.
            (x.run IS NOT NULL OR (m.total_us IS NULL AND coalesce(k.has_async, FALSE)))
            AND coalesce(t.source = 'kineto', FALSE)
            AND t.schema_version IS NULL AS is_foreign,
            x.events,
            x.threads,
            x.thread_name,
            percentage(x.thread_us, (t.end_ns - t.start_ns) / 1000.0) AS thread_pct,
            x.event_name,
            x.event_pct,
            -- A step is recorded as operators are. If there are only steps, the operators ran elsewhere.
            coalesce(s.steps > 0, FALSE) AND o.name IS NULL
            AND coalesce(t.source, 'kineto') = 'kineto' AS may_be_on_threads,
            coalesce(w.is_capture, FALSE) AS is_capture,
            coalesce(w.is_partial, FALSE) AS is_partial,
            w.queued_us,
            f.rule,
            f.cause,
            f.advice,
            f.confidence,
            f.up_to,
            f.cost_us,
            coalesce(f.waited_pct, percentage(f.cost_us, coalesce(v.mean_us, m.total_us)))
                AS cost_pct,
            f.view,
            -- Low utilization is a symptom: no change makes it disappear and leaves the rest as it is. Idle
            -- time can disappear, the time of kernels cannot.
            CASE
                WHEN
                    coalesce(v.steps, s.steps) > 0
                    AND y.run IS NULL
                    AND f.rule NOT IN ('low_gpu_utilization', 'low_utilization_periods')
                    THEN
                        greatest(
                            coalesce(v.mean_us, m.total_us) - f.cost_us, coalesce(i.kernel_us, 0)
                        )
            END AS expected_us,
            i.kernel_us,
            CASE WHEN coalesce(v.steps, s.steps) > 0 THEN 'the step' ELSE 'the recording' END
                AS whole
        FROM traces AS t
        LEFT JOIN mean_steps AS m ON t.run = m.run AND t.worker = m.worker AND t.span = m.span
        LEFT JOIN step_times AS s ON t.run = s.run AND t.worker = s.worker AND t.span = s.span
        LEFT JOIN served AS v ON t.run = v.run AND t.worker = v.worker AND t.span = v.span
        LEFT JOIN straggler_verdict(run, worker, span) AS q
            ON t.run = q.run AND t.worker = q.worker AND t.span = q.span
        LEFT JOIN busy AS b ON t.run = b.run AND t.worker = b.worker AND t.span = b.span
        LEFT JOIN mean_mfu(run, worker, span) AS g
            ON t.run = g.run AND t.worker = g.worker AND t.span = g.span
        LEFT JOIN operators AS o ON t.run = o.run AND t.worker = o.worker AND t.span = o.span
        LEFT JOIN replays AS r ON t.run = r.run AND t.worker = r.worker AND t.span = r.span
        LEFT JOIN hidden AS h ON t.run = h.run AND t.worker = h.worker AND t.span = h.span
        LEFT JOIN listed_devices AS l ON t.run = l.run AND t.worker = l.worker AND t.span = l.span
        LEFT JOIN peaks AS p ON t.run = p.run AND t.worker = p.worker AND t.span = p.span
        LEFT JOIN memory_growth(run, worker, span) AS e
            ON t.run = e.run AND t.worker = e.worker AND t.span = e.span
        LEFT JOIN recorded_kinds(run, worker, span) AS k
            ON t.run = k.run AND t.worker = k.worker AND t.span = k.span
        LEFT JOIN unrecorded_work(run, worker, span) AS w
            ON t.run = w.run AND t.worker = w.worker AND t.span = w.span
        LEFT JOIN shortened_steps(run, worker, span) AS y
            ON t.run = y.run AND t.worker = y.worker AND t.span = y.span
        LEFT JOIN device_words(run, worker, span) AS z
            ON t.run = z.run AND t.worker = z.worker AND t.span = z.span
        LEFT JOIN unknown_events(run, worker, span) AS x
            ON t.run = x.run AND t.worker = x.worker AND t.span = x.span
        LEFT JOIN hints AS u ON t.run = u.run AND t.worker = u.worker AND t.span = u.span
        LEFT JOIN findings AS f
            ON t.run = f.run AND t.worker = f.worker AND t.span = f.span AND f.place = 1
        LEFT JOIN kernel_times AS i
            ON
                t.run = i.run AND t.worker = i.worker AND t.span = i.span
                AND f.rule NOT IN (
                    'straggler', 'communication', 'backend_not_nccl', 'prefill_in_decode',
                    'padding', 'attention_efficiency'
                )
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ),

    sentences AS (
        SELECT
            f.run,
            f.worker,
            f.span,
            unnest([
                {
                    'part': 'headline',
                    'name': coalesce(f.rule, 'step_time'),
                    'value': coalesce(f.p50_us, f.total_us, f.straggler_step_us),
                    'text': CASE
                        WHEN f.is_cut
                            THEN 'The file was cut off, and figures are of the part that is left. '
                        ELSE ''
                    END
                    || CASE
                        WHEN f.total_us IS NULL AND f.straggler_sentence IS NOT NULL
                            THEN f.straggler_sentence
                        WHEN f.total_us IS NULL AND f.source = 'pipeline'
                            THEN
                                'A table of pipeline operations, without events: query the table '
                                || 'pipeline_operations.'
                        WHEN f.total_us IS NULL AND f.source = 'ncu'
                            THEN
                                'Counters of kernels, without times: see kernel_counters and '
                                || 'roofline.'
                        WHEN f.is_shortened
                            THEN
                                'Steps cover only the calls of prof.step(), and not the work: '
                                || 'record without adjust_profiler_step=True in '
                                || 'experimental_config.'
                        WHEN f.is_empty
                            THEN
                                'Nothing ran in this recording: the loop ended just as the '
                                || 'schedule began to record.'
                        WHEN f.total_us IS NULL AND f.has_batches
                            THEN
                                'Only the input pipeline was recorded: see '
                                || 'data_preparation_summary.'
                        WHEN f.is_async
                            THEN
                                'Only asynchronous events were recorded, which no view adds up: '
                                || 'query the table other_events.'
                        WHEN f.total_us IS NULL
                            THEN 'Nothing was recorded that takes time.'
                        WHEN f.is_foreign
                            THEN
                                as_time(f.total_us)
                                || CASE WHEN f.steps > 0 THEN ' per step' ELSE ' recorded' END
                                || '. Another program than the PyTorch profiler seems to have '
                                || 'written this trace; ' || as_name(f.event_name)
                                || ' takes the most time, ' || as_percent(f.event_pct)
                                || ' of all events.'
                        WHEN f.sentence IS NOT NULL
                            THEN
                                concat_ws(
                                    ' ',
                                    f.sentence,
                                    f.cause || ' ' || f.up_to || as_time(f.cost_us)
                                    || CASE
                                        WHEN f.max_us >= 2 * f.min_us
                                            THEN
                                                ' of the average step of '
                                                || as_time(f.total_us) || ' ('
                                        WHEN f.steps = 1 THEN ' of the step ('
                                        ELSE ' of every step ('
                                    END
                                    || as_percent(f.cost_pct)
                                    || ').'
                                )
                        ELSE
                            as_time(f.total_us)
                            || CASE WHEN f.steps > 0 THEN ' per step' ELSE ' recorded' END
                            || CASE
                                WHEN f.busy_pct IS NOT NULL
                                    THEN
                                        CASE
                                            WHEN f.devices > 1
                                                THEN ', ' || f.devices || ' ' || f.device || 's '
                                            ELSE ', ' || f.device || ' '
                                        END
                                        || as_percent(f.busy_pct) || ' busy'
                                        || CASE
                                            WHEN f.is_partial THEN ' with recorded work. ' ELSE '. '
                                        END
                                WHEN f.listed_devices > 0 THEN ', no kernel was recorded. '
                                ELSE ' on the CPU. '
                            END
                            || coalesce(
                                f.cause || ' ' || f.up_to || as_time(f.cost_us)
                                || CASE
                                    WHEN f.steps > 1 AND f.max_us >= 2 * f.min_us
                                        THEN ' of the average step ('
                                    WHEN f.steps = 1 THEN ' of the step ('
                                    WHEN f.steps > 0 THEN ' of every step ('
                                    ELSE ' ('
                                END
                                || as_percent(f.cost_pct)
                                || '): ' || f.advice || '.',
                                CASE
                                    WHEN f.is_capture
                                        THEN
                                            'Here graphs are captured, not run: see a recording '
                                            || 'that replays them.'
                                    WHEN f.is_partial
                                        THEN
                                            'Launched work waited ' || as_time(f.queued_us)
                                            || ' for something that is not in this trace, so the '
                                            || f.device || ' was busier than that.'
                                    WHEN f.busy_pct IS NULL
                                        THEN
                                            as_name(f.operator) || ' takes the most time, '
                                            || as_percent(f.operator_pct) || ' of all operators.'
                                END,
                                CASE
                                    WHEN
                                        f.busy_pct IS NULL
                                        AND f.operator IS NULL
                                        AND NOT f.has_batches
                                        THEN
                                            'No operator was recorded'
                                            || CASE
                                                WHEN f.may_be_on_threads
                                                    THEN ': perhaps other threads run them.'
                                                ELSE '.'
                                            END
                                END,
                                'No check found lost time'
                                || coalesce(
                                    ', but memory grows by ' || as_bytes(f.growth_bytes)
                                    || ' in every step',
                                    ''
                                )
                                || '.'
                            )
                    END
                },
                {
                    'part': 'gain',
                    'name': f.rule,
                    'value': f.expected_us,
                    'text': CASE
                        WHEN f.confidence = 'measured' THEN 'Without it, ' ELSE 'At best, '
                    END
                    || 'a step would take ' || as_time(f.expected_us)
                    || ' instead of ' || as_time(f.total_us)
                    || coalesce(
                        ', with the ' || f.device || ' '
                        || as_percent(percentage(f.kernel_us, f.expected_us))
                        || ' busy',
                        ''
                    )
                    || '.'
                }
            ]) AS entry
        FROM facts AS f
    ),

    cards AS (
        SELECT
            f.run,
            f.worker,
            f.span,
            unnest([
                CASE
                    WHEN f.sentence IS NOT NULL
                        THEN
                            {
                                'position': 1,
                                'name': 'step_time',
                                'title': upper(f.step_name[1]) || f.step_name[2:],
                                'value': f.p50_us,
                                'unit': 'us',
                                'text': as_time(f.p50_us),
                                'detail': concat_ws(
                                    ', ',
                                    CASE
                                        WHEN f.steps > 1
                                            THEN
                                                'the median of ' || f.steps || ', 90 % within '
                                                || as_time(f.p90_us)
                                        ELSE 'one step'
                                    END,
                                    f.rate_says
                                ),
                                'view': 'serving_summary'
                            }
                    ELSE
                        {
                            'position': 1,
                            'name': 'step_time',
                            'title': CASE WHEN f.steps > 0 THEN 'Step time' ELSE 'Recording' END,
                            'value': f.total_us,
                            'unit': 'us',
                            'text': as_time(f.total_us),
                            'detail': CASE
                                WHEN f.is_shortened THEN 'only the calls of prof.step()'
                                WHEN f.steps > 1
                                    THEN
                                        CASE
                                            WHEN as_time(f.min_us) = as_time(f.max_us)
                                                THEN 'in every step'
                                            ELSE as_time(f.min_us) || ' to ' || as_time(f.max_us)
                                        END
                                        || coalesce(
                                            ', ' || as_digits(1000000 / nullif(f.total_us, 0))
                                            || ' steps per second',
                                            ''
                                        )
                                WHEN f.steps = 1
                                    THEN
                                        'one step' || coalesce(
                                            ', ' || as_digits(1000000 / nullif(f.total_us, 0))
                                            || ' steps per second',
                                            ''
                                        )
                                WHEN f.is_empty THEN 'no complete step'
                                WHEN f.is_foreign THEN 'no steps'
                                ELSE
                                    'no steps; '
                                    || recording_hint(
                                        f.source, CASE WHEN f.is_cut THEN 'lost' ELSE 'steps' END
                                    )
                            END,
                            'view': 'step_breakdown'
                        }
                END,
                CASE
                    WHEN f.served_pct IS NOT NULL
                        THEN
                            {
                                'position': 2,
                                'name': 'gpu_busy',
                                'title': f.device || ' busy',
                                'value': f.served_pct,
                                'unit': 'pct',
                                'text': as_percent(f.served_pct),
                                'detail': concat_ws(
                                    ', ', 'of the ' || f.step_word, f.wait_says
                                ),
                                'view': 'serving_steps'
                            }
                    WHEN f.busy_pct IS NOT NULL
                        THEN
                            {
                                'position': 2,
                                'name': 'gpu_busy',
                                'title': f.device || ' busy',
                                'value': f.busy_pct,
                                'unit': 'pct',
                                'text': as_percent(f.busy_pct),
                                'detail': concat_ws(
                                    ', ',
                                    CASE
                                        WHEN f.devices > 1
                                            THEN
                                                f.devices || ' ' || f.device || 's'
                                                || ', the least busy ' || as_percent(f.least_pct)
                                    END,
                                    CASE
                                        WHEN f.is_capture THEN 'captured kernels do not run'
                                        WHEN f.is_partial THEN 'some work was not recorded'
                                    END,
                                    coalesce(
                                        'SM efficiency ' || as_percent(f.sm_pct),
                                        'SM efficiency is not recorded'
                                    ),
                                    'occupancy ' || as_percent(f.occupancy_pct),
                                    'MFU ' || as_percent(f.mfu_pct)
                                ),
                                'view': 'gpu_summary'
                            }
                    WHEN f.is_foreign
                        THEN
                            {
                                'position': 2,
                                'name': 'busiest_thread',
                                'title': 'Busiest thread',
                                'value': f.thread_pct,
                                'unit': 'pct',
                                'text': as_percent(f.thread_pct),
                                'detail': 'of the recording, ' || as_name(f.thread_name)
                                || CASE
                                    WHEN f.threads = 1 THEN ', the only thread'
                                    ELSE format(', of {:,} threads', f.threads)
                                END,
                                'view': 'timeline_lanes'
                            }
                    ELSE
                        {
                            'position': 2,
                            'name': 'host_busy',
                            'title': 'Operators',
                            'value': f.operators_pct,
                            'unit': 'pct',
                            'text': as_percent(f.operators_pct),
                            'detail': CASE
                                WHEN f.operators_pct IS NULL
                                    THEN f.operators_hint
                                WHEN f.label_pct > 0
                                    THEN
                                        'of ' || f.whole || '; for ' || as_percent(f.label_pct)
                                        || ' only annotations are open'
                                WHEN f.listed_devices > 0
                                    THEN
                                        'of ' || f.whole
                                        || CASE
                                            WHEN f.has_counters
                                                THEN '; counters were recorded instead of kernels'
                                            -- They come with the option for kernels.
                                            WHEN f.has_calls AND NOT f.is_cut
                                                THEN '; calls were recorded, but no kernels'
                                            ELSE
                                                '; no kernels, '
                                                || recording_hint(
                                                    f.source,
                                                    CASE WHEN f.is_cut THEN 'lost' ELSE 'device' END
                                                )
                                        END
                                ELSE 'of ' || f.whole || '; no ' || f.device || ' was recorded'
                            END,
                            'view': 'step_breakdown'
                        }
                END,
                CASE
                    WHEN f.served_pct IS NOT NULL
                        THEN
                            {
                                'position': 3,
                                'name': 'launch_gaps',
                                'title': 'Late launches',
                                'value': f.starved_us,
                                'unit': 'us',
                                'text': CASE
                                    WHEN f.starved_us = 0 THEN 'none' ELSE as_time(f.starved_us)
                                END,
                                'detail': CASE
                                    WHEN f.starved_us = 0
                                        THEN 'the ' || f.device || ' always has launched work'
                                    ELSE
                                        'per ' || f.step_word || ', in which the ' || f.device
                                        || ' has no launched work'
                                END,
                                'view': 'serving_steps'
                            }
                    WHEN f.dataloader_us > 0 OR f.busy_pct IS NULL
                        THEN
                            {
                                'position': 3,
                                'name': 'data_loading',
                                'title': 'Waiting for data',
                                'value': nullif(f.dataloader_us, 0),
                                'unit': 'us',
                                'text': CASE
                                    WHEN f.dataloader_us > 0 THEN as_time(f.dataloader_us)
                                    WHEN
                                        f.dataloader_us = 0 AND NOT f.is_foreign
                                        AND (f.has_batches OR f.source IS DISTINCT FROM 'mindspore')
                                        THEN 'none'
                                END,
                                'detail': CASE
                                    WHEN f.total_us IS NULL AND f.has_batches
                                        THEN 'see data_preparation_summary'
                                    WHEN f.dataloader_us IS NULL
                                        THEN f.operators_hint
                                    WHEN f.dataloader_us = 0 AND f.has_batches
                                        THEN 'the batches came in time'
                                    WHEN f.dataloader_us = 0 AND f.source = 'mindspore'
                                        THEN recording_hint(f.source, 'data')
                                    WHEN f.dataloader_us = 0 THEN 'no data loader ran'
                                    ELSE
                                        as_percent(percentage(f.dataloader_us, f.total_us))
                                        || ' of ' || f.whole
                                END,
                                'view': CASE
                                    WHEN f.total_us IS NULL AND f.has_batches
                                        THEN 'data_preparation_summary'
                                    ELSE 'step_breakdown'
                                END
                            }
                    ELSE
                        {
                            'position': 3,
                            'name': 'host_alone',
                            'title': 'Host alone',
                            'value': f.alone_us,
                            'unit': 'us',
                            'text': as_time(f.alone_us),
                            'detail': coalesce(
                                as_percent(percentage(f.alone_us, f.total_us)) || ' of ' || f.whole
                                || CASE
                                    WHEN f.is_partial
                                        THEN ', with no work of the ' || f.device || ' in the trace'
                                    ELSE ', with the ' || f.device || ' idle'
                                END,
                                f.operators_hint
                            ),
                            'view': 'step_breakdown'
                        }
                END,
                CASE
                    WHEN f.served_pct IS NOT NULL
                        THEN
                            {
                                'position': 4,
                                'name': 'attention',
                                'title': 'Attention',
                                'value': f.attention_pct,
                                'unit': 'pct',
                                'text': as_percent(f.attention_pct),
                                'detail': concat_ws(
                                    ', ',
                                    'of the ' || f.device || ' work'
                                    || CASE
                                        WHEN f.step_word = 'step' THEN ''
                                        ELSE ' of a ' || f.step_word
                                    END,
                                    f.work_says
                                ),
                                'view': 'attention_roofline'
                            }
                    WHEN f.is_foreign
                        THEN
                            {
                                'position': 4,
                                'name': 'top_event',
                                'title': 'Busiest event',
                                'value': f.event_pct,
                                'unit': 'pct',
                                'text': as_percent(f.event_pct),
                                'detail': format(
                                    '{}, of {:,} events', as_name(f.event_name), f.events
                                ),
                                'view': 'range_stats'
                            }
                    WHEN f.busy_pct IS NULL
                        THEN
                            {
                                'position': 4,
                                'name': 'top_operator',
                                'title': 'Busiest operator',
                                'value': f.operator_pct,
                                'unit': 'pct',
                                'text': as_percent(f.operator_pct),
                                'detail': coalesce(
                                    as_name(f.operator) || ', of all operators',
                                    f.operators_hint
                                ),
                                'view': 'operator_stats'
                            }
                    WHEN
                        f.tensor_pct IS NULL OR f.launched_pct < 50
                        OR (f.tensor_pct = 0 AND f.unknown_pct >= 50)
                        THEN
                            {
                                'position': 4,
                                'name': 'tensor_cores',
                                'title': 'Tensor cores',
                                'value': NULL,
                                'unit': 'pct',
                                'text': NULL,
                                'detail': CASE
                                    WHEN f.device NOT IN ('GPU', 'device')
                                        THEN 'unknown for ' || f.device || 's'
                                    WHEN f.operator IS NULL
                                        THEN f.operators_hint
                                    WHEN f.tensor_pct IS NULL
                                        THEN 'unknown: no operator launched a kernel'
                                    WHEN f.device_us = 0
                                        THEN 'unknown: no kernel ran in a step'
                                    WHEN f.launched_pct >= 50
                                        THEN
                                            'unknown: names of kernels do not tell for '
                                            || as_percent(f.unknown_pct) || ' of their time'
                                    ELSE
                                        'unknown: operators launched only '
                                        || as_percent(f.launched_pct) || ' of the '
                                        || f.device || ' time'
                                END,
                                'view': 'gpu_summary'
                            }
                    ELSE
                        {
                            'position': 4,
                            'name': 'tensor_cores',
                            'title': 'Tensor cores',
                            'value': f.tensor_pct,
                            'unit': 'pct',
                            'text': as_percent(f.tensor_pct),
                            'detail': CASE
                                WHEN f.eligible_pct > 0
                                    THEN
                                        as_percent(f.eligible_pct)
                                        || ' of kernel time could use them'
                                WHEN f.unknown_pct >= 1
                                    THEN
                                        'of kernel time, and up to ' || as_percent(f.unknown_pct)
                                        || ' more'
                                ELSE 'of kernel time'
                            END,
                            'view': 'gpu_summary'
                        }
                END,
                {
                    'position': 5,
                    'name': 'communication',
                    'title': CASE
                        WHEN f.busy_pct IS NULL THEN 'Communication' ELSE 'Exposed communication'
                    END,
                    'value': CASE WHEN f.overlap_pct IS NOT NULL THEN f.communication_us END,
                    'unit': 'us',
                    'text': CASE
                        WHEN f.overlap_pct IS NOT NULL THEN as_time(f.communication_us)
                        WHEN f.total_us IS NOT NULL AND NOT f.is_foreign THEN 'none'
                    END,
                    'detail': CASE
                        WHEN f.overlap_pct IS NOT NULL
                            THEN
                                as_percent(percentage(f.communication_us, f.total_us))
                                || ' of ' || f.whole
                                || CASE
                                    WHEN f.busy_pct IS NULL THEN ''
                                    ELSE '; kernels hide ' || as_percent(f.overlap_pct) || ' of all'
                                END
                        WHEN f.world_size > 1
                            THEN f.world_size || ' ranks, but no collective was recorded'
                        WHEN f.world_size = 1 THEN 'one rank'
                        ELSE 'no collective was recorded'
                    END
                    || coalesce(
                        '; ' || f.idle_gpus::INTEGER || ' more '
                        || f.device || CASE WHEN f.idle_gpus = 1 THEN '' ELSE 's' END || ' unused',
                        ''
                    ),
                    'view': CASE
                        WHEN f.busy_pct IS NULL AND f.overlap_pct IS NOT NULL
                            THEN 'collective_stats'
                        ELSE 'comm_overlap'
                    END
                },
                {
                    'position': 6,
                    'name': 'peak_memory',
                    'title': 'Peak memory',
                    'value': f.peak.bytes,
                    'unit': 'bytes',
                    'text': as_bytes(f.peak.bytes),
                    'detail': CASE
                        WHEN f.peak IS NOT NULL
                            THEN
                                CASE
                                    WHEN f.peak.device = 'cpu' THEN 'of the host'
                                    ELSE
                                        coalesce(
                                            as_percent(
                                                percentage(f.peak.bytes, f.peak.capacity)
                                            )
                                            || ' of ' || as_bytes(f.peak.capacity),
                                            'on ' || f.peak.device
                                        )
                                        || CASE
                                            WHEN f.has_graphs THEN ', outside graphs' ELSE ''
                                        END
                                END
                                || coalesce(
                                    ', and ' || as_bytes(f.growth_bytes) || ' more in every step',
                                    ''
                                )
                        WHEN f.has_memory
                            THEN
                                'only sizes of blocks; the PyTorch profiler records totals since '
                                || 'torch 1.10'
                        WHEN f.is_empty OR f.is_cut THEN f.operators_hint
                        -- It records no totals, whatever its options are.
                        WHEN f.source = 'nsys'
                            THEN 'use the PyTorch profiler: ' || recording_hint('kineto', 'memory')
                        WHEN f.asked_memory THEN recording_hint(f.source, 'asked_memory')
                        ELSE recording_hint(f.source, 'memory')
                    END,
                    'view': 'memory_at_peak'
                }
            ]) AS entry
        FROM (
            SELECT
                f.*,
                CASE
                    WHEN f.is_empty THEN 'nothing ran'
                    WHEN f.is_cut THEN recording_hint(f.source, 'lost')
                    WHEN f.is_shortened THEN 'the steps cover no work'
                    WHEN f.total_us = 0 THEN 'the steps last 0 us'
                    WHEN f.may_be_on_threads THEN recording_hint(f.source, 'threads')
                    ELSE recording_hint(f.source, 'operators')
                END AS operators_hint
            FROM facts AS f
        ) AS f
    ),

    entries AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.entry.part,
            1 AS position,
            s.entry.name,
            NULL AS title,
            s.entry.value,
            'us' AS unit,
            s.entry.text,
            CASE
                WHEN s.entry.part = 'headline'
                    THEN
                        nullif(
                            concat_ws(
                                ', ',
                                f.devices || ' x ' || f.models,
                                CASE
                                    WHEN f.all_steps = 1 THEN '1 step'
                                    WHEN f.all_steps > 1 THEN f.all_steps || ' steps'
                                END
                            ),
                            ''
                        )
            END AS detail,
            NULL AS remedy,
            f.confidence,
            CASE
                WHEN f.is_shortened THEN 'trace_quality'
                WHEN f.view IS NOT NULL THEN f.view
                WHEN f.total_us IS NULL AND f.source = 'ncu' THEN 'kernel_counters'
                WHEN f.total_us IS NULL AND f.has_batches THEN 'data_preparation_summary'
                WHEN f.sentence IS NOT NULL THEN 'serving_summary'
                WHEN f.total_us IS NULL AND f.straggler_sentence IS NOT NULL
                    THEN 'straggler_what_if'
                WHEN f.is_capture OR f.is_partial OR f.is_empty OR f.is_async OR f.is_cut
                    THEN 'trace_quality'
                WHEN f.is_foreign THEN 'range_stats'
                WHEN f.busy_pct IS NULL AND f.operator_pct IS NOT NULL THEN 'operator_stats'
                ELSE 'step_breakdown_summary'
            END AS view
        FROM sentences AS s
        INNER JOIN facts AS f ON s.run = f.run AND s.worker = f.worker AND s.span = f.span
        WHERE s.entry.part = 'headline' OR s.entry.value IS NOT NULL
        UNION ALL
        SELECT
            c.run,
            c.worker,
            c.span,
            'card',
            c.entry.position,
            c.entry.name,
            c.entry.title,
            c.entry.value,
            c.entry.unit,
            c.entry.text,
            c.entry.detail,
            NULL,
            NULL,
            c.entry.view
        FROM cards AS c
        INNER JOIN facts AS f ON c.run = f.run AND c.worker = f.worker AND c.span = f.span
        WHERE
            c.entry.text IS NOT NULL
            OR NOT (f.is_foreign OR coalesce(f.source IN ('ncu', 'pipeline'), FALSE))
        UNION ALL
        SELECT
            f.run,
            f.worker,
            f.span,
            'finding',
            f.place,
            f.rule,
            f.up_to || as_time(f.cost_us)
            || CASE WHEN s.steps > 0 THEN ' per step' ELSE '' END,
            f.cost_us,
            'us',
            CASE
                WHEN s.steps > 0 THEN f.sentence
                ELSE replace(f.sentence, 'The step waits', 'This worker waits')
            END,
            f.measured,
            f.remedy,
            f.confidence,
            f.view
        FROM findings AS f
        INNER JOIN step_times AS s ON f.run = s.run AND f.worker = s.worker AND f.span = s.span
        WHERE f.place <= 3
    )

    SELECT
        e.run,
        e.worker,
        e.span,
        e.part,
        e.position::INTEGER AS position,
        e.name,
        e.title,
        e.value,
        CASE WHEN e.value IS NOT NULL THEN e.unit END AS unit,
        e.text,
        e.detail,
        e.remedy,
        e.confidence,
        e.view
    FROM entries AS e
    ORDER BY
        e.run,
        e.worker,
        e.span,
        list_position(['headline', 'gain', 'card', 'finding'], e.part),
        e.position;
