-- block: memory_growth
-- since: 0.2
-- summary: How much the allocated memory of a device grows in every step.
-- grain: one row per trace with a device whose memory grows from each step to the next
-- uses: complete_steps, latest_before, memory_totals
--
-- What counts is the least memory that is allocated in a step, because a step releases what it needs only for itself.
-- The first step is left out: it may allocate what all others use, such as the state of the optimizer. So a trace needs
-- four steps that are not tail steps. The total of the allocator is recorded since torch 1.10.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device        VARCHAR  -      The device, as in memory_curve; of several the one that grows most.
--   growth_bytes  DOUBLE   bytes  How much it grows per step, on average.
CREATE MACRO memory_growth(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _steps AS MATERIALIZED (FROM complete_steps(run, worker, span)),

    _records AS MATERIALIZED (
        SELECT
            t.trace AS lane,
            m.time_ns AS at_ns,
            m.event_id AS id,
            m.device,
            m.allocated_bytes
        FROM memory_totals(run, worker, span) AS m
        INNER JOIN (SELECT DISTINCT s.run, s.worker, s.span, s.trace FROM _steps AS s) AS t
            ON m.run = t.run AND m.worker = t.worker AND m.span = t.span
    ),

    _starts AS (
        SELECT s.trace AS lane, s.start_ns AS at_ns, s.slot AS id
        FROM _steps AS s
    ),

    _least AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.steps,
            s.slot,
            r.device,
            min(r.allocated_bytes) AS bytes
        FROM latest_before('_starts', '_records') AS l
        INNER JOIN _records AS r ON l.lane = r.lane AND l.id = r.id
        INNER JOIN _steps AS s ON l.lane = s.trace AND l.latest_id = s.slot
        WHERE r.at_ns < s.start_ns + s.duration_ns AND s.slot > 1
        GROUP BY s.run, s.worker, s.span, s.steps, s.slot, r.device
    ),

    _changes AS (
        SELECT
            e.*,
            e.bytes - lag(e.bytes) OVER (
                PARTITION BY e.run, e.worker, e.span, e.device ORDER BY e.slot
            ) AS growth_bytes
        FROM _least AS e
    ),

    _growing AS (
        SELECT c.run, c.worker, c.span, c.device, avg(c.growth_bytes) AS growth_bytes
        FROM _changes AS c
        GROUP BY c.run, c.worker, c.span, c.device
        HAVING
            min(c.growth_bytes) > 0
            AND count(c.growth_bytes) = max(c.steps) - 2
            AND max(c.steps) > 3
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        arg_max(g.device, (g.growth_bytes, g.device)) AS device,
        max(g.growth_bytes) AS growth_bytes
    FROM _growing AS g
    GROUP BY g.run, g.worker, g.span;
