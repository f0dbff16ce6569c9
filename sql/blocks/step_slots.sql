-- block: step_slots
-- since: 0.1
-- summary: Steps of each trace as numbered slots of its time.
-- grain: one row per step
--
-- columns
--   run, worker, span
--   event_id     BIGINT  -    Annotation of the step; NULL for the single step of a trace without steps.
--   start_ns     BIGINT  ns   Start of the extended step.
--   duration_ns  BIGINT  ns   Duration of the extended step.
--   trace        BIGINT  key  Number of the trace; numbers sort many times faster than three texts.
--   slot         BIGINT  key  Number of the step in its trace, from 1, by start.
CREATE MACRO step_slots() AS TABLE
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
    FROM steps AS s;
