-- block: small_launches
-- since: 0.1
-- summary: Number of launches that took longer on the host than the launched kernels on the device.
-- grain: one row per trace with kernels whose launch was recorded
-- uses: first_id, is_wanted, trace_names
--
-- A launch of several kernels, such as a graph launch, counts once, with the sum of their durations.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   launches          BIGINT  -   Number of calls that launched kernels.
--   graph_launches    BIGINT  -   Number of these calls that launched a graph.
--   small_launches    BIGINT  -   Number of these calls that took longer than their kernels.
--   median_kernel_us  DOUBLE  us  Median device time of the small launches.
CREATE MACRO small_launches(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _kernels AS (
        SELECT
            first_id(t.names, d.run, d.worker, d.span) + d.launch_id AS id,
            d.duration_ns
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication')
            AND d.launch_id IS NOT NULL
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _launched AS (
        SELECT k.id, sum(k.duration_ns)::BIGINT AS kernel_ns
        FROM _kernels AS k
        GROUP BY k.id
    ),

    _calls AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.name,
            h.duration_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            is_wanted(h.run, h.worker, h.span, run, worker, span)
            AND (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        count(*) AS launches,
        count(*) FILTER (WHERE contains(c.name, 'GraphLaunch')) AS graph_launches,
        count(*) FILTER (WHERE l.kernel_ns < c.duration_ns) AS small_launches,
        median(l.kernel_ns) FILTER (WHERE l.kernel_ns < c.duration_ns) / 1000.0
            AS median_kernel_us
    FROM _calls AS c
    INNER JOIN _launched AS l ON c.id = l.id
    GROUP BY c.run, c.worker, c.span;
