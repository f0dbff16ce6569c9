-- derive: enclosing
-- since: 0.1
-- summary: For each row of a thread the innermost candidate interval that is open where it starts.
--
-- Takes a relation (row_id, kind, thread, start_ns, end_ns, is_candidate); an instant is a row without
-- a length. Intervals are half-open, ordered by start, longer first, smaller row_id first. Returns
-- every row with its position in that order, the number of candidates open at its start (depth)
-- and the innermost of them (parent_*).
--
-- Walking the edges of all intervals in time order, a running sum of +1 and -1 counts the open
-- candidates, and the parent of a row at depth d is the last candidate before it at depth d - 1.
-- That holds while candidates nest. One that starts inside another and ends after it shows as a row
-- that ends after its parent; the caller takes such rows out of the candidates and asks again.
CREATE MACRO enclosing(rel VARCHAR) AS TABLE
    WITH
    edges AS (
        SELECT
            r.row_id,
            r.kind,
            r.thread,
            r.start_ns AS at_ns,
            r.start_ns,
            r.end_ns,
            r.is_candidate AND r.end_ns > r.start_ns AS opens,
            -- At one instant: what ends, then what starts, then what has no length.
            CASE WHEN r.end_ns > r.start_ns THEN 1 ELSE 2 END AS turn,
            CASE WHEN r.is_candidate AND r.end_ns > r.start_ns THEN 1 ELSE 0 END AS delta
        FROM query_table(rel) AS r
        UNION ALL
        SELECT r.row_id, r.kind, r.thread, r.end_ns AS at_ns, r.start_ns, r.end_ns, NULL, 0, -1
        FROM query_table(rel) AS r
        WHERE r.is_candidate AND r.end_ns > r.start_ns
    ),

    walked AS (
        SELECT
            e.*,
            (sum(e.delta) OVER walk - e.delta)::INTEGER AS depth,
            row_number() OVER walk AS position
        FROM edges AS e
        WINDOW walk AS (
            PARTITION BY e.thread
            ORDER BY e.at_ns ASC, e.turn ASC, e.end_ns DESC, e.row_id ASC
            ROWS UNBOUNDED PRECEDING
        )
    ),

    starts AS (SELECT * FROM walked WHERE opens IS NOT NULL)

    SELECT
        s.row_id,
        s.kind,
        s.thread,
        s.start_ns,
        s.end_ns,
        s.opens,
        s.position,
        s.depth,
        p.row_id AS parent_row_id,
        p.kind AS parent_kind,
        p.position AS parent_position,
        p.end_ns AS parent_end_ns
    FROM starts AS s
    ASOF LEFT JOIN (SELECT * FROM starts WHERE opens) AS p
        ON s.thread = p.thread AND p.depth = s.depth - 1 AND s.position > p.position;
