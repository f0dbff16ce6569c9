-- block: annotated_operations
-- since: 0.2
-- summary: Device time of what annotations of a pipeline launched: computations, transfers, collectives and the optimizer.
-- grain: one row per action that starts in a whole step
-- uses: is_wanted, pipeline_annotations
--
-- A computation lasts from the start of the first work that was launched during its annotation to the end of the last,
-- without communication. A send, a receive or a collective lasts likewise from the first to the last communication. The
-- call that launched the work is on the annotation's thread. A backward pass has the calls of all threads of the process,
-- because autograd launches its work from another thread while the annotation lasts.
--
-- The optimizer is the annotation Optimizer.step#. An action on parameters that launched no collective is left out.
--
-- params
--   run
--   span
-- columns
--   run, worker, span
--   event_id         BIGINT   key  Row of the annotation in host_events.
--   name             VARCHAR  -    Its name.
--   step             BIGINT   -    Step in which it starts.
--   optype           VARCHAR  key  Type of the operation; 'backward-input' and 'backward-weight' are not types.
--   gmc              BIGINT   key  Model chunk within the whole model; NULL for the optimizer.
--   mb_id            BIGINT   -    Microbatch; NULL for actions on parameters and the optimizer.
--   is_double        BOOLEAN  -    Whether the annotation is of two actions at once.
--   start_ns         BIGINT   ns   Start of the first work; NULL if none was launched.
--   end_ns           BIGINT   ns   End of the last work.
--   does_communicate  BOOLEAN  -    Whether it launched communication.
CREATE MACRO annotated_operations(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _actions AS MATERIALIZED (
        SELECT a.* FROM pipeline_annotations(run, NULL, span) AS a
    ),

    _ranges AS MATERIALIZED (
        SELECT a.*
        FROM _actions AS a
        UNION ALL
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.name,
            h.pid,
            h.tid,
            h.start_ns,
            h.start_ns + h.duration_ns,
            FALSE,
            NULL,
            'optimizer',
            NULL
        FROM host_events AS h
        SEMI JOIN _actions AS a ON h.run = a.run AND h.worker = a.worker AND h.span = a.span
        WHERE
            h.category = 'user_annotation'
            AND starts_with(h.name, 'Optimizer.step#')
            AND is_wanted(h.run, h.worker, h.span, run, NULL, span)
    ),

    _calls AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.pid,
            h.tid,
            h.start_ns,
            d.kind = 'communication' AS is_communication,
            regexp_matches(lower(coalesce(d.collective, d.name)), 'reduce_?scatter')
                AS is_reduce_scatter,
            d.start_ns AS work_start_ns,
            d.start_ns + d.duration_ns AS work_end_ns
        FROM (
            -- Most jobs have no pipeline, and none of their events are needed.
            SELECT e.*
            FROM device_events AS e
            SEMI JOIN _actions AS a ON e.run = a.run AND e.worker = a.worker AND e.span = a.span
        ) AS d
        INNER JOIN host_events AS h
            ON
                d.run = h.run AND d.worker = h.worker AND d.span = h.span
                AND d.launch_id = h.event_id
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, NULL, span)
            AND is_wanted(h.run, h.worker, h.span, run, NULL, span)
    ),

    _launched AS (
        SELECT r.action, r.tid AS range_tid, r.event_id, r.end_ns, c.*
        FROM _calls AS c
        ASOF INNER JOIN _ranges AS r
            ON
                c.run = r.run AND c.worker = r.worker AND c.span = r.span AND c.pid = r.pid
                AND c.start_ns >= r.start_ns
    ),

    _work AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.event_id,
            min(c.work_start_ns) FILTER (WHERE NOT c.is_communication) AS compute_start_ns,
            max(c.work_end_ns) FILTER (WHERE NOT c.is_communication) AS compute_end_ns,
            min(c.work_start_ns) FILTER (WHERE c.is_communication) AS transfer_start_ns,
            max(c.work_end_ns) FILTER (WHERE c.is_communication) AS transfer_end_ns,
            bool_or(c.is_communication) AS does_communicate,
            bool_or(c.is_communication AND c.is_reduce_scatter) AS is_reduce_scatter
        FROM _launched AS c
        WHERE c.start_ns < c.end_ns AND (c.action = 'backward' OR c.tid = c.range_tid)
        GROUP BY c.run, c.worker, c.span, c.event_id
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.event_id,
        r.name,
        s.step,
        CASE
            WHEN r.action IN ('forward', 'backward') THEN r.action || '-compute'
            WHEN r.action = 'unshard' THEN 'params-all-gather'
            WHEN r.action = 'reduce-grad' AND w.is_reduce_scatter THEN 'grads-reduce-scatter'
            WHEN r.action = 'reduce-grad' THEN 'separate-grads-all-reduce'
            ELSE r.action
        END AS optype,
        r.gmc,
        r.mb_id,
        r.is_double,
        CASE
            WHEN r.action IN ('forward', 'backward', 'optimizer') THEN w.compute_start_ns
            ELSE w.transfer_start_ns
        END AS start_ns,
        CASE
            WHEN r.action IN ('forward', 'backward', 'optimizer') THEN w.compute_end_ns
            ELSE w.transfer_end_ns
        END AS end_ns,
        coalesce(w.does_communicate, FALSE) AS does_communicate
    FROM _ranges AS r
    INNER JOIN steps AS s
        ON
            r.run = s.run AND r.worker = s.worker AND r.span = s.span
            AND r.start_ns >= s.start_ns AND r.start_ns < s.end_ns
    LEFT JOIN _work AS w
        ON
            r.run = w.run AND r.worker = w.worker AND r.span = w.span
            AND r.event_id = w.event_id
    WHERE
        s.step IS NOT NULL
        AND NOT s.is_tail
        AND r.action <> 'reshard'
        AND (r.action NOT IN ('unshard', 'reduce-grad') OR w.does_communicate);
