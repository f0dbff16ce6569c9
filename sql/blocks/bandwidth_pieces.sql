-- block: bandwidth_pieces
-- since: 0.1
-- summary: Bandwidth of copies and memsets over time, in pieces of constant value.
-- grain: one row per piece, device and copy type of a trace
-- uses: is_wanted
--
-- The bandwidth of a copy is the profiler's own figure, which is computed from exact times, or bytes per
-- nanosecond if there is none. A copy without either, or with a duration of 0, is left out.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   number          BIGINT   key   Number of the copy type, in order of run, worker, span, device and type.
--   device_id       INTEGER  key   Number of the device on its host.
--   copy_type       VARCHAR  key   'Memcpy HtoD', 'Memcpy DtoH', 'Memcpy DtoD', ... or 'Memset'; the whole name if it does not contain the type.
--   start_ns        BIGINT   ns    Start of the piece, nanoseconds since the epoch.
--   duration_ns     BIGINT   ns    Length of the piece.
--   bandwidth_gbps  DOUBLE   gbps  Sum of the bandwidths of all running copies.
CREATE MACRO bandwidth_pieces(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _copies AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            coalesce(
                nullif(regexp_extract(d.name, '^(Memcpy \w+|Memset)\b', 1), ''), d.name
            ) AS copy_type,
            d.start_ns,
            d.duration_ns,
            coalesce(
                CASE WHEN isfinite(d.bandwidth_gbps) THEN d.bandwidth_gbps END,
                d.bytes / d.duration_ns
            ) AS bandwidth_gbps
        FROM device_events AS d
        WHERE
            d.kind IN ('memcpy', 'memset')
            AND d.duration_ns > 0
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _types AS MATERIALIZED (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.device_id,
            c.copy_type,
            row_number() OVER (
                ORDER BY c.run, c.worker, c.span, c.device_id, c.copy_type
            ) AS number
        FROM _copies AS c
        GROUP BY c.run, c.worker, c.span, c.device_id, c.copy_type
    ),

    -- In bytes per 1000 s, because sums of whole numbers return to exactly 0.
    _changes AS (
        SELECT
            t.number,
            CASE WHEN e.is_start THEN c.start_ns ELSE c.start_ns + c.duration_ns END AS at_ns,
            CASE WHEN e.is_start THEN 1 ELSE -1 END
            * greatest(round(1e12 * c.bandwidth_gbps), 1)::HUGEINT AS change
        FROM _copies AS c
        INNER JOIN _types AS t
            ON
                c.run = t.run AND c.worker = t.worker AND c.span = t.span
                AND c.device_id IS NOT DISTINCT FROM t.device_id
                AND c.copy_type = t.copy_type
        CROSS JOIN (VALUES (TRUE), (FALSE)) AS e (is_start)
        WHERE c.bandwidth_gbps > 0
    ),

    -- Sorted before the window, not by it: then the sum needs no memory.
    _in_order AS (
        SELECT c.number, c.at_ns, c.change
        FROM _changes AS c
        ORDER BY c.number, c.at_ns
    ),

    -- The sum is back at 0 where a type ends.
    _pieces AS (
        SELECT
            o.number,
            o.at_ns AS start_ns,
            lead(o.at_ns) OVER () - o.at_ns AS duration_ns,
            sum(o.change) OVER (ROWS UNBOUNDED PRECEDING) AS moved  -- noqa: PRS, CP02
        FROM _in_order AS o
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.number,
        t.device_id,
        t.copy_type,
        p.start_ns,
        p.duration_ns,
        p.moved / 1e12 AS bandwidth_gbps
    FROM _pieces AS p
    INNER JOIN _types AS t ON p.number = t.number
    WHERE p.moved > 0 AND p.duration_ns > 0;
