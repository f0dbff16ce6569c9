-- block: module_events
-- since: 0.1
-- summary: Calls of modules and other named events of their threads, each with the innermost module around it.
-- grain: one row per event, without Python frames that are not modules
-- uses: cut_events, first_id, is_wanted, open_around, trace_names
--
-- A module is an event that represents a call of one. With kind 'module' it is the frame of an nn.Module; with
-- 'lightning_module' or 'lightning_hook' it is a row that PyTorch Lightning's profiler writes for a module
-- or a hook. Modules of the other kinds are ordinary events then.
--
-- An event is inside the modules that are open when it starts; a module is inside those that are open
-- from its start to its end. So a module that has ended is around nothing any more. A module that outlives
-- the module in which it starts is a sibling of it, and later events are inside the one that started last.
-- Other open events do not matter: an event that starts in a frame that is never closed is inside the module
-- in which the frame starts, as long as the module is open.
--
-- params
--   name  type     unit  default   meaning
--   run, worker, span
--   kind  VARCHAR  -     'module'  'module', 'lightning_module' or 'lightning_hook'.
-- columns
--   name              type     unit  meaning
--   first_id          BIGINT   key   Number of the trace, as in trace_names.
--   id                BIGINT   key   Number of the event, as in trace_names.
--   lane              BIGINT   -     Number of the thread.
--   what              VARCHAR  -     'module', 'operator', 'annotation' or 'call'.
--   parent_id         BIGINT   -     Parent in host_events, numbered as id.
--   module_id         BIGINT   -     Innermost module around it, numbered as id; NULL if there is none.
--   start_ns          BIGINT   ns    Start.
--   end_ns            BIGINT   ns    End.
--   overlap_start_ns  BIGINT   ns    Start of the first event of any kind that starts inside it and ends after it; NULL if there is none.
CREATE MACRO module_events(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, kind VARCHAR := 'module'
) AS TABLE
    WITH
    _host AS MATERIALIZED (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.parent_id,
            CASE
                WHEN
                    CASE kind
                        WHEN 'module' THEN h.python_module_id IS NOT NULL
                        WHEN 'lightning_module' THEN starts_with(h.name, '[pl][module]')
                        WHEN 'lightning_hook' THEN starts_with(h.name, '[pl][profile]')
                    END
                    THEN 'module'
                WHEN h.category = 'python_function' THEN 'frame'
                WHEN h.category = 'user_annotation' THEN 'annotation'
                WHEN h.category = 'cpu_op' THEN 'operator'
                ELSE 'call'
            END AS what,
            h.pid,
            h.tid,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            h.overlap_start_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _threads AS MATERIALIZED (
        SELECT
            m.first_id,
            m.pid,
            m.tid,
            row_number() OVER () AS lane
        FROM (
            SELECT DISTINCT h.first_id, h.pid, h.tid
            FROM _host AS h
            WHERE h.what = 'module'
        ) AS m
    ),

    _all AS MATERIALIZED (
        SELECT
            t.lane,
            h.first_id,
            h.first_id + h.event_id AS id,
            h.first_id + h.parent_id AS parent_id,
            h.what,
            h.start_ns,
            h.end_ns,
            h.overlap_start_ns
        FROM _host AS h
        INNER JOIN _threads AS t
            ON
                h.first_id = t.first_id
                AND h.pid IS NOT DISTINCT FROM t.pid
                AND h.tid IS NOT DISTINCT FROM t.tid
    ),

    _modules AS (
        SELECT a.lane, a.id, a.start_ns, a.end_ns, a.overlap_start_ns
        FROM _all AS a
        WHERE a.what = 'module'
    ),

    _cut AS MATERIALIZED (FROM cut_events('_modules')),

    _named AS MATERIALIZED (
        SELECT
            a.lane,
            a.first_id,
            a.id,
            a.parent_id,
            a.what,
            a.start_ns,
            a.end_ns,
            a.overlap_start_ns
        FROM _all AS a
        WHERE a.what <> 'frame'
    )

    SELECT
        n.first_id,
        n.id,
        n.lane,
        n.what,
        n.parent_id,
        o.around_id AS module_id,
        n.start_ns,
        n.end_ns,
        n.overlap_start_ns
    FROM _named AS n
    LEFT JOIN open_around('_cut', '_named') AS o ON n.id = o.id;
