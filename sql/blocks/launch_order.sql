-- block: launch_order
-- since: 0.1
-- summary: Calls that launched device work, numbered in their order on each thread.
-- grain: one row per call that kernels, copies or memsets are linked to
-- uses: first_id, is_wanted, trace_names
--
-- params
--   run, worker, span
-- columns
--   name       type     unit  meaning
--   place      BIGINT   key   Number of the call: calls of one thread follow one another by start.
--   id         BIGINT   key   The call, numbered as in trace_names.
--   trace      BIGINT   -     Number of the trace.
--   pid        VARCHAR  -     Process of the call.
--   tid        VARCHAR  -     Thread of the call.
--   start_ns   BIGINT   ns    Start of the call.
--   end_ns     BIGINT   ns    End of the call.
--   first_ns   BIGINT   ns    Start of the first work that it launched.
--   last_ns    BIGINT   ns    End of the last work that it launched.
CREATE MACRO launch_order(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _work AS (
        SELECT
            first_id(t.names, d.run, d.worker, d.span) + d.launch_id AS id,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND d.launch_id IS NOT NULL
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _launched AS (
        SELECT w.id, min(w.start_ns) AS first_ns, max(w.end_ns) AS last_ns
        FROM _work AS w
        GROUP BY w.id
    ),

    _calls AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.pid,
            h.tid,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    )

    SELECT
        row_number() OVER (
            ORDER BY c.first_id, c.pid, c.tid, c.start_ns, c.end_ns, c.event_id
        ) AS place,
        c.first_id + c.event_id AS id,
        c.first_id >> 40 AS trace,
        c.pid,
        c.tid,
        c.start_ns,
        c.end_ns,
        l.first_ns,
        l.last_ns
    FROM _calls AS c
    INNER JOIN _launched AS l ON c.first_id + c.event_id = l.id;
