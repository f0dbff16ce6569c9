-- block: step_intervals
-- since: 0.1
-- summary: Steps, and every event that has a role, as interval_totals takes them.
-- grain: one row per step, and per event that has a role
-- uses: event_roles step_slots
--
-- columns
--   key          BIGINT   -   Number of the trace, as step_slots has it.
--   slot         BIGINT   -   Number of the step; 0 for an event.
--   weight       HUGEINT  -   The digit of the role, as wide as the events that may run at once are many; 0 for a step.
--   start_ns     BIGINT   ns  Start.
--   duration_ns  BIGINT   ns  Length.
CREATE MACRO step_intervals() AS TABLE
    WITH
    _slots AS MATERIALIZED (FROM step_slots()),

    _traces AS (
        SELECT DISTINCT s.run, s.worker, s.span, s.trace
        FROM _slots AS s
    )

    SELECT
        t.trace AS key,
        0 AS slot,
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
    UNION ALL
    SELECT s.trace, s.slot, 0, s.start_ns, s.duration_ns
    FROM _slots AS s;
