-- block: step_roles
-- since: 0.1
-- summary: Time in which each set of roles was active at once, per step and outside of steps.
-- grain: one row per step of a trace and set of roles that was active in it
-- uses: interval_totals, step_slots
--
-- This is the content of the table step_activity: ingest runs the block once and stores the result. A role
-- whose events all have a duration of 0 has a row with a duration of 0, outside of all steps, which shows
-- that the role was recorded.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation that holds step_intervals(); for a large trace a table, which sorts in less memory than a query.
-- columns
--   run, worker, span
--   step_event_id         BIGINT   key  Annotation of the step; NULL outside of steps, and in a trace without steps.
--   kernel                BOOLEAN  key  Whether kernels other than collectives ran.
--   memcpy                BOOLEAN  key  Whether copies ran.
--   memset                BOOLEAN  key  Whether memsets ran.
--   device_communication  BOOLEAN  key  Whether collectives ran on a device.
--   host_communication    BOOLEAN  key  Whether collectives ran on the host.
--   runtime               BOOLEAN  key  Whether runtime or driver calls ran.
--   dataloader            BOOLEAN  key  Whether the data loader ran.
--   cpu_exec              BOOLEAN  key  Whether other operators or annotations ran.
--   cpu_op                BOOLEAN  key  Whether other operators ran, and not only labels.
--   duration_ns           BIGINT   ns   Time in which exactly these roles were active.
CREATE MACRO step_roles(rel VARCHAR) AS TABLE
    WITH
    _slots AS MATERIALIZED (FROM step_slots()),

    -- One bit per role: a role is active at most once at a time.
    _weighted AS (
        SELECT
            r.key,
            r.slot,
            CASE r.role
                WHEN 'kernel' THEN 1
                WHEN 'memcpy' THEN 2
                WHEN 'memset' THEN 4
                WHEN 'device_communication' THEN 8
                WHEN 'host_communication' THEN 16
                WHEN 'runtime' THEN 32
                WHEN 'dataloader' THEN 64
                WHEN 'cpu_exec' THEN 128
                WHEN 'label' THEN 256
                ELSE 0
            END AS weight,
            r.start_ns,
            r.duration_ns
        FROM query_table(rel) AS r
    ),

    _sums AS (
        -- A label adds nothing to the time of an operator.
        SELECT
            i.key AS trace,
            i.slot,
            CASE
                WHEN i.weight::BIGINT & 128 <> 0 THEN i.weight::BIGINT & 255 ELSE i.weight::BIGINT
            END AS weight,
            sum(i.duration_ns)::BIGINT AS duration_ns
        FROM interval_totals('_weighted') AS i
        WHERE i.weight > 0
        GROUP BY ALL
        UNION ALL
        SELECT DISTINCT w.key, 0, w.weight, 0
        FROM _weighted AS w
        WHERE w.weight > 0 AND w.duration_ns = 0
    ),

    _sets AS MATERIALIZED (
        SELECT
            s.trace,
            s.slot,
            s.weight & 1 <> 0 AS kernel,
            s.weight & 2 <> 0 AS memcpy,
            s.weight & 4 <> 0 AS memset,
            s.weight & 8 <> 0 AS device_communication,
            s.weight & 16 <> 0 AS host_communication,
            s.weight & 32 <> 0 AS runtime,
            s.weight & 64 <> 0 AS dataloader,
            s.weight & 384 <> 0 AS cpu_exec,
            s.weight & 128 <> 0 AS cpu_op,
            s.duration_ns
        FROM _sums AS s
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
        s.cpu_op,
        s.duration_ns
    FROM _sets AS s
    INNER JOIN (
        SELECT DISTINCT n.run, n.worker, n.span, n.trace
        FROM _slots AS n
    ) AS t ON s.trace = t.trace
    LEFT JOIN _slots AS p ON s.trace = p.trace AND s.slot = p.slot
    WHERE
        s.duration_ns > 0
        OR NOT EXISTS (
            FROM _sets AS o
            WHERE
                o.trace = s.trace
                AND o.duration_ns > 0
                AND (
                    (o.kernel AND s.kernel)
                    OR (o.memcpy AND s.memcpy)
                    OR (o.memset AND s.memset)
                    OR (o.device_communication AND s.device_communication)
                    OR (o.host_communication AND s.host_communication)
                    OR (o.runtime AND s.runtime)
                    OR (o.dataloader AND s.dataloader)
                    OR (o.cpu_exec AND s.cpu_exec)
                )
        )
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
        s.cpu_exec,
        s.cpu_op;
