-- block: module_costs
-- since: 0.1
-- summary: What each call of a module cost on the host and on the device, and what is around it.
-- grain: one row per call
-- uses: trace_names
--
-- A module is an event that stands for a call of one: with kind 'module' the frame of an nn.Module,
-- with 'lightning_module' or 'lightning_hook' what PyTorch Lightning's profiler writes of its modules
-- and hooks. Modules of another kind are nothing special then.
--
-- Host self time is the length of the call without the modules, operators, annotations, runtime and
-- driver calls inside it; plain Python frames are part of it. Device work is a plain sum, as that of
-- operators is, and belongs to the innermost module around its launch, whatever is in between.
--
-- params
--   name  type     unit  default   meaning
--   run, worker, span
--   kind  VARCHAR  -     'module'  'module', 'lightning_module' or 'lightning_hook'.
-- columns
--   run, worker, span
--   name             type     unit  meaning
--   event_id         BIGINT   key   The call in host_events.
--   path             VARCHAR  -     Names of the modules around it and its own, from the outermost, with ';' between.
--   module           VARCHAR  -     Name of the module.
--   module_id        BIGINT   -     Number that tells the instances of a class apart; NULL where the trace has none.
--   depth            INTEGER  -     Number of modules around it.
--   start_ns         BIGINT   ns    Start of the call.
--   operators        BIGINT   -     Operators that it calls itself: not those of modules or operators inside it.
--   host_self_ns     BIGINT   ns    Length without anything named that ran inside it.
--   host_total_ns    BIGINT   ns    Length of the call.
--   device_self_ns   BIGINT   ns    Device work that was launched in it; NULL where the trace links none.
--   device_total_ns  BIGINT   ns    The same, with the modules inside it.
CREATE MACRO module_costs(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, kind VARCHAR := 'module'
) AS TABLE
    WITH RECURSIVE
    _modules AS MATERIALIZED (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.first_id,
            r.first_id + r.event_id AS id,
            r.event_id,
            CASE kind
                WHEN 'module' THEN regexp_replace(r.name, '^nn\.Module: ', '')
                WHEN 'lightning_module' THEN regexp_replace(r.name, '^\[pl\]\[module\](.*?: )?', '')
                WHEN 'lightning_hook' THEN replace(r.name, '[pl][profile]', '')
            END AS module,
            r.python_module_id AS module_id,
            r.start_ns,
            r.duration_ns
        FROM (
            SELECT
                h.run,
                h.worker,
                h.span,
                list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span)
                * (1::BIGINT << 40) AS first_id,
                h.event_id,
                h.name,
                h.python_module_id,
                h.start_ns,
                h.duration_ns
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                (run IS NULL OR h.run = run)
                AND (worker IS NULL OR h.worker = worker)
                AND (span IS NULL OR h.span = span)
                AND (
                    (kind = 'module' AND h.python_module_id IS NOT NULL)
                    OR (kind = 'lightning_module' AND starts_with(h.name, '[pl][module]'))
                    OR (kind = 'lightning_hook' AND starts_with(h.name, '[pl][profile]'))
                )
        ) AS r
    ),

    _traces AS MATERIALIZED (
        SELECT DISTINCT m.first_id
        FROM _modules AS m
    ),

    _host AS MATERIALIZED (
        SELECT
            r.first_id + r.event_id AS id,
            r.first_id + r.parent_id AS parent_id,
            CASE
                WHEN r.is_module THEN 'module'
                WHEN r.category = 'python_function' THEN 'frame'
                WHEN r.category = 'user_annotation' THEN 'annotation'
                WHEN r.category = 'cpu_op' THEN 'operator'
                ELSE 'call'
            END AS what,
            r.start_ns,
            r.start_ns + r.duration_ns AS end_ns
        FROM (
            SELECT
                list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span)
                * (1::BIGINT << 40) AS first_id,
                h.event_id,
                h.parent_id,
                h.category,
                CASE kind
                    WHEN 'module' THEN h.python_module_id IS NOT NULL
                    WHEN 'lightning_module' THEN starts_with(h.name, '[pl][module]')
                    WHEN 'lightning_hook' THEN starts_with(h.name, '[pl][profile]')
                END AS is_module,
                h.start_ns,
                h.duration_ns
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                (run IS NULL OR h.run = run)
                AND (worker IS NULL OR h.worker = worker)
                AND (span IS NULL OR h.span = span)
        ) AS r
        INNER JOIN _traces AS w ON r.first_id = w.first_id
    ),

    -- What is inside each module and inside no other one within it, from the top down.
    _contents AS (
        SELECT
            h.id,
            h.id AS module_id,
            'frame' AS what,
            TRUE AS is_direct,
            TRUE AS is_own,
            h.start_ns,
            h.end_ns,
            h.end_ns AS module_end_ns
        FROM _host AS h
        WHERE h.what = 'module'
        UNION ALL
        SELECT
            h.id,
            c.module_id,
            h.what,
            c.is_direct AND c.what = 'frame' AS is_direct,
            c.is_own AND c.what IN ('frame', 'annotation') AS is_own,
            h.start_ns,
            h.end_ns,
            c.module_end_ns
        FROM _contents AS c
        INNER JOIN _host AS h ON c.id = h.parent_id
        WHERE c.what <> 'module'
    ),

    _host_costs AS (
        SELECT
            c.module_id AS id,
            count(*) FILTER (WHERE c.is_own AND c.what = 'operator') AS operators,
            sum(
                CASE
                    WHEN c.is_direct AND c.what <> 'frame'
                        THEN least(c.end_ns, c.module_end_ns) - c.start_ns
                    ELSE 0
                END
            )::BIGINT AS inner_ns
        FROM _contents AS c
        GROUP BY c.module_id
    ),

    -- A launch is told by its call, and where that is not in the trace by the operator.
    _launches AS MATERIALIZED (
        SELECT
            r.first_id,
            r.first_id + r.launch_id AS id,
            r.duration_ns
        FROM (
            SELECT
                list_position(t.names, d.run || chr(0) || d.worker || chr(0) || d.span)
                * (1::BIGINT << 40) AS first_id,
                coalesce(d.launch_id, d.op_id) AS launch_id,
                d.duration_ns
            FROM device_events AS d
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND (run IS NULL OR d.run = run)
                AND (worker IS NULL OR d.worker = worker)
                AND (span IS NULL OR d.span = span)
        ) AS r
        WHERE r.launch_id IS NOT NULL
    ),

    _device_costs AS (
        SELECT
            c.module_id AS id,
            sum(l.duration_ns)::BIGINT AS device_ns
        FROM _launches AS l
        INNER JOIN _contents AS c ON l.id = c.id
        GROUP BY c.module_id
    ),

    -- Each module with those around it, itself included.
    _around AS (
        SELECT
            m.id,
            m.id AS outer_id
        FROM _modules AS m
        UNION ALL
        SELECT
            a.id,
            c.module_id AS outer_id
        FROM _around AS a
        INNER JOIN _contents AS c ON a.outer_id = c.id
        WHERE c.what = 'module'
    ),

    _device_totals AS (
        SELECT
            a.outer_id AS id,
            sum(d.device_ns)::BIGINT AS device_ns
        FROM _device_costs AS d
        INNER JOIN _around AS a ON d.id = a.id
        GROUP BY a.outer_id
    ),

    _paths AS (
        SELECT
            m.id,
            m.module AS path,
            0 AS depth
        FROM _modules AS m
        ANTI JOIN (SELECT c.id FROM _contents AS c WHERE c.what = 'module') AS i ON m.id = i.id
        UNION ALL
        SELECT
            c.id,
            p.path || ';' || m.module AS path,
            p.depth + 1 AS depth
        FROM _paths AS p
        INNER JOIN _contents AS c ON p.id = c.module_id
        INNER JOIN _modules AS m ON c.id = m.id
        WHERE c.what = 'module'
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        m.event_id,
        p.path,
        m.module,
        m.module_id,
        p.depth,
        m.start_ns,
        h.operators,
        m.duration_ns - h.inner_ns AS host_self_ns,
        m.duration_ns AS host_total_ns,
        CASE WHEN l.first_id IS NOT NULL THEN coalesce(d.device_ns, 0) END AS device_self_ns,
        CASE WHEN l.first_id IS NOT NULL THEN coalesce(t.device_ns, 0) END AS device_total_ns
    FROM _modules AS m
    INNER JOIN _paths AS p ON m.id = p.id
    INNER JOIN _host_costs AS h ON m.id = h.id
    LEFT JOIN _device_costs AS d ON m.id = d.id
    LEFT JOIN _device_totals AS t ON m.id = t.id
    LEFT JOIN (SELECT DISTINCT s.first_id FROM _launches AS s) AS l ON m.first_id = l.first_id;
