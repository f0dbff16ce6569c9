-- block: transfer_totals
-- since: 0.1
-- summary: Total time of collectives, and the part of it in which they transferred data.
-- grain: one row per key with collectives that took time
-- uses: interval_totals, merged_intervals
--
-- Time in which several collectives run at once counts once, as transfer if any of them transfers. A
-- transfer ends when its collective ends; the time before it is waiting.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with key, start_ns, duration_ns and transfer_ns, which is NULL if a collective could not be compared.
-- columns
--   name         type    unit  meaning
--   key          BIGINT  key   As given: a number for everything that must not be mixed.
--   total_ns     BIGINT  ns    Time in which any collective ran.
--   compared_ns  BIGINT  ns    Time in which a collective ran that could be compared.
--   transfer_ns  BIGINT  ns    Time in which one of these transferred data.
CREATE MACRO transfer_totals(rel VARCHAR) AS TABLE
    WITH
    -- 0 is a collective that could not be compared, 1 one that could, 2 a transfer.
    _ranges AS (
        SELECT
            r.key * 4 + CASE WHEN r.transfer_ns IS NULL THEN 0 ELSE 1 END AS key,
            r.start_ns,
            r.duration_ns
        FROM query_table(rel) AS r
        UNION ALL
        SELECT r.key * 4 + 2, r.start_ns + r.duration_ns - r.transfer_ns, r.transfer_ns
        FROM query_table(rel) AS r
        WHERE r.transfer_ns IS NOT NULL
    ),

    -- One bit each: after merging, each runs at most once at a time.
    _weighted AS (
        SELECT
            m.key // 4 AS key,
            0 AS slot,
            1 << (m.key % 4) AS weight,
            m.start_ns,
            m.duration_ns
        FROM merged_intervals('_ranges') AS m
    )

    SELECT
        i.key,
        sum(i.duration_ns)::BIGINT AS total_ns,
        coalesce(sum(i.duration_ns) FILTER (WHERE (i.weight >> 1) & 1 > 0), 0)::BIGINT
            AS compared_ns,
        coalesce(sum(i.duration_ns) FILTER (WHERE (i.weight >> 2) & 1 > 0), 0)::BIGINT
            AS transfer_ns
    FROM interval_totals('_weighted') AS i
    GROUP BY i.key;
