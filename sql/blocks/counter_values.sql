-- block: counter_values
-- since: 0.1
-- summary: The CUPTI counters of each profiled kernel, each of them once.
-- grain: one row per cuda_profiler_range event and counter
-- uses: is_wanted
--
-- Who asks for kineto__cuda_core_flops and for one of the counters that it stands for gets that one
-- twice, with the same value.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id  BIGINT   key  The row in device_events.
--   counter   VARCHAR  key  Name of the counter.
--   value     DOUBLE   -    Its value, the larger one where there are two.
CREATE MACRO counter_values(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        c.run,
        c.worker,
        c.span,
        c.event_id,
        c.counter,
        max(c.value) AS value
    FROM counters AS c
    WHERE is_wanted(c.run, c.worker, c.span, run, worker, span)
    GROUP BY c.run, c.worker, c.span, c.event_id, c.counter;
