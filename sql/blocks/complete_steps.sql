-- block: complete_steps
-- since: 0.2
-- summary: Steps of each trace that are not tail steps, as numbered slots of its time.
-- grain: one row per step that is not a tail step
-- uses: is_wanted
--
-- Like step_slots, but only for the traces that a view needs.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   start_ns     BIGINT  ns   Start of the extended step.
--   duration_ns  BIGINT  ns   Duration of the extended step.
--   trace        BIGINT  key  Number of the trace; numbers sort many times faster than three texts.
--   slot         BIGINT  key  Number of the step in its trace, from 1, by start.
--   steps        BIGINT  -    Number of such steps of the trace.
CREATE MACRO complete_steps(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        s.run,
        s.worker,
        s.span,
        s.extended_start_ns AS start_ns,
        s.extended_end_ns - s.extended_start_ns AS duration_ns,
        dense_rank() OVER (ORDER BY s.run, s.worker, s.span) AS trace,
        row_number() OVER (
            PARTITION BY s.run, s.worker, s.span ORDER BY s.extended_start_ns, s.event_id
        ) AS slot,
        count(*) OVER (PARTITION BY s.run, s.worker, s.span) AS steps
    FROM steps AS s
    WHERE NOT s.is_tail AND is_wanted(s.run, s.worker, s.span, run, worker, span);
