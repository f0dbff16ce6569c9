-- block: recorded_kinds
-- since: 0.1
-- summary: Which traces recorded memory, batches of an input pipeline, counters, and asynchronous events.
-- grain: one row per trace that recorded any of them
-- uses: is_wanted
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name          type     unit  meaning
--   has_memory    BOOLEAN  -     Whether it recorded memory.
--   has_batches   BOOLEAN  -     Whether it recorded batches of an input pipeline.
--   has_counters  BOOLEAN  -     Whether it recorded counters.
--   has_async     BOOLEAN  -     Whether it recorded asynchronous events, of which a file has a row for the begin (phase b) and one for the end.
CREATE MACRO recorded_kinds(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        k.run,
        k.worker,
        k.span,
        bool_or(k.kind = 'memory') AS has_memory,
        bool_or(k.kind = 'batches') AS has_batches,
        bool_or(k.kind = 'counters') AS has_counters,
        bool_or(k.kind = 'async') AS has_async
    FROM (
        SELECT DISTINCT m.run, m.worker, m.span, 'memory' AS kind
        FROM memory_records AS m
        WHERE is_wanted(m.run, m.worker, m.span, run, worker, span)
        UNION ALL
        SELECT DISTINCT b.run, b.worker, b.span, 'batches'
        FROM data_pipeline_batches AS b
        WHERE is_wanted(b.run, b.worker, b.span, run, worker, span)
        UNION ALL
        SELECT DISTINCT c.run, c.worker, c.span, 'counters'
        FROM counters AS c
        WHERE is_wanted(c.run, c.worker, c.span, run, worker, span)
        UNION ALL
        SELECT DISTINCT o.run, o.worker, o.span, 'async'
        FROM other_events AS o
        WHERE o.phase = 'b' AND is_wanted(o.run, o.worker, o.span, run, worker, span)
    ) AS k
    GROUP BY k.run, k.worker, k.span;
