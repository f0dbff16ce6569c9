-- block: recorded_intervals
-- since: 0.2
-- summary: How long steps take until their forward pass, where MindSpore recorded it.
-- grain: one row per trace with a step trace of MindSpore
-- uses: is_wanted
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name      type    unit  meaning
--   first_us  DOUBLE  us    In the first step.
--   mean_us   DOUBLE  us    In the mean step.
CREATE MACRO recorded_intervals(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        s.run,
        s.worker,
        s.span,
        arg_min(try_cast(h.args ->> '$.fp_start_ns' AS BIGINT) - s.start_ns, s.step)
        / 1000.0 AS first_us,
        avg(try_cast(h.args ->> '$.fp_start_ns' AS BIGINT) - s.start_ns) / 1000.0 AS mean_us
    FROM steps AS s
    INNER JOIN host_events AS h
        ON s.run = h.run AND s.worker = h.worker AND s.span = h.span AND s.event_id = h.event_id
    WHERE
        h.raw_category = 'step_trace'
        AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        AND is_wanted(s.run, s.worker, s.span, run, worker, span)
    GROUP BY s.run, s.worker, s.span;
