-- view: launch_stats
-- version: 1
-- since: 0.1
-- summary: Host time to launch each kernel, copy and memset, and the delay until it ran.
-- distributes: worker
-- order: host_us DESC, run, worker, span, name, operator, launch_call
-- carries: spark
-- needs: no_device_events
-- empty: No device work is linked to the call that launched it: {record launches}.
-- uses: first_id, is_wanted, operator_names, percentage, trace_names
-- example: samples --run gpt_eager --limit 5
-- reading: Of the 162 launches in the first row, 124 take longer on the host than their kernels do on the device.
--
-- A launch is a call that device work is linked to. It can be a call of any runtime or driver (CUDA, HIP or
-- others), and copies, memsets and graphs count too. A launch that ran several things, such as a graph
-- launch, is one row with the sum of their durations and the delay of the first. If these have several
-- names, the launch is listed under the name of the call. Launches whose work was not recorded are left
-- out.
--
-- The launch delay is the time from the end of the call to the start on the device, or 0 if the device
-- started earlier. A long delay is good: the device has enough work queued. Where the host takes longer to
-- launch a kernel than the device takes to run it, the device waits for the host.
--
-- params
--   name            type     unit  default  meaning
--   run, worker, span
--   slow_launch_us  DOUBLE   us    50       A launch that takes the host longer than this is slow.
--   long_delay_us   DOUBLE   us    100      A launch delay longer than this is long.
--   per_span
-- columns
--   name                  type     unit  meaning
--   run, worker, span
--   name                  VARCHAR  key   Name of what ran on the device, or of the call that launched it.
--   operator              VARCHAR  key   Operator or annotation that made the call; NULL where unknown.
--   calls                 BIGINT   -     Number of launches.
--   host_us               DOUBLE   us    Time of the calls.
--   share_pct             DOUBLE   pct   Share of host_us in the sum of all listed rows of the same run, worker and span.
--   cumulative_pct        DOUBLE   pct   Running sum of share_pct, this row included.
--   device_us             DOUBLE   us    Time that the launched work ran.
--   mean_launch_delay_us  DOUBLE   us    Mean launch delay.
--   max_launch_delay_us   DOUBLE   us    Longest launch delay.
--   short_kernels         BIGINT   -     Launches that took longer on the host than on the device.
--   slow_launches         BIGINT   -     Launches that took the host longer than slow_launch_us.
--   long_delays           BIGINT   -     Launches with a delay longer than long_delay_us.
--   launch_call           VARCHAR  key   Name of the call.
CREATE MACRO launch_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    slow_launch_us DOUBLE := 50,
    long_delay_us DOUBLE := 100,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    work AS MATERIALIZED (
        SELECT
            r.first_id + r.launch_id AS id,
            r.first_id + r.op_id AS operator_id,
            r.name,
            r.start_ns,
            r.duration_ns
        FROM (
            SELECT
                first_id(t.names, d.run, d.worker, d.span) AS first_id,
                d.launch_id,
                d.op_id,
                d.name,
                d.start_ns,
                d.duration_ns
            FROM device_events AS d
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND d.launch_id IS NOT NULL
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        ) AS r
    ),

    -- Mostly empty; then no names are compared.
    several AS MATERIALIZED (
        SELECT w.id
        FROM work AS w
        GROUP BY w.id
        HAVING count(*) > 1
    ),

    launched AS (
        SELECT w.id, w.operator_id, w.name, w.start_ns, w.duration_ns
        FROM work AS w
        ANTI JOIN several AS s ON w.id = s.id
        UNION ALL
        SELECT
            w.id,
            min(w.operator_id),
            CASE WHEN min(w.name) = max(w.name) THEN min(w.name) END,
            min(w.start_ns),
            sum(w.duration_ns)::BIGINT
        FROM work AS w
        SEMI JOIN several AS s ON w.id = s.id
        GROUP BY w.id
    ),

    launch_calls AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.name,
            h.start_ns + h.duration_ns AS end_ns,
            h.duration_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    launches AS (
        SELECT
            l.id >> 40 AS trace_number,
            c.run,
            c.worker,
            c.span,
            coalesce(l.name, c.name) AS name,
            o.operator,
            c.name AS launch_call,
            c.duration_ns AS host_ns,
            l.duration_ns AS device_ns,
            greatest(l.start_ns - c.end_ns, 0) AS delay_ns,
            c.duration_ns > 1000 * slow_launch_us AS is_slow,
            greatest(l.start_ns - c.end_ns, 0) > 1000 * long_delay_us AS is_delayed
        FROM launched AS l
        INNER JOIN launch_calls AS c ON l.id = c.id
        LEFT JOIN operator_names(run, worker, span) AS o ON l.operator_id = o.id
    ),

    of_traces AS (
        SELECT
            any_value(l.run) AS run,
            any_value(l.worker) AS worker,
            any_value(l.span) AS span,
            l.name,
            l.operator,
            l.launch_call,
            count(*) AS calls,
            sum(l.host_ns) AS host_ns,
            sum(l.device_ns) AS device_ns,
            sum(l.delay_ns) AS delay_ns,
            max(l.delay_ns) AS max_delay_ns,
            count(*) FILTER (WHERE l.device_ns < l.host_ns) AS short_kernels,
            count(*) FILTER (WHERE l.is_slow) AS slow_launches,
            count(*) FILTER (WHERE l.is_delayed) AS long_delays
        FROM launches AS l
        GROUP BY l.trace_number, l.name, l.operator, l.launch_call
    ),

    grouped AS (
        SELECT
            o.run,
            o.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN o.span END AS span,
            o.name,
            o.operator,
            o.launch_call,
            sum(o.calls)::BIGINT AS calls,
            sum(o.host_ns) AS host_ns,
            sum(o.device_ns) AS device_ns,
            sum(o.delay_ns) AS delay_ns,
            max(o.max_delay_ns) AS max_delay_ns,
            sum(o.short_kernels)::BIGINT AS short_kernels,
            sum(o.slow_launches)::BIGINT AS slow_launches,
            sum(o.long_delays)::BIGINT AS long_delays
        FROM of_traces AS o
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.operator,
        g.calls,
        g.host_ns / 1000.0 AS host_us,
        percentage(g.host_ns, sum(g.host_ns) OVER of_trace) AS share_pct,
        percentage(sum(g.host_ns) OVER so_far, sum(g.host_ns) OVER of_trace) AS cumulative_pct,
        g.device_ns / 1000.0 AS device_us,
        g.delay_ns / 1000.0 / g.calls AS mean_launch_delay_us,
        g.max_delay_ns / 1000.0 AS max_launch_delay_us,
        g.short_kernels,
        g.slow_launches,
        g.long_delays,
        g.launch_call
    FROM grouped AS g
    WINDOW
        of_trace AS (PARTITION BY g.run, g.worker, g.span),
        so_far AS (
            PARTITION BY g.run, g.worker, g.span
            ORDER BY g.host_ns DESC, g.name ASC, g.operator ASC, g.launch_call ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY
        g.host_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.name ASC, g.operator ASC, g.launch_call ASC;
