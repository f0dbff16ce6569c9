-- block: serving_windows
-- since: 0.1
-- summary: Serving steps of each trace: when the host ran them, their phase, requests, tokens and lengths.
-- grain: one row per serving step
-- uses: first_id, is_wanted, serving_fault, serving_marks, trace_key, trace_names
--
-- A step is an annotation that a serving framework wrote; serving_patterns lists them. A trace without any,
-- without ProfilerStep# and without training has steps by graph launches: each launch of the graph that runs
-- longest starts a step, which lasts until its next launch by the same thread. A trace that captures graphs
-- has no such steps. Graphs are distinguished by their id, or by the names of what they run.
--
-- Lengths that cannot be right (see serving_fault) are NULL, and note says why.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name               type     unit  meaning
--   id                 BIGINT   key   The annotation, or the graph launch, numbered as in trace_names.
--   lane               VARCHAR  -     Its thread: a text that no other thread of any trace has.
--   step               BIGINT   -     Number of the step in the trace, from 1, by start.
--   name               VARCHAR  -     Name of the annotation; of the launch call without one.
--   basis              VARCHAR  -     'annotation' or 'graph launch'.
--   format             VARCHAR  -     As in serving_patterns; NULL for graph launches.
--   phase              VARCHAR  -     'prefill', 'decode', 'mixed', 'idle' or 'diffusion'; NULL if unknown.
--   start_ns           BIGINT   ns    Start on the host.
--   end_ns             BIGINT   ns    End on the host.
--   requests           BIGINT   -     Number of requests.
--   prefill_requests   BIGINT   -     Number of those that are prefilled.
--   decode_requests    BIGINT   -     Number of those that generate tokens.
--   captured_requests  BIGINT   -     Number of requests that the graph was captured for, if the annotation tells.
--   leading_number     BIGINT   -     First number of an annotation of vLLM.
--   tokens             BIGINT   -     Number of new tokens.
--   prefill_tokens     BIGINT   -     Number of those that are prefilled.
--   decode_tokens      BIGINT   -     Number of those that are generated or tried.
--   prefill_context    BIGINT   -     Sum of the tokens that prefilled requests attend to.
--   decode_context     BIGINT   -     Sum of the tokens that generating requests attend to.
--   prefill_pairs      DOUBLE   -     Pairs of query and key under a causal mask, of prefilled requests.
--   decode_pairs       DOUBLE   -     The same of generating requests.
--   note               VARCHAR  -     Why lengths are NULL.
CREATE MACRO serving_windows(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _annotations AS (
        SELECT
            trace_key(h.run, h.worker, h.span) || chr(0) || concat_ws(chr(0), h.pid, h.tid)
                AS lane,
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.name,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            h.category = 'user_annotation'
            AND (
                starts_with(h.name, 'execute_') OR starts_with(h.name, 'step[')
                OR contains(h.name, 'prefill[') OR contains(h.name, 'decode[')
            )
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _marked AS MATERIALIZED (FROM serving_marks('_annotations')),

    _stepped AS (
        SELECT DISTINCT s.run, s.worker, s.span
        FROM steps AS s
        WHERE s.step IS NOT NULL AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        UNION ALL
        SELECT DISTINCT
            split_part(m.lane, chr(0), 1), split_part(m.lane, chr(0), 2),
            split_part(m.lane, chr(0), 3)
        FROM _marked AS m
    ),

    _calls AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.pid,
            h.tid,
            h.event_id,
            h.name,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND (contains(h.name, 'GraphLaunch') OR contains(h.name, 'StreamBeginCapture'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _trained AS (
        SELECT DISTINCT h.run, h.worker, h.span
        FROM host_events AS h
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND (contains(h.name, 'ackward') OR starts_with(h.name, 'Optimizer.'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _launches AS (
        SELECT c.*
        FROM _calls AS c
        ANTI JOIN _stepped AS s ON c.run = s.run AND c.worker = s.worker AND c.span = s.span
        ANTI JOIN _trained AS t ON c.run = t.run AND c.worker = t.worker AND c.span = t.span
        ANTI JOIN (
            SELECT b.run, b.worker, b.span
            FROM _calls AS b
            WHERE contains(b.name, 'StreamBeginCapture')
        ) AS b ON c.run = b.run AND c.worker = b.worker AND c.span = b.span
    ),

    _replays AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.pid,
            l.tid,
            l.event_id,
            l.name,
            l.start_ns,
            l.end_ns,
            coalesce(
                max(CASE WHEN d.graph_id > 0 THEN d.graph_id END)::VARCHAR,
                md5(string_agg(d.name, chr(10) ORDER BY d.start_ns, d.event_id))
            ) AS graph,
            sum(d.duration_ns) AS device_ns
        FROM _launches AS l
        INNER JOIN device_events AS d
            ON
                l.run = d.run AND l.worker = d.worker AND l.span = d.span
                AND l.event_id = d.launch_id
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY ALL
    ),

    _graphs AS (
        SELECT r.run, r.worker, r.span, r.graph
        FROM _replays AS r
        GROUP BY r.run, r.worker, r.span, r.graph
        QUALIFY
            row_number() OVER (
                PARTITION BY r.run, r.worker, r.span
                ORDER BY count(*) > 1 DESC, avg(r.device_ns) DESC, min(r.start_ns) ASC
            ) = 1
    ),

    _ends AS (
        SELECT t.run, t.worker, t.span, t.end_ns
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ),

    _replayed AS (
        SELECT
            trace_key(r.run, r.worker, r.span) || chr(0) || concat_ws(chr(0), r.pid, r.tid)
                AS lane,
            r.id,
            r.name,
            r.start_ns,
            coalesce(
                lead(r.start_ns) OVER (
                    PARTITION BY r.run, r.worker, r.span, r.pid, r.tid ORDER BY r.start_ns
                ),
                e.end_ns,
                r.end_ns
            ) AS end_ns
        FROM (
            SELECT r.*, first_id(t.names, r.run, r.worker, r.span) + r.event_id AS id
            FROM _replays AS r
            CROSS JOIN trace_names(run, worker, span) AS t
        ) AS r
        SEMI JOIN _graphs AS g
            ON
                r.run = g.run AND r.worker = g.worker AND r.span = g.span
                AND r.graph = g.graph
        LEFT JOIN _ends AS e ON r.run = e.run AND r.worker = e.worker AND r.span = e.span
    ),

    _all AS (
        SELECT
            m.lane, m.id, m.name, 'annotation' AS basis, m.format, m.phase, m.start_ns, m.end_ns,
            m.numbers AS n
        FROM _marked AS m
        UNION ALL
        SELECT
            r.lane, r.id, r.name, 'graph launch', NULL, NULL, r.start_ns, r.end_ns,
            NULL
        FROM _replayed AS r
    ),

    _checked AS (
        SELECT
            a.*,
            serving_fault(
                a.n['prefill_requests'], a.n['prefill_sq'], a.n['prefill_sk'],
                a.n['prefill_sqsq'], a.n['prefill_sqsk']
            ) AS prefill_fault,
            serving_fault(
                a.n['decode_requests'], a.n['decode_sq'], a.n['decode_sk'],
                a.n['decode_sqsq'], a.n['decode_sqsk']
            ) AS decode_fault
        FROM _all AS a
    ),

    -- What an annotation of one phase leaves out of the other is 0.
    _counted AS (
        SELECT
            c.*,
            coalesce(c.n['prefill_requests'], CASE WHEN c.phase = 'decode' THEN 0 END)
                AS prefill_requests,
            coalesce(c.n['decode_requests'], CASE WHEN c.phase = 'prefill' THEN 0 END)
                AS decode_requests,
            CASE
                WHEN c.phase = 'decode' THEN coalesce(c.n['prefill_sq'], 0)
                WHEN c.n['prefill_sq'] >= 0 THEN c.n['prefill_sq']
            END AS prefill_tokens,
            CASE
                WHEN c.phase = 'prefill' THEN coalesce(c.n['decode_sq'], 0)
                WHEN c.n['decode_sq'] >= 0 THEN c.n['decode_sq']
            END AS decode_tokens
        FROM _checked AS c
    )

    SELECT
        split_part(c.lane, chr(0), 1) AS run,
        split_part(c.lane, chr(0), 2) AS worker,
        split_part(c.lane, chr(0), 3) AS span,
        c.id,
        c.lane,
        row_number() OVER (
            PARTITION BY
                split_part(c.lane, chr(0), 1), split_part(c.lane, chr(0), 2),
                split_part(c.lane, chr(0), 3)
            ORDER BY c.start_ns, c.id
        ) AS step,
        c.name,
        c.basis,
        c.format,
        c.phase,
        c.start_ns,
        c.end_ns,
        coalesce(c.n['requests'], c.prefill_requests + c.decode_requests) AS requests,
        c.prefill_requests,
        c.decode_requests,
        c.n['captured_requests'] AS captured_requests,
        c.n['leading_number'] AS leading_number,
        coalesce(c.n['tokens'], c.prefill_tokens + c.decode_tokens) AS tokens,
        c.prefill_tokens,
        c.decode_tokens,
        CASE WHEN c.prefill_fault IS NULL THEN c.n['prefill_sk'] END AS prefill_context,
        CASE WHEN c.decode_fault IS NULL THEN c.n['decode_sk'] END AS decode_context,
        CASE
            WHEN c.prefill_fault IS NULL
                THEN
                    coalesce(
                        c.n['prefill_sqsk']::DOUBLE
                        - (c.n['prefill_sqsq'] - c.n['prefill_sq']) / 2.0,
                        CASE WHEN c.prefill_requests = 0 THEN 0 END
                    )
        END AS prefill_pairs,
        CASE
            WHEN c.decode_fault IS NULL
                THEN
                    coalesce(
                        c.n['decode_sqsk']::DOUBLE
                        - (c.n['decode_sqsq'] - c.n['decode_sq']) / 2.0,
                        CASE WHEN c.decode_requests = 0 THEN 0 END
                    )
        END AS decode_pairs,
        nullif(
            concat_ws(
                '; ',
                'lengths of prefill left out, as ' || c.prefill_fault,
                'lengths of decode left out, as ' || c.decode_fault
            ),
            ''
        ) AS note
    FROM _counted AS c;
