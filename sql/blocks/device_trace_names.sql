-- block: device_trace_names
-- since: 0.1
-- summary: List of the traces with device events, for device_key.
-- grain: one row
-- uses: is_wanted, trace_key
--
-- params
--   run, worker, span
-- columns
--   name   type       unit  meaning
--   names  VARCHAR[]  -     Run, worker and span of each trace, as trace_key joins them, in order.
CREATE MACRO device_trace_names(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _traces AS (
        SELECT DISTINCT d.run, d.worker, d.span
        FROM device_events AS d
        WHERE is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _names AS (
        SELECT trace_key(t.run, t.worker, t.span) AS name
        FROM _traces AS t
    )

    SELECT list(n.name ORDER BY n.name) AS names
    FROM _names AS n;
