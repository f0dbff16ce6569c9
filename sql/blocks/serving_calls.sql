-- block: serving_calls
-- since: 0.1
-- summary: Runtime and driver calls in serving steps.
-- grain: one row per call that starts in a serving step, on the thread of the step
-- uses: first_id, is_host_wait, is_wanted, trace_key, trace_names
--
-- A call launches if its name has Launch or a device event belongs to it. It blocks if it waits for the
-- device (is_host_wait), or copies and returns only when that is done.
--
-- params
--   name     type     unit  default  meaning
--   windows  VARCHAR  -     -        Name of a relation with rows of serving_windows.
--   run, worker, span
-- columns
--   name         type     unit  meaning
--   step_id      BIGINT   key   Step, the id in serving_windows.
--   id           BIGINT   key   The call, numbered as in trace_names.
--   name         VARCHAR  -     Its name.
--   start_ns     BIGINT   ns    Its start.
--   duration_ns  BIGINT   ns    How long it took.
--   is_graph     BOOLEAN  -     Whether it launches a graph.
--   is_launch    BOOLEAN  -     Whether its name says that it launches something.
--   blocks       BOOLEAN  -     Whether it waits for the device.
CREATE MACRO serving_calls(
    windows VARCHAR, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _steps AS (
        SELECT w.lane, w.id, w.start_ns, w.end_ns
        FROM query_table(windows) AS w
    ),

    _served AS (
        SELECT DISTINCT w.run, w.worker, w.span
        FROM query_table(windows) AS w
    ),

    _calls AS (
        SELECT
            trace_key(h.run, h.worker, h.span) || chr(0) || concat_ws(chr(0), h.pid, h.tid)
                AS lane,
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.name,
            h.start_ns,
            h.duration_ns
        FROM host_events AS h
        SEMI JOIN _served AS s ON h.run = s.run AND h.worker = s.worker AND h.span = s.span
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    )

    SELECT
        s.id AS step_id,
        c.id,
        c.name,
        c.start_ns,
        c.duration_ns,
        contains(c.name, 'GraphLaunch') AS is_graph,
        contains(c.name, 'Launch') AS is_launch,
        is_host_wait(c.name)
        OR contains(c.name, 'emcpy') AND NOT contains(c.name, 'Async') AS blocks
    FROM _calls AS c
    ASOF INNER JOIN _steps AS s ON c.lane = s.lane AND c.start_ns >= s.start_ns
    WHERE c.start_ns < s.end_ns;
