-- view: graph_kernels
-- version: 1
-- since: 0.1
-- summary: Kernels that CUDA or HIP graphs replayed, with the operator, module and source line that captured them.
-- distributes: trace
-- order: run, worker, span, start_ns, event_id
-- needs: no_device_events
-- empty: No graph was launched in these traces.
-- notes: replay_notes
-- uses: checked_choice, library_files, replayed_events
-- example: drawn
--
-- A trace of a graph's replay records one call that launches the graph, and its kernels, copies and memsets,
-- but no operator. The operators were recorded when the graph was captured. graph_replays says which
-- captured graph a launch replayed, and how that was recognised. Time comes from the replay, names and shapes
-- from the capture: shapes are those of the captured batch size, which may be padded.
--
-- An event whose node is not known may still have an operator: if all nodes that it can be have the same
-- operator, shapes and types. Then basis is 'same in all candidates', and only these are known.
--
-- The line is that of the innermost Python frame of the user around the captured call, that is, not of torch, of
-- another package, or of the standard library (see the block library_files), or of the innermost frame if
-- there is none.
--
-- params
--   name   type     unit  default  meaning
--   run, worker, span
--   frame  VARCHAR  -     'user'   'user' for the innermost line outside of libraries, 'innermost' for the innermost of all lines.
-- columns
--   name              type       unit  meaning
--   run, worker, span
--   event_id          BIGINT     key   The event in device_events.
--   launch_id         BIGINT     -     The call in host_events that launched the graph.
--   position          BIGINT     -     Position in the launch, from 0.
--   name              VARCHAR    -     Name of the kernel, copy or memset.
--   start_ns          BIGINT     ns    When it started, nanoseconds since the epoch.
--   duration_us       DOUBLE     us    How long it took.
--   basis             VARCHAR    -     How its node was recognised, as in graph_replays; 'same in all candidates' if only the operator is known; NULL if nothing is.
--   operator          VARCHAR    -     Nearest operator around the captured call.
--   input_dims        JSON       -     Shape of each of the operator's inputs, as captured.
--   input_types       VARCHAR[]  -     Type of each of the operator's inputs.
--   module            VARCHAR    -     Innermost nn.Module around the captured call, e.g. 'Linear_0'.
--   source_file       VARCHAR    -     File of the user's line around the captured call.
--   source_line       INTEGER    -     Line number.
--   source_function   VARCHAR    -     Name of the function.
--   is_library        BOOLEAN    -     Whether the line belongs to a library.
--   uses_tensor_cores  BOOLEAN   -     Whether it uses tensor cores; NULL if neither its name nor counters tell.
--   capture_run       VARCHAR    -     Run of the captured call.
--   capture_worker    VARCHAR    -     Worker of the captured call.
--   capture_span      VARCHAR    -     Recording of the captured call.
--   capture_id        BIGINT     -     The call in its host_events that begins the capture; NULL if the node is not known.
--   node              BIGINT     -     Position of the node in the captured graph, from 0; NULL if the node is not known.
--   operator_id       BIGINT     -     The operator in host_events of the capture; NULL if the node is not known.
--   stack_id          BIGINT     -     The stack of the captured call in stacks of the capture; NULL if the node is not known.
--   reason            VARCHAR    -     Why the operator is not known.
CREATE MACRO graph_kernels_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    frame VARCHAR := 'user'
) AS TABLE
    WITH RECURSIVE
    events AS MATERIALIZED (FROM replayed_events(run, worker, span)),

    calls AS MATERIALIZED (
        SELECT DISTINCT
            e.capture_run AS run,
            e.capture_worker AS worker,
            e.capture_span AS span,
            n.event_id,
            n.op_id,
            n.module_ids[1] AS module_id,
            n.stack_id
        FROM events AS e
        INNER JOIN graph_nodes AS n
            ON
                e.capture_run = n.run AND e.capture_worker = n.worker
                AND e.capture_span = n.span AND e.call_id = n.event_id
    ),

    around AS (
        SELECT DISTINCT c.run, c.worker, c.span, c.stack_id, c.stack_id AS outer_id, 0 AS levels
        FROM calls AS c
        UNION ALL
        SELECT a.run, a.worker, a.span, a.stack_id, s.outer_stack_id, a.levels + 1
        FROM around AS a
        INNER JOIN stacks AS s
            ON a.run = s.run AND a.worker = s.worker AND a.span = s.span AND a.outer_id = s.stack_id
        WHERE s.outer_stack_id IS NOT NULL
    ),

    frames AS MATERIALIZED (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.stack_id,
            a.levels,
            s.source_file,
            s.source_line,
            s.source_function
        FROM around AS a
        INNER JOIN stacks AS s
            ON a.run = s.run AND a.worker = s.worker AND a.span = s.span AND a.outer_id = s.stack_id
        WHERE s.source_line IS NOT NULL
    ),

    libraries AS (
        SELECT l.source_file FROM library_files('frames') AS l
    ),

    lines AS (
        SELECT
            f.run,
            f.worker,
            f.span,
            f.stack_id,
            arg_min(
                {
                    'file': f.source_file,
                    'line': f.source_line,
                    'function': f.source_function,
                    'is_library': l.source_file IS NOT NULL
                },
                {
                    'is_last': frame = 'user' AND l.source_file IS NOT NULL,
                    'levels': f.levels
                }
            ) AS source
        FROM frames AS f
        LEFT JOIN libraries AS l ON f.source_file = l.source_file
        WHERE (
            SELECT a.is_allowed
            FROM checked_choice('frame', frame, ['user', 'innermost']) AS a
        )
        GROUP BY f.run, f.worker, f.span, f.stack_id
    ),

    described AS MATERIALIZED (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.event_id,
            c.op_id,
            c.stack_id,
            o.name AS operator,
            o.input_dims,
            o.input_types,
            regexp_replace(m.name, '^nn\.Module: ', '') AS module,
            l.source
        FROM calls AS c
        LEFT JOIN host_events AS o
            ON
                c.run = o.run AND c.worker = o.worker AND c.span = o.span
                AND c.op_id = o.event_id
        LEFT JOIN host_events AS m
            ON
                c.run = m.run AND c.worker = m.worker AND c.span = m.span
                AND c.module_id = m.event_id
        LEFT JOIN lines AS l
            ON
                c.run = l.run AND c.worker = l.worker AND c.span = l.span
                AND c.stack_id = l.stack_id
    )

    SELECT
        e.run,
        e.worker,
        e.span,
        e.event_id,
        e.launch_id,
        e.position,
        d.name,
        e.start_ns,
        e.duration_ns / 1000.0 AS duration_us,
        e.basis,
        c.operator,
        c.input_dims,
        c.input_types,
        CASE WHEN e.node IS NOT NULL THEN c.module END AS module,
        CASE WHEN e.node IS NOT NULL THEN c.source.file END AS source_file,
        CASE WHEN e.node IS NOT NULL THEN c.source.line END AS source_line,
        CASE WHEN e.node IS NOT NULL THEN c.source.function END AS source_function,
        CASE WHEN e.node IS NOT NULL THEN c.source.is_library END AS is_library,
        d.uses_tensor_cores,
        e.capture_run,
        e.capture_worker,
        e.capture_span,
        e.capture_id,
        e.node,
        CASE WHEN e.node IS NOT NULL THEN c.op_id END AS operator_id,
        CASE WHEN e.node IS NOT NULL THEN c.stack_id END AS stack_id,
        e.reason
    FROM events AS e
    INNER JOIN device_events AS d
        ON e.run = d.run AND e.worker = d.worker AND e.span = d.span AND e.event_id = d.event_id
    LEFT JOIN described AS c
        ON
            e.capture_run = c.run AND e.capture_worker = c.worker AND e.capture_span = c.span
            AND e.call_id = c.event_id
    ORDER BY e.run ASC, e.worker ASC, e.span ASC, e.start_ns ASC, e.event_id ASC;
