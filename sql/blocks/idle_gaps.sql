-- block: idle_gaps
-- since: 0.1
-- summary: The gaps in what ran: from the end of all that started before to the next start.
-- grain: one row per gap
--
-- Before the first start of a key there is no gap. Of what starts at once, the lowest id comes first.
--
-- Key, end and event are one number: the largest so far is of what ended last. The order is made before
-- the windows and not by them, which takes a third of the time.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with key, event_id, launch_id, start_ns and end_ns: a key is below 2^23, an event_id below 2^40, and a time is 0 or more, as from the first start of the key on.
-- columns
--   name       type    unit  meaning
--   key        BIGINT  key   As given: a number for everything that must not mix.
--   before_id  BIGINT  -     The event that ended last before the gap.
--   after_id   BIGINT  key   The event that ended the gap.
--   launch_id  BIGINT  -     As given for that event.
--   start_ns   BIGINT  ns    Start of the gap.
--   end_ns     BIGINT  ns    End of the gap.
CREATE MACRO idle_gaps(rel VARCHAR) AS TABLE
    WITH
    _in_order AS (
        SELECT
            r.key,
            r.start_ns,
            r.event_id,
            r.launch_id,
            (r.key::HUGEINT << 103) + (r.end_ns::HUGEINT << 40) + r.event_id AS end_place
        FROM query_table(rel) AS r
        ORDER BY r.key, r.start_ns, r.event_id
    ),

    _ends AS (
        SELECT
            o.key,
            o.start_ns,
            o.event_id,
            o.launch_id,
            max(o.end_place) OVER (ROWS UNBOUNDED PRECEDING) AS last_place  -- noqa: PRS, CP02
        FROM _in_order AS o
    ),

    _followed AS (
        SELECT
            e.key,
            e.start_ns,
            e.event_id,
            e.launch_id,
            lag(e.last_place) OVER () AS last_before
        FROM _ends AS e
    ),

    _stretches AS (
        SELECT
            f.key,
            (f.last_before & ((1::BIGINT << 40) - 1))::BIGINT AS before_id,
            f.event_id AS after_id,
            f.launch_id,
            ((f.last_before >> 40) & ((1::BIGINT << 62) - 1))::BIGINT AS start_ns,
            f.start_ns AS end_ns
        FROM _followed AS f
        WHERE f.last_before >> 103 = f.key
    )

    SELECT s.key, s.before_id, s.after_id, s.launch_id, s.start_ns, s.end_ns
    FROM _stretches AS s
    WHERE s.end_ns > s.start_ns;
