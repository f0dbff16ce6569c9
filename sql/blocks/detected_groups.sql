-- block: detected_groups
-- since: 0.2
-- summary: Which streams share a communicator, as far as the lists and the ends of their collectives tell.
-- grain: one row per member
--
-- A communicator has a stream of its own on each rank. Members of one group have the same list of collectives. Where
-- several groups have the same list, their ends tell them apart: members end together, so the times from one end to the
-- next are alike, and no offset of a clock changes these. Clocks of two hosts may run at different speeds: if the times
-- of two members grow apart evenly, and by 100 ppm at most, this part of the difference does not count. The distance of
-- two members is the median difference of these times, over the first 100 ends, and 1 us at least. The members of a
-- group are near each other, and those of different groups are not: the distances of a list have a gap. Members that
-- are nearer than the gap are a group.
--
-- Ranks of different hosts end a collective a little apart: by up to 71 us in recorded jobs. So two groups that share
-- no clock may be one with members on several hosts, if they are at most 200 us apart and some offset of their clocks
-- lets all of their collectives overlap. Then nothing is said of the list.
--
-- If the largest gap is below ten times, nothing is said of the list, unless all ranks of the job are there, and the list
-- has three members at most or the job has other lists: then the list is one group. Nothing is said either of a list of
-- more members whose collectives cannot be the same: two members with one clock have collectives that lie more than 1 us
-- apart, or no offset of their clocks lets all of their collectives overlap. Of more than 256 members nothing is said.
--
-- params
--   name  type     unit  default  meaning
--   ends  VARCHAR  -     -        Name of a relation with job, is_complete (whether all ranks of the job are there), member_id, clock_id (the clock of its times), list (of the member's collectives), place (from 1), start_ns and end_ns.
-- columns
--   name       type     unit  meaning
--   member_id  BIGINT   key   The stream.
--   list_id    BIGINT   -     Lowest member with the same list.
--   members    BIGINT   -     Number of members with the same list.
--   group_id   BIGINT   -     Lowest member of the group; NULL if that is not known.
--   gap        DOUBLE   -     Largest ratio of a distance to the next smaller one; NULL if there are not two.
CREATE MACRO detected_groups(ends VARCHAR) AS TABLE
    WITH
    _members AS (
        SELECT
            e.job,
            e.member_id,
            any_value(e.clock_id) AS clock_id,
            any_value(e.list) AS list,
            bool_and(e.is_complete) AS is_complete,
            least(count(*), 100) AS ends
        FROM query_table(ends) AS e
        GROUP BY e.job, e.member_id
    ),

    _classes AS MATERIALIZED (
        SELECT
            m.job,
            m.member_id,
            m.clock_id,
            m.is_complete,
            m.ends,
            min(m.member_id) OVER of_list AS list_id,
            count(*) OVER of_list AS members
        FROM _members AS m
        WINDOW of_list AS (PARTITION BY m.job, m.list)
    ),

    _lists AS (
        SELECT c.job, count(DISTINCT c.list_id) AS lists
        FROM _classes AS c
        GROUP BY c.job
    ),

    _times AS MATERIALIZED (
        SELECT
            c.list_id,
            c.member_id,
            c.clock_id,
            e.place,
            e.end_ns,
            e.end_ns - e.start_ns AS duration_ns,
            e.end_ns - first_value(e.end_ns) OVER of_member AS since_ns,
            lead(e.end_ns) OVER of_member - e.end_ns AS time_ns,
            -- A drift is clearer over half of the ends, and one late end does not hide it.
            lead(e.end_ns, c.ends // 2) OVER of_member - e.end_ns AS half_ns
        FROM query_table(ends) AS e
        INNER JOIN _classes AS c ON e.member_id = c.member_id
        WHERE c.members BETWEEN 3 AND 256 AND e.place <= 100
        WINDOW of_member AS (PARTITION BY e.member_id ORDER BY e.place)
    ),

    -- How much faster a clock runs than that of the first member. Of another group, this includes how much longer its
    -- times are, which is the same for all of its members.
    _speeds AS (
        SELECT t.member_id, median(t.half_ns / nullif(f.half_ns, 0)) AS speed
        FROM _times AS t
        INNER JOIN _times AS f ON t.list_id = f.member_id AND t.place = f.place
        GROUP BY t.member_id
    ),

    _rated AS MATERIALIZED (
        SELECT t.*, s.speed
        FROM _times AS t
        INNER JOIN _speeds AS s ON t.member_id = s.member_id
        WHERE t.time_ns IS NOT NULL
    ),

    _places AS (
        SELECT
            a.list_id,
            a.member_id,
            b.member_id AS other_id,
            a.clock_id = b.clock_id AS is_one_clock,
            a.duration_ns,
            b.duration_ns AS other_duration_ns,
            a.time_ns,
            a.time_ns - b.time_ns AS longer_ns,
            a.since_ns,
            a.end_ns - b.end_ns AS later_ns,
            CASE WHEN abs(a.speed - b.speed) <= 1e-4 THEN a.speed - b.speed ELSE 0 END AS drift
        FROM _rated AS a
        INNER JOIN _rated AS b
            ON a.list_id = b.list_id AND a.place = b.place AND a.member_id < b.member_id
    ),

    -- In one group each member ends after the other has started. So the clock of the first member is ahead by
    -- least_ns to most_ns, if both are of one group.
    _pairs AS MATERIALIZED (
        SELECT
            p.list_id,
            p.member_id,
            p.other_id,
            any_value(p.is_one_clock) AS is_one_clock,
            greatest(median(abs(p.longer_ns - p.time_ns * p.drift)), 1000) AS distance,
            max(p.later_ns - p.since_ns * p.drift - p.duration_ns) AS least_ns,
            min(p.later_ns - p.since_ns * p.drift + p.other_duration_ns) AS most_ns,
            bool_or(
                p.is_one_clock
                AND (p.later_ns > p.duration_ns + 1000 OR -p.later_ns > p.other_duration_ns + 1000)
            ) AS lie_apart
        FROM _places AS p
        GROUP BY p.list_id, p.member_id, p.other_id
    ),

    _ratios AS (
        SELECT
            p.list_id,
            lag(p.distance) OVER (PARTITION BY p.list_id ORDER BY p.distance) AS below,
            p.distance / lag(p.distance) OVER (PARTITION BY p.list_id ORDER BY p.distance)
                AS ratio
        FROM _pairs AS p
    ),

    _gaps AS (
        SELECT r.list_id, max(r.ratio) AS gap, arg_max(r.below, r.ratio) AS below
        FROM _ratios AS r
        GROUP BY r.list_id
    ),

    _contradicted AS (
        SELECT p.list_id
        FROM _pairs AS p
        GROUP BY p.list_id
        HAVING bool_or(p.lie_apart OR p.least_ns > p.most_ns + p.distance)
    ),

    _near AS (
        SELECT n.member_id, min(n.other_id) AS lowest_id
        FROM (
            SELECT p.list_id, p.member_id, p.other_id, p.distance FROM _pairs AS p
            UNION ALL
            SELECT p.list_id, p.other_id, p.member_id, p.distance FROM _pairs AS p
        ) AS n
        INNER JOIN _gaps AS g ON n.list_id = g.list_id
        WHERE n.distance <= g.below
        GROUP BY n.member_id
    ),

    _grouped AS (
        SELECT c.member_id, least(c.member_id, n.lowest_id) AS group_id
        FROM _classes AS c
        INNER JOIN _gaps AS g ON c.list_id = g.list_id
        LEFT JOIN _near AS n ON c.member_id = n.member_id
        WHERE g.gap >= 10
    ),

    _told AS (
        SELECT
            p.list_id,
            min(p.distance) > 200000
            OR bool_or(p.is_one_clock OR p.least_ns > p.most_ns + p.distance) AS are_apart
        FROM _pairs AS p
        INNER JOIN _grouped AS a ON p.member_id = a.member_id
        INNER JOIN _grouped AS b ON p.other_id = b.member_id
        WHERE a.group_id <> b.group_id
        GROUP BY
            p.list_id, least(a.group_id, b.group_id), greatest(a.group_id, b.group_id)
    ),

    _lists_told AS (
        SELECT t.list_id, bool_and(t.are_apart) AS are_apart
        FROM _told AS t
        GROUP BY t.list_id
    )

    SELECT
        c.member_id,
        c.list_id,
        c.members,
        CASE
            WHEN g.gap >= 10 THEN CASE WHEN t.are_apart THEN d.group_id END
            WHEN
                c.is_complete
                AND (
                    c.members <= 3
                    OR (c.members <= 256 AND l.lists > 1 AND x.list_id IS NULL)
                )
                THEN c.list_id
        END AS group_id,
        g.gap
    FROM _classes AS c
    INNER JOIN _lists AS l ON c.job = l.job
    LEFT JOIN _gaps AS g ON c.list_id = g.list_id
    LEFT JOIN _grouped AS d ON c.member_id = d.member_id
    LEFT JOIN _lists_told AS t ON c.list_id = t.list_id
    LEFT JOIN _contradicted AS x ON c.list_id = x.list_id;
