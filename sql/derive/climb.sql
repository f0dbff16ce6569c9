-- derive: climb
-- since: 0.1
-- summary: Adds each cost to the ancestor given by climbs, and doubles the reach of climbs.
--
-- Run it until climbs is empty. After n runs a cost is at all ancestors less than 2^n levels up, so in the
-- end it is at all of its ancestors. A trace can nest as deep as it is long: climbing level by level would
-- be a sum over every pair of an event and an ancestor.
INSERT INTO costs
SELECT
    u.ancestor_id,
    c.is_own AND u.stays_own AS is_own,
    sum(c.inner_ns)::BIGINT,
    sum(c.plain_ns)::BIGINT,
    sum(c.tensor_core_ns)::BIGINT,
    sum(c.unknown_ns)::BIGINT,
    bool_or(c.is_eligible)
FROM costs AS c
INNER JOIN climbs AS u ON c.event_id = u.event_id
GROUP BY ALL;

CREATE OR REPLACE TABLE climbs AS
SELECT u.event_id, v.ancestor_id, u.stays_own AND v.stays_own AS stays_own
FROM climbs AS u
INNER JOIN climbs AS v ON u.ancestor_id = v.event_id;
