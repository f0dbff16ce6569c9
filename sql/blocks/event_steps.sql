-- block: event_steps
-- since: 0.1
-- summary: Profiler step in which each host event starts.
-- grain: one row per event that starts in a step
-- uses: is_wanted, trace_key, trace_names
--
-- Steps are as recorded, not extended. Where two steps overlap, the later one gets the overlap. The single
-- step of a trace without steps has all its events.
--
-- One sort puts events and steps in order, and each event takes the last step before it. A join would
-- compare every event with every step of its trace.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with id and start_ns: host events, numbered as by trace_names(run, worker, span).
--   run, worker, span
-- columns
--   name            type     unit  meaning
--   id              BIGINT   key   The event, as given.
--   step            BIGINT   -     Number of the step; NULL if the trace has none.
--   step_start_ns   BIGINT   ns    Start of the step.
--   step_end_ns     BIGINT   ns    End of the step.
--   is_tail         BOOLEAN  -     Whether the end of the recording cut the step short.
CREATE MACRO event_steps(
    rel VARCHAR, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- Apart from the window of _steps: see trace_names. Traces are numbered in the order of their names.
    _traced AS (
        SELECT
            list_position(t.names, trace_key(s.run, s.worker, s.span)) AS trace,
            s.event_id,
            s.step,
            s.start_ns,
            s.end_ns,
            s.is_tail
        FROM steps AS s
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
    ),

    _steps AS MATERIALIZED (
        SELECT
            t.trace,
            t.step,
            t.start_ns,
            t.end_ns,
            t.is_tail,
            row_number() OVER (ORDER BY t.trace, t.start_ns, t.event_id) AS number
        FROM _traced AS t
    ),

    _timeline AS (
        SELECT r.id >> 40 AS trace, r.start_ns, r.id, NULL::BIGINT AS number
        FROM query_table(rel) AS r
        UNION ALL
        SELECT s.trace, s.start_ns, NULL, s.number
        FROM _steps AS s
    ),

    -- Sorted before the window, not by it: then the window needs no memory.
    _in_order AS (
        SELECT t.trace, t.start_ns, t.id, t.number
        FROM _timeline AS t
        ORDER BY t.trace ASC, t.start_ns ASC, t.id ASC NULLS FIRST
    ),

    _placed AS (
        SELECT
            o.trace,
            o.start_ns,
            o.id,
            max(o.number) OVER (ROWS UNBOUNDED PRECEDING) AS number  -- noqa: PRS, CP02
        FROM _in_order AS o
    )

    SELECT
        p.id,
        s.step,
        s.start_ns AS step_start_ns,
        s.end_ns AS step_end_ns,
        s.is_tail
    FROM _placed AS p
    INNER JOIN _steps AS s ON p.number = s.number AND p.trace = s.trace
    WHERE p.id IS NOT NULL AND (s.step IS NULL OR p.start_ns < s.end_ns);
