-- block: trace_names
-- since: 0.1
-- summary: The traces that have host events as one list, in which the position of a trace numbers it.
-- grain: one row
-- uses: is_wanted, trace_key
--
-- first_id makes numbers of it that are unique among all traces.
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
