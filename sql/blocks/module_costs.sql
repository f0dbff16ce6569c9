-- block: module_costs
-- since: 0.1
-- summary: Host and device time of each call of a module, and the modules around it.
-- grain: one row per call
-- uses: cut_events, first_id, host_slices, is_wanted, module_events, open_around, trace_names
--
-- The modules around a call are those that module_events gives: a module that has ended is around nothing
-- any more.
--
-- Host self time is the time in which no module, operator, annotation, runtime call or driver call that
-- started later was open. Python frames inside a module are part of its self time; a frame that ends after
-- the module is not. Device time is a plain sum, as for operators, and belongs to the innermost module that
-- is open at the launch, whatever is in between.
--
-- params
--   name  type     unit  default   meaning
--   run, worker, span
--   kind  VARCHAR  -     'module'  'module', 'lightning_module' or 'lightning_hook'.
-- columns
--   run, worker, span
--   name             type     unit  meaning
--   event_id         BIGINT   key   The call in host_events.
--   path             VARCHAR  -     Names of the modules around the call and its own name, outermost first, separated by ';'.
--   module           VARCHAR  -     Name of the module.
--   module_id        BIGINT   -     Number that identifies the instance of a class; NULL if the trace has none.
--   depth            INTEGER  -     Number of modules around it.
--   start_ns         BIGINT   ns    Start of the call.
--   operators        BIGINT   -     Number of operators that it calls directly, not through another module or operator.
--   host_self_ns     BIGINT   ns    Duration without the modules, operators, annotations and calls inside it.
--   host_total_ns    BIGINT   ns    Duration of the call.
--   device_self_ns   BIGINT   ns    Device work launched in it; NULL if the trace does not link device work to the host.
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
                first_id(t.names, h.run, h.worker, h.span) AS first_id,
                h.event_id,
                h.name,
                h.python_module_id,
                h.start_ns,
                h.duration_ns
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                is_wanted(h.run, h.worker, h.span, run, worker, span)
                AND (
                    (kind = 'module' AND h.python_module_id IS NOT NULL)
                    OR (kind = 'lightning_module' AND starts_with(h.name, '[pl][module]'))
                    OR (kind = 'lightning_hook' AND starts_with(h.name, '[pl][profile]'))
                )
        ) AS r
    ),

    _events AS MATERIALIZED (FROM module_events(run, worker, span, kind)),

    -- Events inside an operator or a call of the same module, which nothing outlives, are neither the
    -- module's own time nor called by it: in most traces these are nearly all events.
    _inside AS MATERIALIZED (
        SELECT
            e.lane,
            e.id,
            e.what,
            e.module_id,
            e.start_ns,
            e.end_ns,
            e.overlap_start_ns,
            e.what <> 'module' AND p.id IS NOT NULL AS is_covered
        FROM _events AS e
        LEFT JOIN _events AS p
            ON
                e.parent_id = p.id
                AND e.module_id = p.module_id
                AND p.what IN ('operator', 'call')
                AND p.overlap_start_ns IS NULL
        WHERE e.module_id IS NOT NULL OR e.what = 'module'
    ),

    _outermost AS MATERIALIZED (
        SELECT i.*
        FROM _inside AS i
        WHERE NOT i.is_covered
    ),

    _lasting AS MATERIALIZED (
        SELECT o.lane, o.id, o.what, o.start_ns, o.end_ns, o.overlap_start_ns
        FROM _outermost AS o
        WHERE o.end_ns > o.start_ns
    ),

    -- A frame that starts in a module and outlives it also ends the module's own time.
    _busy AS (
        SELECT
            c.lane,
            c.id AS event_id,
            c.start_ns,
            c.end_ns,
            least(c.until_ns, m.overlap_start_ns) AS until_ns,
            FALSE AS is_op
        FROM cut_events('_lasting') AS c
        LEFT JOIN (
            SELECT l.id, l.overlap_start_ns
            FROM _lasting AS l
            WHERE l.what = 'module' AND l.overlap_start_ns IS NOT NULL
        ) AS m ON c.id = m.id
    ),

    _no_cuts AS (
        SELECT NULL::BIGINT AS lane, NULL::BIGINT AS at_ns
        WHERE FALSE
    ),

    _host_costs AS (
        SELECT
            s.event_id AS id,
            sum(s.end_ns - s.start_ns)::BIGINT AS host_ns
        FROM host_slices('_no_cuts', '_busy') AS s
        GROUP BY s.event_id
    ),

    -- Operators and calls. The innermost open one is the caller of an operator if it started later than the
    -- module.
    _callers AS (
        SELECT i.lane, i.id, i.start_ns, i.end_ns, i.overlap_start_ns
        FROM _outermost AS i
        WHERE i.what IN ('operator', 'call')
    ),

    _cut_callers AS MATERIALIZED (FROM cut_events('_callers')),

    _operators AS MATERIALIZED (
        SELECT i.lane, i.id, i.module_id, i.start_ns, i.end_ns
        FROM _outermost AS i
        WHERE i.what = 'operator'
    ),

    _operator_counts AS (
        SELECT
            o.module_id AS id,
            count(*) AS operators
        FROM _operators AS o
        INNER JOIN _outermost AS m ON o.module_id = m.id
        LEFT JOIN open_around('_cut_callers', '_operators') AS a ON o.id = a.id
        LEFT JOIN _outermost AS c ON a.around_id = c.id
        WHERE
            c.id IS NULL
            OR c.start_ns < m.start_ns
            OR (c.start_ns = m.start_ns AND (-c.end_ns, c.id) < (-m.end_ns, m.id))
        GROUP BY o.module_id
    ),

    -- A launch belongs to its call, or to the operator if the call is not in the trace.
    _launches AS MATERIALIZED (
        SELECT
            r.first_id,
            r.first_id + r.launch_id AS id,
            r.duration_ns
        FROM (
            SELECT
                first_id(t.names, d.run, d.worker, d.span) AS first_id,
                coalesce(d.launch_id, d.op_id) AS launch_id,
                d.duration_ns
            FROM device_events AS d
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        ) AS r
        WHERE r.launch_id IS NOT NULL
    ),

    _device_costs AS (
        SELECT
            CASE WHEN i.what = 'module' THEN i.id ELSE i.module_id END AS id,
            sum(l.duration_ns)::BIGINT AS device_ns
        FROM _launches AS l
        INNER JOIN _inside AS i ON l.id = i.id
        GROUP BY ALL
    ),

    _outer AS MATERIALIZED (
        SELECT i.id, i.module_id AS outer_id
        FROM _inside AS i
        WHERE i.what = 'module'
    ),

    -- Each module with the modules around it, itself included.
    _around AS (
        SELECT
            o.id,
            o.id AS outer_id
        FROM _outer AS o
        UNION ALL
        SELECT
            a.id,
            o.outer_id
        FROM _around AS a
        INNER JOIN _outer AS o ON a.outer_id = o.id
        WHERE o.outer_id IS NOT NULL
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
        INNER JOIN _outer AS o ON m.id = o.id
        WHERE o.outer_id IS NULL
        UNION ALL
        SELECT
            o.id,
            p.path || ';' || m.module AS path,
            p.depth + 1 AS depth
        FROM _paths AS p
        INNER JOIN _outer AS o ON p.id = o.outer_id
        INNER JOIN _modules AS m ON o.id = m.id
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
        coalesce(c.operators, 0) AS operators,
        coalesce(h.host_ns, 0) AS host_self_ns,
        m.duration_ns AS host_total_ns,
        CASE WHEN l.first_id IS NOT NULL THEN coalesce(d.device_ns, 0) END AS device_self_ns,
        CASE WHEN l.first_id IS NOT NULL THEN coalesce(t.device_ns, 0) END AS device_total_ns
    FROM _modules AS m
    INNER JOIN _paths AS p ON m.id = p.id
    LEFT JOIN _host_costs AS h ON m.id = h.id
    LEFT JOIN _operator_counts AS c ON m.id = c.id
    LEFT JOIN _device_costs AS d ON m.id = d.id
    LEFT JOIN _device_totals AS t ON m.id = t.id
    LEFT JOIN (SELECT DISTINCT s.first_id FROM _launches AS s) AS l ON m.first_id = l.first_id;
