-- block: trace_names
-- since: 0.1
-- summary: List of the traces with host events; the position in the list is the number of a trace.
-- grain: one row
-- uses: is_wanted, trace_key
--
-- Event ids are unique within a trace. This number is unique everywhere:
--
--     list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span) * (1::BIGINT << 40) + h.event_id
--
-- It makes joins three times as fast as (run, worker, span, event_id), and is computed at once for all rows
-- of a file. Joining a table of numbers would compare the three names for each row.
--
-- A SELECT that computes it has no window and no aggregate of the list: DuckDB would write the list into each row.
--
-- params
--   run, worker, span
-- columns
--   name   type       unit  meaning
--   names  VARCHAR[]  -     Run, worker and span of each trace, as trace_key joins them, in order.
CREATE MACRO trace_names(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _traces AS (
        SELECT DISTINCT h.run, h.worker, h.span
        FROM host_events AS h
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _names AS (
        SELECT trace_key(t.run, t.worker, t.span) AS name
        FROM _traces AS t
    )

    SELECT list(n.name ORDER BY n.name) AS names
    FROM _names AS n;
