-- block: serving_work
-- since: 0.1
-- summary: Device work of serving steps, and what it computes.
-- grain: one row per kernel, copy or memset whose launch call starts in a serving step
-- uses: first_id, is_wanted, serving_calls, serving_windows, trace_names, work_families, work_operators
--
-- params
--   run, worker, span
-- columns
--   name         type       unit  meaning
--   step_id      BIGINT     key   Step, the id in serving_windows.
--   id           BIGINT     key   The work, numbered as in trace_names.
--   name         VARCHAR    -     Its name.
--   kind         VARCHAR    -     As in device_events.
--   device_id    INTEGER    -     Device that it ran on.
--   stream_id    BIGINT     -     Stream that it ran on.
--   start_ns     BIGINT     ns    Its start.
--   duration_ns  BIGINT     ns    How long it ran.
--   call_id      BIGINT     -     The call that launched it, numbered likewise.
--   called_ns    BIGINT     ns    Start of that call.
--   is_graph     BOOLEAN    -     Whether the call launched a graph.
--   family       VARCHAR    -     As in work_families, or 'communication', 'copy' or 'other'.
--   operator     VARCHAR    -     As in work_operators; NULL if unknown.
--   call         VARCHAR    -     As in work_operators.
--   input_dims   JSON       -     Shape of each input of the operator.
--   input_types  VARCHAR[]  -     Type of each input.
--   size         BIGINT     -     As in work_operators.
--   is_replayed  BOOLEAN    -     Whether the operator was captured.
CREATE MACRO serving_work(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _windows AS MATERIALIZED (FROM serving_windows(run, worker, span)),

    _device AS (
        SELECT
            first_id(t.names, d.run, d.worker, d.span) AS trace,
            d.event_id,
            d.launch_id,
            d.name,
            d.kind,
            d.device_id,
            d.stream_id,
            d.start_ns,
            d.duration_ns
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _launched AS MATERIALIZED (
        SELECT
            c.step_id,
            d.trace + d.event_id AS id,
            d.name,
            d.kind,
            d.device_id,
            d.stream_id,
            d.start_ns,
            d.duration_ns,
            c.id AS call_id,
            c.start_ns AS called_ns,
            c.is_graph
        FROM serving_calls('_windows', run, worker, span) AS c
        INNER JOIN _device AS d ON c.id = d.trace + d.launch_id
    ),

    _known AS MATERIALIZED (
        SELECT l.*, o.operator, o.call, o.input_dims, o.input_types, o.size, o.is_replayed
        FROM _launched AS l
        LEFT JOIN work_operators(run, worker, span) AS o
            ON l.id = o.id AND (NOT l.is_graph OR o.is_replayed)
    ),

    _names AS (
        SELECT DISTINCT k.name, k.operator
        FROM _known AS k
        WHERE k.kind = 'compute'
    ),

    _families AS (
        SELECT n.name, n.operator, arg_min(f.family, f.place) AS family
        FROM _names AS n
        INNER JOIN work_families() AS f
            ON regexp_matches(CASE f.of WHEN 'kernel' THEN n.name ELSE n.operator END, f.pattern)
        GROUP BY n.name, n.operator
    )

    SELECT
        k.step_id,
        k.id,
        k.name,
        k.kind,
        k.device_id,
        k.stream_id,
        k.start_ns,
        k.duration_ns,
        k.call_id,
        k.called_ns,
        k.is_graph,
        CASE k.kind
            WHEN 'communication' THEN 'communication'
            WHEN 'memcpy' THEN 'copy'
            WHEN 'memset' THEN 'copy'
            ELSE coalesce(f.family, 'other')
        END AS family,
        k.operator,
        k.call,
        k.input_dims,
        k.input_types,
        k.size,
        coalesce(k.is_replayed, FALSE) AS is_replayed
    FROM _known AS k
    LEFT JOIN _families AS f
        ON k.name = f.name AND k.operator IS NOT DISTINCT FROM f.operator;
