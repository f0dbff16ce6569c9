-- derive: critical_arrows
-- since: 0.1
-- summary: Flow events along critical paths, as JSON text. Needs the macros of rebuild.

-- Starts and ends of arrows: one arrow for each place where a critical path moves to another thread or
-- stream. Viewers draw it between the events around its ends. They hold epoch times as doubles, with a
-- resolution of 0.25 us, so the arrow begins a microsecond before its event ends, unless that is before the
-- event starts.
CREATE MACRO critical_arrows() AS TABLE
    WITH
    lanes AS (
        SELECT h.event_id, h.pid, h.tid, FALSE AS is_device
        FROM host_events AS h
        WHERE h.event_id IN (SELECT c.event_id FROM critical_pieces AS c)
        UNION ALL
        SELECT d.event_id, d.pid, d.tid, TRUE
        FROM device_events AS d
        WHERE d.event_id IN (SELECT c.event_id FROM critical_pieces AS c)
    ),

    pieces AS (
        SELECT
            c.start_ns,
            l.pid,
            l.tid,
            l.is_device,
            lag((l.pid, l.tid)) OVER path AS before,
            lag(l.is_device) OVER path AS was_device,
            lag(c.end_ns) OVER path AS before_ns,
            lag(greatest(c.start_ns, c.end_ns - 1000)) OVER path AS from_ns
        FROM critical_pieces AS c
        INNER JOIN lanes AS l ON c.event_id = l.event_id
        WINDOW path AS (PARTITION BY c.chain ORDER BY c.start_ns)
    ),

    arrows AS (
        SELECT
            p.*,
            row_number() OVER (ORDER BY p.start_ns) AS flow_id,
            CASE
                WHEN p.was_device THEN 'critical_path_sync_dependency'
                WHEN p.is_device THEN 'critical_path_kernel_launch_delay'
                ELSE 'critical_path_dependency'
            END AS category,
            '{"critical":true,"weight":' || microseconds(p.start_ns - p.before_ns) || '}' AS args
        FROM pieces AS p
        WHERE p.before <> (p.pid, p.tid)
    ),

    ends AS (
        SELECT
            a.flow_id, a.category, a.args, 's' AS phase, a.before[1] AS pid, a.before[2] AS tid,
            a.from_ns AS at_ns
        FROM arrows AS a
        UNION ALL
        SELECT a.flow_id, a.category, a.args, 'f', a.pid, a.tid, a.start_ns
        FROM arrows AS a
    )

    SELECT
        e.at_ns,
        e.flow_id,
        object_of(present([
            member('ph', to_json(e.phase)),
            member('id', to_json(e.flow_id)),
            member('pid', place(e.pid)),
            member('tid', place(e.tid)),
            member('ts', microseconds(e.at_ns - getvariable('base_ns'))),
            member('cat', to_json(e.category)),
            member('name', '"critical_path"'),
            CASE e.phase WHEN 'f' THEN '"bp":"e"' END,
            member('args', e.args)
        ])) AS text
    FROM ends AS e;
