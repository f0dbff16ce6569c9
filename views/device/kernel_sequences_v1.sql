-- view: kernel_sequences
-- version: 1
-- since: 0.1
-- summary: Sequences of kernels that the calls of an operator launch, with their number and time.
-- grain: one row per worker and sequence
-- distributes: worker
-- order: device_us DESC, run, worker, span, pattern
-- carries: spark
-- needs: no_operators, no_device_events
-- empty: No call launched {min_length} or more kernels, copies and memsets that are linked to their launch. A lower min_length lists shorter sequences, if there are any.
-- uses: first_id, is_wanted, percentage, trace_names
-- example: samples --run gpt_compiled
-- reading: Three sequences, each once per step: the backward pass takes 53 % of their time on the device, the forward pass 25 % and the loss 22 %.
--
-- The sequence of a call is its name followed by the kernels, copies and memsets launched inside it, by
-- the call itself or by what it calls, in the order in which they started. A call inside another matching
-- call is part of that call. So without an operator the sequences are those of the outermost operators.
-- A long sequence with many calls is a candidate for fusion or for a graph.
--
-- A value of operator with a % in it is a pattern: % matches any text and _ any character. Any other
-- value is an exact name.
--
-- params
--   run, worker, span
--   name        type     unit  default  meaning
--   operator    VARCHAR  -     NULL     Name of an operator or annotation, or a pattern with %; NULL reports the outermost operators.
--   min_length  INTEGER  -     3        Least number of kernels, copies and memsets in a sequence.
--   per_span
-- columns
--   run, worker, span
--   pattern         VARCHAR[]  key  Name of the operator, then the names of the kernels, copies and memsets.
--   calls           BIGINT     -    Number of calls that launched exactly this sequence.
--   device_us       DOUBLE     us   Sum of the durations of everything that they launched.
--   share_pct       DOUBLE     pct  Share of device_us in the sum of all listed rows of the same run, worker and span.
--   cumulative_pct  DOUBLE     pct  Running sum of share_pct, this row included.
--   host_us         DOUBLE     us   Sum of the durations of the calls on the host.
CREATE MACRO kernel_sequences_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    operator VARCHAR := NULL,
    min_length INTEGER := 3,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    work AS MATERIALIZED (
        SELECT
            first_id(t.names, d.run, d.worker, d.span) AS first_id,
            d.event_id,
            -- Without a runtime call, the operator itself.
            coalesce(d.launch_id, d.op_id) AS launch_id,
            d.launch_id IS NULL AS is_of_operator,
            d.name,
            d.start_ns,
            d.duration_ns
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND coalesce(d.launch_id, d.op_id) IS NOT NULL
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    -- Names as numbers, so that sequences are compared quickly.
    kernel_names AS MATERIALIZED (
        SELECT w.name, row_number() OVER () AS number
        FROM work AS w
        GROUP BY w.name
    ),

    host AS MATERIALIZED (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.pid,
            h.tid,
            h.start_ns,
            h.duration_ns,
            h.depth,
            CASE
                WHEN operator IS NULL THEN h.category = 'cpu_op'
                WHEN h.category NOT IN ('cpu_op', 'user_annotation') THEN FALSE
                WHEN contains(operator, '%') THEN h.name LIKE operator
                ELSE h.name = operator
            END AS is_wanted
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    wanted AS (
        SELECT
            h.first_id,
            h.event_id,
            h.pid,
            h.tid,
            h.start_ns,
            h.duration_ns,
            h.depth,
            max(h.start_ns + h.duration_ns) OVER (
                PARTITION BY h.first_id, h.pid, h.tid
                ORDER BY h.start_ns ASC, h.duration_ns DESC, h.event_id ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_ns
        FROM host AS h
        WHERE h.is_wanted
    ),

    calls AS MATERIALIZED (
        SELECT w.first_id, w.event_id, w.pid, w.tid, w.start_ns, w.duration_ns, w.depth
        FROM wanted AS w
        WHERE w.before_ns IS NULL OR w.start_ns >= w.before_ns
    ),

    -- Calls do not overlap, so the call around a launch is the last one that started on its thread, if any. Work
    -- without a runtime call is in its operator, but not in a call inside that operator, even if both start together.
    -- No ASOF JOIN: if the planner expects few launches, it compares each of them with every call.
    moments AS (
        SELECT
            c.first_id,
            c.pid,
            c.tid,
            c.start_ns AS at_ns,
            c.depth,
            c.event_id AS call_id,
            c.start_ns + c.duration_ns AS end_ns,
            c.duration_ns AS host_ns,
            NULL::BIGINT AS event_id,
            NULL::BIGINT AS number,
            NULL::BIGINT AS run_from_ns,
            NULL::BIGINT AS device_ns
        FROM calls AS c
        UNION ALL
        SELECT
            h.first_id,
            h.pid,
            h.tid,
            h.start_ns AS at_ns,
            CASE WHEN w.is_of_operator THEN h.depth END,
            NULL,
            NULL,
            NULL,
            w.event_id,
            n.number,
            w.start_ns,
            w.duration_ns
        FROM work AS w
        INNER JOIN host AS h ON w.first_id = h.first_id AND w.launch_id = h.event_id
        INNER JOIN kernel_names AS n ON w.name = n.name
    ),

    around AS (
        SELECT
            m.first_id + last_value(m.call_id IGNORE NULLS) OVER earlier AS call_id,
            last_value(m.end_ns IGNORE NULLS) OVER earlier AS end_ns,
            last_value(m.host_ns IGNORE NULLS) OVER earlier AS host_ns,
            m.at_ns,
            m.event_id,
            m.number,
            m.run_from_ns,
            m.device_ns
        FROM moments AS m
        WINDOW
            earlier AS (
                PARTITION BY m.first_id, m.pid, m.tid
                ORDER BY m.at_ns, m.depth NULLS LAST, m.call_id IS NULL, m.call_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            )
    ),

    sequences AS (
        SELECT
            a.call_id,
            a.host_ns,
            list(a.number ORDER BY a.run_from_ns, a.event_id) AS numbers,
            sum(a.device_ns) AS device_ns
        FROM around AS a
        WHERE a.event_id IS NOT NULL AND a.at_ns < a.end_ns
        GROUP BY a.call_id, a.host_ns
    ),

    operators AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.run,
            h.worker,
            h.span,
            h.name
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    sums AS (
        SELECT
            o.run,
            o.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN o.span END AS span,
            o.name,
            s.numbers,
            count(*) AS calls,
            sum(s.device_ns) AS device_ns,
            sum(s.host_ns) AS host_ns
        FROM sequences AS s
        INNER JOIN operators AS o ON s.call_id = o.id
        WHERE len(s.numbers) >= min_length
        GROUP BY ALL
    ),

    all_names AS (
        SELECT list(n.name ORDER BY n.number) AS names
        FROM kernel_names AS n
    ),

    patterns AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            [s.name]
            || list_transform(s.numbers, LAMBDA number: list_extract(a.names, number)) AS pattern,
            s.calls,
            s.device_ns,
            s.host_ns
        FROM sums AS s
        CROSS JOIN all_names AS a
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.pattern,
        p.calls,
        p.device_ns / 1000.0 AS device_us,
        percentage(p.device_ns, sum(p.device_ns) OVER of_trace) AS share_pct,
        percentage(sum(p.device_ns) OVER so_far, sum(p.device_ns) OVER of_trace) AS cumulative_pct,
        p.host_ns / 1000.0 AS host_us
    FROM patterns AS p
    WINDOW
        of_trace AS (PARTITION BY p.run, p.worker, p.span),
        so_far AS (
            PARTITION BY p.run, p.worker, p.span
            ORDER BY p.device_ns DESC, p.pattern ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY p.device_ns DESC, p.run ASC, p.worker ASC, p.span ASC, p.pattern ASC;
