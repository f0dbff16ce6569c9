-- block: step_intervals
-- since: 0.1
-- summary: Intervals of steps, and of the time in which each role was active.
-- grain: one row per step, and per interval in which a role was active without a gap
-- uses: event_roles, merged_intervals, step_slots
--
-- columns
--   name         type     unit  meaning
--   key          BIGINT   -     Number of the trace, as in step_slots.
--   slot         BIGINT   -     Number of the step; 0 for a role.
--   role         VARCHAR  -     The role, named as in event_roles, with 'device_' or 'host_' before communication; NULL for a step.
--   start_ns     BIGINT   ns    Start.
--   duration_ns  BIGINT   ns    Duration.
CREATE MACRO step_intervals() AS TABLE
    WITH
    _slots AS MATERIALIZED (FROM step_slots()),

    _traces AS (
        SELECT DISTINCT s.run, s.worker, s.span, s.trace
        FROM _slots AS s
    ),

    -- Numbers sort many times faster than texts.
    _active AS (
        SELECT
            t.trace * 16 + CASE
                WHEN r.role = 'kernel' THEN 0
                WHEN r.role = 'memcpy' THEN 1
                WHEN r.role = 'memset' THEN 2
                WHEN r.role = 'communication' AND r.on_device THEN 3
                WHEN r.role = 'communication' THEN 4
                WHEN r.role = 'runtime' THEN 5
                WHEN r.role = 'dataloader' THEN 6
                WHEN r.role = 'cpu_exec' THEN 7
                WHEN r.role = 'label' THEN 8
            END AS key,
            r.start_ns,
            r.duration_ns
        FROM event_roles() AS r
        INNER JOIN _traces AS t ON r.run = t.run AND r.worker = t.worker AND r.span = t.span
    )

    SELECT
        m.key // 16 AS key,
        0 AS slot,
        CASE m.key % 16
            WHEN 0 THEN 'kernel'
            WHEN 1 THEN 'memcpy'
            WHEN 2 THEN 'memset'
            WHEN 3 THEN 'device_communication'
            WHEN 4 THEN 'host_communication'
            WHEN 5 THEN 'runtime'
            WHEN 6 THEN 'dataloader'
            WHEN 7 THEN 'cpu_exec'
            WHEN 8 THEN 'label'
        END AS role,
        m.start_ns,
        m.duration_ns
    FROM merged_intervals('_active') AS m
    UNION ALL
    SELECT s.trace, s.slot, NULL, s.start_ns, s.duration_ns
    FROM _slots AS s;
