-- block: worker_waits
-- since: 0.2
-- summary: How long the mean step of a worker waits for other workers in collectives, and for which.
-- grain: one row per trace that communicates; without those that have no steps where other workers have some
-- uses: is_wanted, jobs, percentage, used_groups, step_breakdown_v1
--
-- Who comes last to a collective spends the least time in it. So the other workers wait for the one that spends the least
-- time in collectives: their communication time beyond that worker's is waiting.
--
-- Only workers that are connected are compared: two workers of a job are, if they use the same process group in their
-- steps, or if both are connected with a third one. Then a worker that comes last holds all of them up, also those that
-- have no group in common with it. Two tensor-parallel groups without a common group do not wait for each other.
--
-- Workers of other groups may transfer more. A group transfers at least as long as its collectives take of the member
-- where they take least. What a worker's groups transfer longer than those of the worker with the least is no waiting.
--
-- A trace without steps counts as one step. Where other workers of its job have steps, it is not compared with them.
-- Recordings without steps may be of different length. So a group connects two of them only if they have as many of its
-- collectives.
-- Workers of a job in which a rank has several traces are not compared with anybody.
--
-- If the workers come last in turn, none of them communicates much less than the others. But in each step one does,
-- and in_turn_us is what a worker waits for that one.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   set_id            BIGINT   key  Number of the set of workers that are connected, over all recordings.
--   straggler         VARCHAR  -    The worker with the least, if another waits for it for more than 10 % of its mean step.
--   longest_wait_us   DOUBLE   us   The longest that a worker of the set waits for the one with the least.
--   longest_wait_pct  DOUBLE   pct  The largest share of a worker's mean step that it waits for that one.
--   straggler_us      DOUBLE   us   Time of waiting for the straggler; 0 if there is none.
--   in_turn_us        DOUBLE   us   Time of waiting for the worker with the least in the same step, without straggler_us.
--   waits_for         VARCHAR  -    The straggler, if straggler_us is half of the communication time or more.
--   waits_in_turn     BOOLEAN  -    Whether otherwise in_turn_us is half or more of the communication time without straggler_us.
CREATE MACRO worker_waits(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    -- A trace that is not to be compared is a job of its own.
    _jobs AS MATERIALIZED (
        SELECT
            j.run,
            j.worker,
            j.span,
            dense_rank() OVER (ORDER BY j.job, CASE WHEN j.is_repeated THEN j.worker END) AS job,
            row_number() OVER (ORDER BY j.run, j.worker, j.span) AS trace_id
        FROM jobs(run, span) AS j
    ),

    _groups AS MATERIALIZED (
        SELECT
            j.trace_id,
            dense_rank() OVER (ORDER BY j.job, g.group_name, g.group_ranks, g.calls) AS group_id,
            g.total_us
        FROM used_groups(run := run, span := span) AS g
        INNER JOIN _jobs AS j ON g.run = j.run AND g.worker = j.worker AND g.span = j.span
    ),

    -- Each round passes the lowest number on to all members of a group, until no number changes.
    _lowest AS (
        SELECT j.trace_id, j.trace_id AS lowest_id, TRUE AS is_changed
        FROM _jobs AS j
        UNION ALL
        SELECT g.trace_id, min(o.lowest_id), min(o.lowest_id) < min(l.lowest_id)
        FROM _groups AS g
        INNER JOIN _lowest AS l ON g.trace_id = l.trace_id
        INNER JOIN (
            SELECT m.group_id, min(k.lowest_id) AS lowest_id
            FROM _groups AS m
            INNER JOIN _lowest AS k ON m.trace_id = k.trace_id
            GROUP BY m.group_id
        ) AS o ON g.group_id = o.group_id
        WHERE EXISTS (FROM _lowest AS c WHERE c.is_changed)
        GROUP BY g.trace_id
    ),

    _sets AS (
        SELECT l.trace_id, min(l.lowest_id) AS set_id
        FROM _lowest AS l
        GROUP BY l.trace_id
    ),

    -- Of all workers of a run, because each is compared with the others.
    _steps AS MATERIALIZED (
        SELECT
            b.run,
            b.worker,
            b.span,
            j.trace_id,
            c.set_id,
            b.step,
            b.total_us,
            b.communication_us,
            sum(b.communication_us) OVER (PARTITION BY b.run, b.worker, b.span) > 0
                AS communicates
        FROM step_breakdown_v1(run := run, span := span) AS b
        INNER JOIN _jobs AS j ON b.run = j.run AND b.worker = j.worker AND b.span = j.span
        INNER JOIN _sets AS c ON j.trace_id = c.trace_id
        WHERE NOT b.is_tail
        QUALIFY
            b.step IS NOT NULL
            OR NOT bool_or(b.step IS NOT NULL) OVER (PARTITION BY j.job)
    ),

    -- Per mean step.
    _times AS MATERIALIZED (
        SELECT g.trace_id, g.group_id, g.total_us / s.steps AS total_us
        FROM _groups AS g
        INNER JOIN (
            SELECT b.trace_id, count(*) AS steps
            FROM _steps AS b
            GROUP BY b.trace_id
        ) AS s ON g.trace_id = s.trace_id
    ),

    _transfers AS (
        SELECT t.trace_id, sum(m.least_us) AS transfer_us
        FROM _times AS t
        INNER JOIN (
            SELECT o.group_id, min(o.total_us) AS least_us
            FROM _times AS o
            GROUP BY o.group_id
        ) AS m ON t.group_id = m.group_id
        GROUP BY t.trace_id
    ),

    _communicating AS (
        SELECT s.*, coalesce(t.transfer_us, 0) AS transfer_us
        FROM _steps AS s
        LEFT JOIN _transfers AS t ON s.trace_id = t.trace_id
        WHERE s.communicates
    ),

    _least AS (
        SELECT
            c.*,
            min(c.communication_us) OVER of_step
            + greatest(
                c.transfer_us - arg_min(c.transfer_us, (c.communication_us, c.worker)) OVER of_step,
                0
            ) AS least_us
        FROM _communicating AS c
        WINDOW of_step AS (PARTITION BY c.set_id, c.step)
    ),

    _means AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.set_id,
            avg(s.total_us) AS total_us,
            avg(s.communication_us) AS communication_us,
            avg(greatest(s.communication_us - s.least_us, 0)) AS step_waits_us,
            any_value(s.transfer_us) AS transfer_us
        FROM _least AS s
        GROUP BY s.run, s.worker, s.span, s.set_id
    ),

    _waits AS (
        SELECT
            m.*,
            greatest(
                m.communication_us
                - first_value(m.communication_us) OVER of_set
                - greatest(m.transfer_us - first_value(m.transfer_us) OVER of_set, 0),
                0
            ) AS waited_us,
            first_value(m.worker) OVER of_set AS last_worker
        FROM _means AS m
        WINDOW of_set AS (PARTITION BY m.set_id ORDER BY m.communication_us ASC, m.worker ASC)
    ),

    _longest AS (
        SELECT
            w.*,
            max(w.waited_us) OVER of_set AS longest_wait_us,
            max(percentage(w.waited_us, w.total_us)) OVER of_set AS longest_wait_pct
        FROM _waits AS w
        WINDOW of_set AS (PARTITION BY w.set_id)
    ),

    _divided AS (
        SELECT
            l.*,
            CASE WHEN l.longest_wait_pct > 10 THEN l.last_worker END AS straggler,
            CASE WHEN l.longest_wait_pct > 10 THEN l.waited_us ELSE 0 END AS straggler_us
        FROM _longest AS l
    )

    SELECT
        l.run,
        l.worker,
        l.span,
        l.set_id,
        l.straggler,
        l.longest_wait_us,
        l.longest_wait_pct,
        l.straggler_us,
        greatest(l.step_waits_us - l.straggler_us, 0) AS in_turn_us,
        CASE WHEN l.straggler_us >= 0.5 * l.communication_us THEN l.straggler END AS waits_for,
        l.straggler_us < 0.5 * l.communication_us
        AND l.step_waits_us - l.straggler_us >= 0.5 * (l.communication_us - l.straggler_us)
            AS waits_in_turn
    FROM _divided AS l
    WHERE is_wanted(l.run, l.worker, l.span, run, worker, span);
