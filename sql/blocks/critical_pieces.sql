-- block: critical_pieces
-- since: 0.1
-- summary: Pieces of the critical path of each step, as critical_path defines it, without unexplained times.
-- grain: one row per piece of a chain
-- uses: chains, cut_events, device_waits, device_work, host_slices, path_bound, replay_lags, thread_activity
--
-- Lanes are threads and, with numbers below 0, streams. On a lane the chain just goes back in time, until
-- a jump takes it to another lane. Only the jumps need a walk, and that does not go one by one.
--
-- params
--   name     type     unit  default  meaning
--   windows  VARCHAR  -     -        Name of a relation with run, worker, span, trace and chain (numbers), event_id, end_ns (of the step as recorded), from_ns and to_ns: the steps, which must not overlap.
-- columns
--   name      type     unit  meaning
--   chain     BIGINT   key   As given.
--   lane      BIGINT   key   Number of the thread, or of the stream if below 0.
--   event_id  BIGINT   key   The event; NULL while a thread is idle.
--   start_ns  BIGINT   ns    Start of the piece.
--   end_ns    BIGINT   ns    End of the piece.
--   bound     ENUM('other', 'sync', 'launch_delay', 'kernel_kernel_delay')  -  What the chain waits for; NULL while the event itself ran.
CREATE MACRO critical_pieces(windows VARCHAR) AS TABLE
    WITH
    _traces AS MATERIALIZED (
        SELECT
            w.run,
            w.worker,
            w.span,
            w.trace,
            min(w.from_ns) AS from_ns,
            max(w.to_ns) AS to_ns
        FROM query_table(windows) AS w
        GROUP BY w.run, w.worker, w.span, w.trace
    ),

    -- A lane is a thread, or a stream if its number is below 0.
    _threads AS MATERIALIZED (
        SELECT
            t.trace,
            t.pid,
            t.tid,
            row_number() OVER (ORDER BY t.trace, t.pid, t.tid)::INTEGER AS lane
        FROM (
            SELECT DISTINCT a.trace, h.pid, h.tid
            FROM host_events AS h
            INNER JOIN _traces AS a
                ON h.run = a.run AND h.worker = a.worker AND h.span = a.span
        ) AS t
    ),

    _host AS MATERIALIZED (FROM thread_activity('_traces', '_threads')),

    _calls AS NOT MATERIALIZED (
        SELECT
            h.trace,
            h.lane,
            h.event_id,
            h.name,
            h.start_ns,
            h.end_ns,
            h.correlation_id
        FROM _host AS h
        WHERE h.is_call
    ),

    _work AS MATERIALIZED (FROM device_work('_traces', '_calls')),

    _launched AS (
        SELECT
            k.trace,
            k.lane,
            (k.trace::BIGINT << 40) + k.event_id AS id,
            k.start_ns,
            k.end_ns,
            k.launch_ns AS call_ns
        FROM _work AS k
    ),

    -- Work that started late: with more than 5 us that neither its launch nor its stream explains. If most gaps of a
    -- trace are waits for other streams, the typical gap explains nothing.
    _late AS (
        SELECT
            k.trace,
            k.lane,
            k.device_id,
            k.event_id,
            k.start_ns,
            k.launch_ns,
            greatest(k.before_ns, k.launched_ns) AS ready_ns,
            unnest([0, 1]) AS bins_back
        FROM _work AS k
        INNER JOIN replay_lags('_launched') AS l ON k.trace = l.trace
        WHERE
            k.start_ns
            - greatest(k.launch_ns + l.launch_ns, k.before_ns + least(l.gap_ns, 5000)) > 5000
            AND k.launch_ns IS NOT NULL
    ),

    _recorded AS (
        SELECT DISTINCT a.trace
        FROM device_events AS d
        INNER JOIN _traces AS a ON d.run = a.run AND d.worker = a.worker AND d.span = a.span
        WHERE d.kind = 'sync'
    ),

    -- What late work waited for, if no synchronisations were recorded: work on another stream, launched no later,
    -- that ended at most 30 us before it started. Ends are looked up in bins of 30 us: else DuckDB compares all pairs.
    _inferred AS (
        SELECT
            w.trace,
            w.event_id,
            max((e.end_ns, e.lane))[1] AS done_ns,
            max((e.end_ns, e.lane))[2] AS lane
        FROM _late AS w
        INNER JOIN _work AS e
            ON
                w.trace = e.trace
                AND w.device_id IS NOT DISTINCT FROM e.device_id
                AND w.start_ns // 30000 - w.bins_back = e.end_ns // 30000
        ANTI JOIN _recorded AS r ON w.trace = r.trace
        WHERE
            e.lane <> w.lane
            AND e.end_ns BETWEEN w.start_ns - 30000 AND w.start_ns
            AND e.end_ns > w.ready_ns
            AND e.launch_ns <= w.launch_ns
        GROUP BY w.trace, w.event_id
    ),

    _waits AS MATERIALIZED (
        SELECT w.trace, w.event_id, w.done_ns, w.lane
        FROM device_waits('_traces', '_calls', '_work') AS w
        UNION ALL
        SELECT i.trace, i.event_id, i.done_ns, i.lane
        FROM _inferred AS i
    ),

    -- Everything inside a call that waited is part of the call. This and the next are joined again where they are read:
    -- a materialized relation stays in memory until the query ends.
    _busy AS NOT MATERIALIZED (
        SELECT h.trace, h.lane, h.event_id, h.start_ns, h.end_ns, h.overlap_start_ns, h.is_op
        FROM _host AS h
        LEFT JOIN _waits AS w ON h.trace = w.trace AND h.parent_id = w.event_id
        WHERE h.is_active AND w.event_id IS NULL
    ),

    _busy_ids AS (
        SELECT
            b.lane,
            (b.trace::BIGINT << 40) + b.event_id AS id,
            b.start_ns,
            b.end_ns,
            b.overlap_start_ns
        FROM _busy AS b
    ),

    _innermost AS NOT MATERIALIZED (
        SELECT b.lane, b.event_id, b.start_ns, b.end_ns, c.until_ns, b.is_op
        FROM _busy AS b
        INNER JOIN cut_events('_busy_ids') AS c ON (b.trace::BIGINT << 40) + b.event_id = c.id
    ),

    _cuts AS (
        SELECT t.lane, unnest([w.from_ns, w.to_ns]) AS at_ns
        FROM _threads AS t
        INNER JOIN query_table(windows) AS w ON t.trace = w.trace
        UNION ALL
        SELECT k.launch_lane, k.launched_ns
        FROM _work AS k
        WHERE k.is_early AND k.launched_ns > k.from_ns
    ),

    _slices AS MATERIALIZED (FROM host_slices('_cuts', '_innermost')),

    _waiting AS NOT MATERIALIZED (
        SELECT s.lane, s.start_ns, s.end_ns, s.event_id, w.done_ns, w.lane AS done_lane
        FROM _slices AS s
        INNER JOIN _threads AS t ON s.lane = t.lane
        LEFT JOIN _waits AS w ON t.trace = w.trace AND s.event_id = w.event_id
    ),

    _handovers AS (
        SELECT g.lane, o.at_ns, o.lane AS to_lane
        FROM (
            SELECT t.trace, coalesce(t.pid, '') AS pid, s.lane, s.start_ns, s.end_ns
            FROM _slices AS s
            INNER JOIN _threads AS t ON s.lane = t.lane
            WHERE s.event_id IS NULL
        ) AS g
        ASOF INNER JOIN (
            SELECT
                t.trace,
                coalesce(t.pid, '') AS pid,
                s.start_ns AS at_ns,
                max(s.lane) AS lane
            FROM _slices AS s
            INNER JOIN _threads AS t ON s.lane = t.lane
            WHERE s.after_op
            GROUP BY t.trace, t.pid, s.start_ns
        ) AS o
            ON g.trace = o.trace AND g.pid = o.pid AND g.end_ns >= o.at_ns
        WHERE o.at_ns > g.start_ns
    ),

    _ready AS (
        SELECT
            k.lane,
            k.event_id,
            k.start_ns,
            k.before_ns,
            k.launched_ns,
            k.launch_lane,
            w.done_ns,
            w.lane AS done_lane,
            k.launch_ns >= greatest(k.before_ns, w.done_ns, k.launch_ns) AS was_launched_last,
            coalesce(w.done_ns > k.before_ns, w.done_ns IS NOT NULL) AS waited_for_event
        FROM _work AS k
        LEFT JOIN _waits AS w
            ON k.trace = w.trace AND k.event_id = w.event_id AND w.done_ns <= k.start_ns
        WHERE k.end_ns > k.from_ns
    ),

    -- The time before device work, and where the chain continues: NULL for its own stream.
    _delays AS MATERIALIZED (
        SELECT
            r.lane,
            r.event_id,
            r.start_ns,
            r.before_ns,
            CASE
                WHEN r.was_launched_last THEN r.launched_ns
                WHEN r.waited_for_event THEN r.done_ns
            END AS at_ns,
            CASE
                WHEN r.was_launched_last THEN r.launch_lane
                WHEN r.waited_for_event THEN r.done_lane
            END AS to_lane,
            path_bound(
                CASE
                    WHEN r.was_launched_last THEN 'launch_delay'
                    WHEN r.launched_ns IS NOT NULL THEN 'kernel_kernel_delay'
                    ELSE 'other'
                END
            ) AS bound
        FROM _ready AS r
    ),

    _pieces AS (
        SELECT
            s.lane,
            s.start_ns,
            s.end_ns,
            s.event_id,
            path_bound(
                CASE
                    WHEN s.event_id IS NULL THEN 'other'
                    WHEN s.end_ns > s.done_ns THEN 'sync'
                END
            ) AS bound
        FROM _waiting AS s
        WHERE s.end_ns > s.start_ns
        UNION ALL
        SELECT k.lane, greatest(k.start_ns, k.before_ns), k.end_ns, k.event_id, NULL
        FROM _work AS k
        WHERE k.end_ns > greatest(k.start_ns, k.before_ns) AND k.end_ns > k.from_ns
        UNION ALL
        SELECT d.lane, coalesce(d.before_ns, d.at_ns), d.start_ns, d.event_id, d.bound
        FROM _delays AS d
        WHERE d.start_ns > coalesce(d.before_ns, d.at_ns)
    ),

    -- Where the chain leaves a lane. On a lane it just goes back in time.
    _jumps AS MATERIALIZED (
        SELECT row_number() OVER () AS id, j.lane, j.at_ns, max(j.to_lane) AS to_lane
        FROM (
            SELECT s.lane, s.done_ns AS at_ns, s.done_lane AS to_lane
            FROM _waiting AS s
            WHERE s.done_ns IS NOT NULL
            UNION ALL
            SELECT h.lane, h.at_ns, h.to_lane
            FROM _handovers AS h
            UNION ALL
            SELECT d.lane, d.at_ns, d.to_lane
            FROM _delays AS d
            WHERE d.to_lane IS NOT NULL
        ) AS j
        GROUP BY j.lane, j.at_ns
    ),

    _links AS MATERIALIZED (
        SELECT j.id, j.at_ns, j.to_lane, n.id AS next_id, n.at_ns AS next_ns
        FROM _jumps AS j
        ASOF LEFT JOIN _jumps AS n ON j.to_lane = n.lane AND j.at_ns >= n.at_ns
    ),

    -- What ended last on the host: the step, or the recorded events of a trace without steps.
    _host_ends AS (
        SELECT w.chain, t.lane, w.end_ns
        FROM query_table(windows) AS w
        INNER JOIN host_events AS h
            ON
                w.run = h.run AND w.worker = h.worker AND w.span = h.span
                AND w.event_id = h.event_id
        INNER JOIN _threads AS t
            ON
                w.trace = t.trace
                AND h.pid IS NOT DISTINCT FROM t.pid
                AND h.tid IS NOT DISTINCT FROM t.tid
        UNION ALL
        SELECT w.chain, max((b.end_ns, b.lane))[2], max(b.end_ns)
        FROM query_table(windows) AS w
        INNER JOIN _threads AS t ON w.trace = t.trace
        INNER JOIN _busy AS b ON t.lane = b.lane
        WHERE w.event_id IS NULL
        GROUP BY w.chain
    ),

    _ends AS (
        SELECT l.chain, l.from_ns, l.last.lane, l.last.to_ns
        FROM (
            SELECT
                w.chain,
                w.from_ns,
                CASE
                    WHEN d.end_ns >= coalesce(h.end_ns, d.end_ns)
                        THEN { 'lane': d.lane, 'to_ns': d.end_ns }
                    WHEN w.event_id IS NULL THEN { 'lane': h.lane, 'to_ns': h.end_ns }
                    ELSE { 'lane': h.lane, 'to_ns': w.to_ns }
                END AS last
            FROM query_table(windows) AS w
            LEFT JOIN _host_ends AS h ON w.chain = h.chain
            ASOF LEFT JOIN (
                SELECT k.trace, k.end_ns, max(k.lane) AS lane
                FROM _work AS k
                GROUP BY k.trace, k.end_ns
            ) AS d
                ON w.trace = d.trace AND w.to_ns >= d.end_ns
        ) AS l
    ),

    _first_runs AS MATERIALIZED (
        SELECT e.chain, e.from_ns, e.lane, e.to_ns, j.id, j.at_ns
        FROM _ends AS e
        ASOF LEFT JOIN _jumps AS j ON e.lane = j.lane AND e.to_ns >= j.at_ns
    ),

    _next_links AS (
        SELECT l.id, l.next_id, l.next_ns
        FROM _links AS l
        WHERE l.next_id IS NOT NULL
    ),

    _starts AS (
        SELECT r.chain, r.id, r.from_ns
        FROM _first_runs AS r
        WHERE r.at_ns > r.from_ns
    ),

    -- On which lane the chains are, from when to when. No two are on one lane at the same time.
    _runs AS (
        SELECT r.chain, r.lane, greatest(r.from_ns, r.at_ns) AS from_ns, r.to_ns
        FROM _first_runs AS r
        UNION ALL
        SELECT c.chain, l.to_lane, greatest(s.from_ns, l.next_ns), l.at_ns
        FROM chains('_next_links', '_starts') AS c
        INNER JOIN _links AS l ON c.id = l.id
        INNER JOIN _starts AS s ON c.chain = s.chain
    )

    SELECT
        r.chain,
        p.lane,
        p.event_id,
        greatest(p.start_ns, r.from_ns) AS start_ns,
        least(p.end_ns, r.to_ns) AS end_ns,
        p.bound
    FROM _pieces AS p
    ASOF INNER JOIN (
        SELECT u.chain, u.lane, u.from_ns, u.to_ns
        FROM _runs AS u
        WHERE u.to_ns > u.from_ns
    ) AS r
        ON p.lane = r.lane AND p.start_ns < r.to_ns
    WHERE p.end_ns > r.from_ns;
