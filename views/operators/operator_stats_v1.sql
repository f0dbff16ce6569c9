-- view: operator_stats
-- version: 1
-- since: 0.1
-- summary: Calls, host time and device time of each operator.
-- distributes: worker
-- order: device_self_us DESC, host_self_us DESC, run, worker, span, name, input_dims, call_stack
-- carries: spark
-- needs: no_operators
-- empty: No operator has a call stack of its own, which group_by '{group_by}' needs: only the PyTorch profiler before torch 1.12 recorded them; source_lines has the lines of later traces.
-- notes: replay_notes
-- uses: checked_choice, operator_costs, percentage, replayed_costs
-- example: samples --run resnet_workers_0 --span 1 --limit 8
-- reading: The convolutions cost most, backward more than forward. Waiting is no operator: source_lines shows it.
--
-- Operators are the cpu_op rows of a trace; annotations and Python frames are not listed. An operator
-- whose only child is an operator of the same name forms one call with it. Host self time is the length
-- of a call without the operators, annotations, runtime calls and driver calls inside it, so the self times
-- of a thread never add up to more than its time. Device time is the plain sum of the launched kernels,
-- copies and memsets; where two of them overlap, the time counts twice. A launch belongs to the nearest
-- operator around it, and to the totals of all operators around that one.
--
-- Kernels that a CUDA or HIP graph replayed belong to the operators that were called when the graph was
-- captured, if the capture is known (see graph_replays). Such operators have device time, but no calls and no host time
-- of the replay; replayed_calls and replayed_us say how much of a row comes from replays.
--
-- The kernel's name tells whether it uses tensor cores. The two tensor_core_unknown columns cover kernels
-- whose names do not tell: the tensor core shares could be larger by up to that much.
--
-- Shares are of self time, because total time counts nested operators again.
--
-- The operator table of the TensorBoard plugin has the same figures with two exceptions: it loses the
-- runtime calls of the outer row of a merged chain, and on traces after 2021 it assigns a call without an
-- external id to the first event that has none either.
--
-- params
--   name      type     unit  default  meaning
--   run, worker, span
--   group_by  VARCHAR  -     'name'   'name', 'input_shape', 'call_stack' or 'input_shape_call_stack'; the last two list only calls with a stack.
--   step      BIGINT   -     NULL     Number of a step as recorded: only operators that start inside it, on any thread; NULL reports all.
--   per_span
-- columns
--   name                           type     unit  meaning
--   run, worker, span
--   name                           VARCHAR  key   Name of the operator.
--   input_dims                     JSON     key   Shape of each input; NULL where not recorded or not grouped by it.
--   call_stack                     VARCHAR  key   Python frames, innermost first; NULL where not grouped by it.
--   calls                          BIGINT   -     Number of calls.
--   host_self_us                   DOUBLE   us    Host time of the operator itself.
--   host_total_us                  DOUBLE   us    Host time from start to end.
--   device_self_us                 DOUBLE   us    Device work that it launched itself; NULL where the trace does not link device work to operators.
--   device_total_us                DOUBLE   us    The same, with the operators below it.
--   tensor_core_eligible           BOOLEAN  -     Whether it, or an operator below it, can use tensor cores.
--   tensor_core_self_pct           DOUBLE   pct   Share of device_self_us in kernels that use tensor cores; NULL without device_self_us.
--   tensor_core_total_pct          DOUBLE   pct   Share of device_total_us in such kernels.
--   tensor_core_unknown_self_pct   DOUBLE   pct   Share of device_self_us in kernels whose names do not tell whether they use tensor cores.
--   tensor_core_unknown_total_pct  DOUBLE   pct   Share of device_total_us in such kernels.
--   host_share_pct                 DOUBLE   pct   Share of host_self_us in the sum of all listed rows of the same run, worker and span.
--   device_share_pct               DOUBLE   pct   The same for device_self_us.
--   cumulative_pct                 DOUBLE   pct   Running sum of device_share_pct; of host_share_pct if no row has device_self_us.
--   replayed_calls                 BIGINT   -     Number of times that graphs replayed a captured call.
--   replayed_us                    DOUBLE   us    Part of device_self_us that graphs replayed.
CREATE MACRO operator_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'name',
    step BIGINT := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    wanted_steps AS (
        SELECT s.run, s.worker, s.span, s.start_ns, s.end_ns
        FROM steps AS s
        WHERE s.step = step
    ),

    costs AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.name,
            c.input_dims,
            c.call_stack,
            c.start_ns,
            1 AS calls,
            0 AS replays,
            c.host_self_ns,
            c.host_total_ns,
            c.device_self_ns,
            c.device_total_ns,
            c.tensor_core_self_ns,
            c.tensor_core_total_ns,
            c.unknown_self_ns,
            c.unknown_total_ns,
            c.tensor_core_eligible
        FROM operator_costs(run, worker, span) AS c
        UNION ALL
        SELECT
            r.run,
            r.worker,
            r.span,
            r.name,
            r.input_dims,
            r.call_stack,
            r.start_ns,
            0,
            r.replays,
            0,
            0,
            r.device_self_ns,
            r.device_total_ns,
            r.tensor_core_self_ns,
            r.tensor_core_total_ns,
            r.unknown_self_ns,
            r.unknown_total_ns,
            r.tensor_core_eligible
        FROM replayed_costs(run, worker, span) AS r
    ),

    grouped AS (
        SELECT
            c.run,
            c.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN c.span END AS span,
            c.name,
            CASE WHEN group_by IN ('input_shape', 'input_shape_call_stack') THEN c.input_dims END
                AS input_dims,
            CASE WHEN group_by IN ('call_stack', 'input_shape_call_stack') THEN c.call_stack END
                AS call_stack,
            sum(c.calls)::BIGINT AS calls,
            sum(c.replays)::BIGINT AS replayed_calls,
            sum(CASE WHEN c.replays > 0 THEN c.device_self_ns ELSE 0 END) AS replayed_ns,
            sum(c.host_self_ns) AS host_self_ns,
            sum(c.host_total_ns) AS host_total_ns,
            sum(c.device_self_ns) AS device_self_ns,
            sum(c.device_total_ns) AS device_total_ns,
            sum(c.tensor_core_self_ns) AS tensor_core_self_ns,
            sum(c.tensor_core_total_ns) AS tensor_core_total_ns,
            sum(c.unknown_self_ns) AS unknown_self_ns,
            sum(c.unknown_total_ns) AS unknown_total_ns,
            bool_or(c.tensor_core_eligible) AS tensor_core_eligible
        FROM costs AS c
        WHERE
            (
                SELECT a.is_allowed
                FROM
                    checked_choice(
                        'group_by',
                        group_by,
                        ['name', 'input_shape', 'call_stack', 'input_shape_call_stack']
                    ) AS a
            )
            AND (group_by IN ('name', 'input_shape') OR c.call_stack <> '')
            AND (
                step IS NULL
                OR EXISTS (
                    FROM wanted_steps AS s
                    WHERE
                        s.run = c.run
                        AND s.worker = c.worker
                        AND s.span = c.span
                        AND c.start_ns >= s.start_ns
                        AND c.start_ns < s.end_ns
                )
            )
        GROUP BY ALL
    ),

    -- Sums over all listed rows of a worker, and over those above.
    summed AS (
        SELECT
            g.*,
            nullif(sum(g.host_self_ns) OVER alike, 0) AS host_ns,
            nullif(sum(g.device_self_ns) OVER alike, 0) AS device_ns,
            sum(g.host_self_ns) OVER so_far AS host_so_far_ns,
            sum(g.device_self_ns) OVER so_far AS device_so_far_ns
        FROM grouped AS g
        WINDOW
            alike AS (PARTITION BY g.run, g.worker, g.span),
            so_far AS (
                PARTITION BY g.run, g.worker, g.span
                ORDER BY
                    g.device_self_ns DESC NULLS LAST,
                    g.host_self_ns DESC,
                    g.name ASC, g.input_dims ASC, g.call_stack ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            )
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.input_dims,
        g.call_stack,
        g.calls,
        g.host_self_ns / 1000.0 AS host_self_us,
        g.host_total_ns / 1000.0 AS host_total_us,
        g.device_self_ns / 1000.0 AS device_self_us,
        g.device_total_ns / 1000.0 AS device_total_us,
        g.tensor_core_eligible,
        percentage(g.tensor_core_self_ns, g.device_self_ns) AS tensor_core_self_pct,
        percentage(g.tensor_core_total_ns, g.device_total_ns) AS tensor_core_total_pct,
        percentage(g.unknown_self_ns, g.device_self_ns) AS tensor_core_unknown_self_pct,
        percentage(g.unknown_total_ns, g.device_total_ns) AS tensor_core_unknown_total_pct,
        100.0 * g.host_self_ns / g.host_ns AS host_share_pct,
        100.0 * g.device_self_ns / g.device_ns AS device_share_pct,
        CASE
            WHEN g.device_ns IS NULL THEN 100.0 * g.host_so_far_ns / g.host_ns
            ELSE 100.0 * g.device_so_far_ns / g.device_ns
        END AS cumulative_pct,
        g.replayed_calls,
        g.replayed_ns / 1000.0 AS replayed_us
    FROM summed AS g
    ORDER BY
        g.device_self_ns DESC NULLS LAST,
        g.host_self_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.name ASC, g.input_dims ASC, g.call_stack ASC;
