-- block: merged_intervals
-- since: 0.1
-- summary: Intervals merged where they overlap or touch.
-- grain: one row per key and range of time that its intervals cover without a gap
--
-- At most one merged interval of a key runs at a time, so a sum that tells what ran needs one bit per
-- key, however many intervals overlap. An interval with a duration of 0 is kept if it touches no other.
-- Intervals without a start are dropped.
--
-- Key and end are combined into one number, because the largest end so far must not come from another key.
-- Rows are sorted before the windows, as in interval_totals.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with key, start_ns and duration_ns.
-- columns
--   name         type    unit  meaning
--   key          BIGINT  key   As given: a number, 0 or more, for everything that must not be mixed.
--   start_ns     BIGINT  ns    Start.
--   duration_ns  BIGINT  ns    Duration.
CREATE MACRO merged_intervals(rel VARCHAR) AS TABLE
    WITH
    _in_order AS (
        SELECT r.key, r.start_ns, r.start_ns + greatest(r.duration_ns, 0) AS end_ns
        FROM query_table(rel) AS r
        WHERE r.start_ns IS NOT NULL
        ORDER BY r.key, r.start_ns
    ),

    _reached AS (
        SELECT
            o.key,
            o.start_ns,
            max((o.key::HUGEINT << 64) + o.end_ns)
                OVER (ROWS UNBOUNDED PRECEDING) AS reached,  -- noqa: PRS, CP02
            lead(o.key) OVER () AS next_key,
            lead(o.start_ns) OVER () AS next_start_ns,
            first_value(o.start_ns) OVER () AS first_start_ns
        FROM _in_order AS o
    ),

    -- Where a merged interval ends, and where the next one starts.
    _last AS (
        SELECT
            r.key,
            r.start_ns,
            (r.reached - (r.key::HUGEINT << 64))::BIGINT AS end_ns,
            r.next_start_ns,
            r.first_start_ns
        FROM _reached AS r
        WHERE
            r.next_key IS DISTINCT FROM r.key
            OR r.next_start_ns > r.reached - (r.key::HUGEINT << 64)
    ),

    _stretches AS (
        SELECT
            l.key,
            coalesce(lag(l.next_start_ns) OVER (), l.first_start_ns) AS start_ns,
            l.end_ns
        FROM _last AS l
    )

    SELECT s.key, s.start_ns, s.end_ns - s.start_ns AS duration_ns
    FROM _stretches AS s;
