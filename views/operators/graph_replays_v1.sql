-- view: graph_replays
-- version: 1
-- since: 0.1
-- summary: Launches of CUDA or HIP graphs, the captured graph that each one replayed, and how much of its time has an operator.
-- distributes: trace
-- order: run, worker, span, start_ns, launch_id
-- needs: no_device_events
-- empty: No graph was launched in these traces.
-- notes: replay_notes
-- uses: compared_replays, percentage, replay_matches
-- example: drawn
--
-- Captures of the graphs of run R are searched in R itself, and in the runs R/capture_traces and below, which is
-- where `tracewh ingest` puts the traces in the folder capture_traces of a run. `tracewh link-captures`
-- makes another run known as captures of R.
--
-- A captured graph is recognised by what is certain only (see the block replay_matches):
-- - node id: graph ids and node ids that the profiler wrote on both sides
-- - content: only one captured graph has these kernels in this order
-- - compiled graph, size and mode: of several such graphs only one has the hash of the Inductor graph, or was
--   captured for the size and mode of the step
-- - order in the step: the step launches as many graphs as were captured for its size and mode, and
--   each one fits
-- - graph id: another launch with the same graph id was recognised
--
-- Otherwise the launch has no captured graph. If all candidates have the same operator, shapes and types at the
-- position of an event, its time counts for that operator, with the basis 'same in all candidates'.
--
-- params
--   run, worker, span
-- columns
--   name                type     unit  meaning
--   run, worker, span
--   launch_id           BIGINT   key   The call in host_events that launched the graph.
--   start_ns            BIGINT   ns    When it was called, nanoseconds since the epoch.
--   graph_id            BIGINT   -     Number of the graph, as recorded; NULL where not recorded.
--   basis               VARCHAR  -     How the captured graph was recognised; NULL if it was not, and no operator is known.
--   alignment           VARCHAR  -     'equal sequence', 'replay is a part', 'capture is a part', 'several streams' or 'node id'.
--   candidates          BIGINT   -     Number of captured graphs whose kernels fit.
--   capture_run         VARCHAR  -     Run of the captured graph.
--   capture_worker      VARCHAR  -     Worker of the captured graph.
--   capture_span        VARCHAR  -     Recording of the captured graph.
--   capture_id          BIGINT   -     The call in its host_events that begins the capture.
--   nodes               BIGINT   -     Number of nodes of the captured graph.
--   unreplayed_nodes    BIGINT   -     Number of these nodes that no event was paired with.
--   events              BIGINT   -     Number of kernels, copies and memsets that the launch replayed.
--   attributed_events   BIGINT   -     Number of these with a known operator.
--   device_us           DOUBLE   us    Sum of their durations.
--   attributed_us       DOUBLE   us    The same for those with a known operator.
--   coverage_pct        DOUBLE   pct   Share of attributed_us in device_us.
--   reason              VARCHAR  -     Why the captured graph, or the operator of an event, is not known.
CREATE MACRO graph_replays_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- Events of other launches have no captured call.
    summed AS (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.launch_id,
            max(e.basis) AS basis,
            count(e.node) AS paired,
            count(e.basis) AS attributed,
            sum(CASE WHEN e.basis IS NOT NULL THEN e.duration_ns END) AS attributed_ns,
            max(e.reason) AS reason
        FROM compared_replays(run, worker, span) AS e
        GROUP BY e.run, e.worker, e.span, e.launch_id
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        m.launch_id,
        g.start_ns,
        g.graph_id,
        coalesce(m.basis, s.basis) AS basis,
        m.alignment,
        m.candidates,
        m.capture_run,
        m.capture_worker,
        m.capture_span,
        m.capture_id,
        m.nodes,
        m.nodes - s.paired AS unreplayed_nodes,
        m.events,
        coalesce(s.attributed, 0) AS attributed_events,
        g.duration_ns / 1000.0 AS device_us,
        coalesce(s.attributed_ns, 0) / 1000.0 AS attributed_us,
        percentage(coalesce(s.attributed_ns, 0), g.duration_ns) AS coverage_pct,
        coalesce(m.reason, s.reason) AS reason
    FROM replay_matches(run, worker, span) AS m
    INNER JOIN graphs AS g
        ON
            m.run = g.run AND m.worker = g.worker AND m.span = g.span
            AND m.launch_id = g.event_id
    LEFT JOIN summed AS s
        ON
            m.run = s.run AND m.worker = s.worker AND m.span = s.span
            AND m.launch_id = s.launch_id
    WHERE g.role = 'launch'
    ORDER BY m.run ASC, m.worker ASC, m.span ASC, g.start_ns ASC, m.launch_id ASC;
