-- view: idle_time
-- version: 1
-- since: 0.1
-- summary: Idle time of each stream by cause: late launches, gaps between kernels, and others.
-- grain: one row per stream of a trace and cause of its idle time
-- distributes: trace
-- order: idle_us DESC, run, worker, span, device_id, stream_id, idle_category
-- carries: spark
-- needs: no_device_events
-- empty: No stream was idle between its first work and its last.
-- uses: first_id, idle_gaps, is_wanted, trace_names, unrecorded_waits, unrecorded_work
-- example: samples --run gpt_eager
-- reading: The stream waits for the host for 97 % of its idle time.
--
-- A gap is the time on a stream from the end of all earlier work to the start of the next kernel, copy
-- or memset. There is no gap before the first one. Its time belongs to these categories. The first that fits counts:
--
-- - unrecorded_work: the part of a gap in which launched work waits on the device, on any stream, while the device
--   shows no work: it does something that is not in the trace (see the block unrecorded_waits). Only for
--   traces of which trace_quality reports work_not_recorded.
-- - host_wait: the next work was launched after all earlier work had ended, so the stream had nothing to do.
-- - kernel_wait: the gap is shorter than max_kernel_gap_us, the time that a device takes from one kernel to
--   the next.
-- - other: the rest, for example work that waits for work of another stream.
--
-- A gap before work whose launch was not recorded is never host_wait.
--
-- A stream counts as idle even while other streams run. gpu_time has the idle time of the whole device, and
-- gpu_gaps its gaps. The definition is that of HolisticTraceAnalysis, which does not know
-- unrecorded_work.
--
-- params
--   run, worker, span
--   name               type    unit  default  meaning
--   max_kernel_gap_us  DOUBLE  us    30       A gap of this length or longer is not kernel_wait.
-- columns
--   run, worker, span
--   device_id      INTEGER  key  Number of the device on its host.
--   stream_id      BIGINT   key  Stream on the device.
--   idle_category  VARCHAR  key  'host_wait', 'kernel_wait', 'unrecorded_work' or 'other'.
--   idle_us        DOUBLE   us   Sum of the gaps.
--   share_pct      DOUBLE   pct  Share of all gaps of the stream.
CREATE MACRO idle_time_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    max_kernel_gap_us DOUBLE := 30
) AS TABLE
    WITH
    work AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            d.stream_id,
            d.event_id,
            d.start_ns,
            d.duration_ns,
            d.launch_id
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    streams AS MATERIALIZED (
        SELECT v.*, first_id(t.names, v.run, v.worker, v.span) AS first_id
        FROM (
            SELECT
                w.run,
                w.worker,
                w.span,
                w.device_id,
                w.stream_id,
                min(w.start_ns) AS first_ns,
                row_number() OVER () AS number
            FROM work AS w
            GROUP BY w.run, w.worker, w.span, w.device_id, w.stream_id
        ) AS v
        CROSS JOIN trace_names(run, worker, span) AS t
    ),

    placed AS (
        SELECT
            s.number AS key,
            w.event_id,
            s.first_id + w.launch_id AS launch_id,
            w.start_ns - s.first_ns AS start_ns,
            w.start_ns - s.first_ns + w.duration_ns AS end_ns
        FROM work AS w
        INNER JOIN streams AS s
            ON
                w.run = s.run AND w.worker = s.worker AND w.span = s.span
                AND w.device_id IS NOT DISTINCT FROM s.device_id
                AND w.stream_id IS NOT DISTINCT FROM s.stream_id
    ),

    gaps AS MATERIALIZED (
        SELECT
            s.number,
            i.launch_id,
            s.first_ns + i.start_ns AS start_ns,
            s.first_ns + i.end_ns AS end_ns
        FROM idle_gaps('placed') AS i
        INNER JOIN streams AS s ON i.key = s.number
    ),

    launches AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.start_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            is_wanted(h.run, h.worker, h.span, run, worker, span)
            AND h.category NOT IN ('cpu_op', 'user_annotation', 'python_function')
    ),

    waits AS (
        SELECT s.number, u.start_ns, u.end_ns
        FROM unrecorded_waits(run, worker, span) AS u
        INNER JOIN unrecorded_work(run, worker, span) AS q
            ON u.run = q.run AND u.worker = q.worker AND u.span = q.span AND q.is_partial
        INNER JOIN streams AS s
            ON
                u.run = s.run AND u.worker = s.worker AND u.span = s.span
                AND u.device_id IS NOT DISTINCT FROM s.device_id
    ),

    -- No work of the device is in such a wait, which takes more than 1 ms. So a gap that meets it contains it.
    waited AS (
        SELECT
            g.number,
            g.end_ns,
            sum(least(g.end_ns, w.end_ns) - greatest(g.start_ns, w.start_ns)) AS wait_ns
        FROM gaps AS g
        INNER JOIN waits AS w
            ON g.number = w.number AND g.start_ns < w.end_ns AND g.end_ns > w.start_ns
        WHERE g.end_ns - g.start_ns > 1000000
        GROUP BY g.number, g.end_ns
    ),

    causes AS (
        SELECT
            g.number,
            CASE
                WHEN l.start_ns > g.start_ns THEN 'host_wait'
                WHEN g.end_ns - g.start_ns < 1000 * max_kernel_gap_us THEN 'kernel_wait'
                ELSE 'other'
            END AS idle_category,
            g.end_ns - g.start_ns - coalesce(w.wait_ns, 0) AS idle_ns
        FROM gaps AS g
        LEFT JOIN launches AS l ON g.launch_id = l.id
        LEFT JOIN waited AS w ON g.number = w.number AND g.end_ns = w.end_ns
        UNION ALL
        SELECT w.number, 'unrecorded_work', w.wait_ns
        FROM waited AS w
    ),

    totals AS (
        SELECT c.number, c.idle_category, sum(c.idle_ns) AS idle_ns
        FROM causes AS c
        WHERE c.idle_ns > 0
        GROUP BY c.number, c.idle_category
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.device_id,
        s.stream_id,
        t.idle_category,
        t.idle_ns / 1000.0 AS idle_us,
        100.0 * t.idle_ns / sum(t.idle_ns) OVER (PARTITION BY t.number) AS share_pct
    FROM totals AS t
    INNER JOIN streams AS s ON t.number = s.number
    ORDER BY
        t.idle_ns DESC,
        s.run ASC, s.worker ASC, s.span ASC, s.device_id ASC, s.stream_id ASC,
        t.idle_category ASC;
