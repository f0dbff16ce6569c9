-- block: step_roles
-- since: 0.1
-- summary: How long each set of roles was active at once, in each step and outside of them.
-- grain: one row per step of a trace and set of roles that was active in it for a time
-- uses: event_roles interval_totals
--
-- What the table step_activity holds: ingest asks this once and writes down the answer. A role whose
-- every event has no length has a row of its own with a duration of 0, outside of all steps, which
-- says that it was recorded.
--
-- columns
--   run, worker, span
--   step_event_id         BIGINT   key  Annotation of the step; NULL outside of all steps, and in a trace without any.
--   kernel                BOOLEAN  key  Kernels ran that are no collectives.
--   memcpy                BOOLEAN  key  Copies ran.
--   memset                BOOLEAN  key  Fills ran.
--   device_communication  BOOLEAN  key  Collectives ran on a device.
--   host_communication    BOOLEAN  key  Collectives ran on the host.
--   runtime               BOOLEAN  key  Calls into the runtime or driver ran.
--   dataloader            BOOLEAN  key  The data loader ran.
--   cpu_exec              BOOLEAN  key  Other operators or annotations ran.
--   duration_ns           BIGINT   ns   How long just these were active.
CREATE MACRO step_roles() AS TABLE
    WITH
    _steps AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.event_id,
            s.extended_start_ns AS start_ns,
            s.extended_end_ns - s.extended_start_ns AS duration_ns,
            dense_rank() OVER (ORDER BY s.run, s.worker, s.span) AS trace,
            row_number() OVER (
                PARTITION BY s.run, s.worker, s.span ORDER BY s.extended_start_ns, s.event_id
            ) AS slot
        FROM steps AS s
    ),

    -- Numbers sort many times faster than three texts.
    _traces AS MATERIALIZED (
        SELECT DISTINCT t.run, t.worker, t.span, t.trace
        FROM _steps AS t
    ),

    -- A digit for each role, as wide as the events that may run at once are many.
    _active AS MATERIALIZED (
        SELECT
            t.trace,
            CASE
                WHEN r.role = 'kernel' THEN 1::HUGEINT << 91
                WHEN r.role = 'memcpy' THEN 1::HUGEINT << 79
                WHEN r.role = 'memset' THEN 1::HUGEINT << 67
                WHEN r.role = 'communication' AND r.on_device THEN 1::HUGEINT << 55
                WHEN r.role = 'communication' THEN 1::HUGEINT << 42
                WHEN r.role = 'runtime' THEN 1::HUGEINT << 28
                WHEN r.role = 'dataloader' THEN 1::HUGEINT << 16
                ELSE 1::HUGEINT
            END AS weight,
            r.start_ns,
            r.duration_ns
        FROM event_roles() AS r
        INNER JOIN _traces AS t ON r.run = t.run AND r.worker = t.worker AND r.span = t.span
    ),

    _intervals AS (
        SELECT a.trace AS key, 0 AS slot, a.weight, a.start_ns, a.duration_ns
        FROM _active AS a
        UNION ALL
        SELECT s.trace, s.slot, 0, s.start_ns, s.duration_ns
        FROM _steps AS s
    ),

    _sums AS (
        SELECT i.key AS trace, i.slot, i.weight, i.duration_ns
        FROM interval_totals('_intervals') AS i
        WHERE i.weight > 0
        UNION ALL
        SELECT a.trace, 0, a.weight, 0
        FROM _active AS a
        GROUP BY a.trace, a.weight
        HAVING NOT coalesce(bool_or(a.duration_ns > 0), FALSE)
    ),

    _sets AS (
        SELECT
            s.trace,
            s.slot,
            s.weight >> 91 > 0 AS kernel,
            (s.weight >> 79) & 4095 > 0 AS memcpy,
            (s.weight >> 67) & 4095 > 0 AS memset,
            (s.weight >> 55) & 4095 > 0 AS device_communication,
            (s.weight >> 42) & 8191 > 0 AS host_communication,
            (s.weight >> 28) & 16383 > 0 AS runtime,
            (s.weight >> 16) & 4095 > 0 AS dataloader,
            s.weight & 65535 > 0 AS cpu_exec,
            sum(s.duration_ns)::BIGINT AS duration_ns
        FROM _sums AS s
        GROUP BY ALL
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        p.event_id AS step_event_id,
        s.kernel,
        s.memcpy,
        s.memset,
        s.device_communication,
        s.host_communication,
        s.runtime,
        s.dataloader,
        s.cpu_exec,
        s.duration_ns
    FROM _sets AS s
    INNER JOIN _traces AS t ON s.trace = t.trace
    LEFT JOIN _steps AS p ON s.trace = p.trace AND s.slot = p.slot
    ORDER BY
        t.run,
        t.worker,
        t.span,
        s.slot,
        s.kernel,
        s.memcpy,
        s.memset,
        s.device_communication,
        s.host_communication,
        s.runtime,
        s.dataloader,
        s.cpu_exec;
