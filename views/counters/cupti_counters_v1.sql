-- view: cupti_counters
-- version: 1
-- since: 0.1
-- summary: CUPTI counters of each profiled kernel, one row per counter.
-- grain: one row per cuda_profiler_range event and counter
-- distributes: trace
-- order: run, worker, span, event_id, counter
-- carries: spark
-- needs: no_counters
-- empty: No kernel has counters: {record counters}.
-- uses: counter_values, is_wanted
-- example: samples --run gpt_counters --counter dram__bytes.sum --limit 5
-- reading: The first kernels of the step and the bytes that each reads from and writes to memory. Nsight Compute counted them.
--
-- kernel_counters has the same counters as a map, and the operators that launched the kernel.
--
-- A value of counter with a % in it is a pattern: % matches any text and _ any character. Any other value
-- is an exact name.
--
-- params
--   name     type     unit  default  meaning
--   run, worker, span
--   counter  VARCHAR  -     NULL     Name of a counter, or a pattern with %, e.g. 'dram%'; NULL reports all.
-- columns
--   name         type     unit  meaning
--   run, worker, span
--   event_id     BIGINT   key   Row of the kernel in device_events.
--   kernel_name  VARCHAR  -     Name of the kernel.
--   counter      VARCHAR  key   Name of the counter.
--   value        DOUBLE   -     Value of the counter.
--   device_id    INTEGER  -     Device that the kernel ran on.
CREATE MACRO cupti_counters_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    counter VARCHAR := NULL
) AS TABLE
    SELECT
        c.run,
        c.worker,
        c.span,
        c.event_id,
        d.name AS kernel_name,
        c.counter,
        c.value,
        d.device_id
    FROM counter_values(run, worker, span) AS c
    INNER JOIN device_events AS d
        ON c.run = d.run AND c.worker = d.worker AND c.span = d.span AND c.event_id = d.event_id
    WHERE
        (
            counter IS NULL
            OR CASE
                WHEN contains(counter, '%') THEN c.counter LIKE counter ELSE c.counter = counter
            END
        )
        AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ORDER BY c.run, c.worker, c.span, c.event_id, c.counter;
