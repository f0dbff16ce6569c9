-- view: low_utilization_periods
-- version: 1
-- since: 0.1
-- summary: Periods in which a device had little to do, the least utilized first.
-- grain: one row per period
-- distributes: trace
-- order: utilization_pct, run, worker, span, device_id, start_ns
-- carries: spark
-- needs: no_device_events
-- empty: No part of the recording has a utilization below {below_pct} %.
-- uses: device_key, device_trace_names, is_wanted, percentage
-- example: samples --run gpt_eager
-- reading: These periods make up 62 of the 72 ms. In none of them is the device more than 34 % busy.
--
-- The time of a device, from the start of its first work to the end of its last, is cut into `chunks` parts
-- of one length; the last one is shorter where the length does not divide. The utilization of a part is the
-- sum of the durations of kernels, copies and memsets in it, in percent of its length. Parts below the
-- limit that follow one another make one period. Work that runs at once counts several times, so a
-- utilization can be above 100 %.
--
-- A limit of more than a hundred, as `below_pct := 1e9`, gives one row per device: its utilization.
--
-- The rule is gpu_time_util of Nsight Systems, with the same defaults. utilization_series has the utilization
-- in all intervals, by the definition of the TensorBoard profiler plugin. gpu_gaps has the gaps between
-- two pieces of work.
--
-- params
--   run, worker, span
--   name       type     unit  default  meaning
--   chunks     INTEGER  -     30       Number of parts, 1 to 1000000.
--   below_pct  DOUBLE   pct   50       Parts with a utilization below this are reported.
-- columns
--   run, worker, span
--   name             type     unit  meaning
--   device_id        INTEGER  key   Number of the device on its host.
--   start_ns         BIGINT   ns    Start of the period, nanoseconds since the epoch.
--   duration_us      DOUBLE   us    Length of the period.
--   utilization_pct  DOUBLE   pct   Sum of the durations of the work in it, in percent of its length.
CREATE MACRO low_utilization_periods_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    chunks INTEGER := 30,
    below_pct DOUBLE := 50
) AS TABLE
    WITH
    -- Their number comes from here, too: a list of too many would fill the memory before the error.
    checked AS (
        SELECT
            CASE
                WHEN chunks BETWEEN 1 AND 1000000 THEN chunks
                ELSE error(format(
                    'chunks must be 1 to 1000000, not {}', coalesce(chunks::VARCHAR, 'NULL')
                ))::INTEGER
            END AS parts
    ),

    work AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            device_key(t.names, d.run, d.worker, d.span, d.device_id) AS device_key,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns
        FROM device_events AS d
        CROSS JOIN device_trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND (SELECT c.parts FROM checked AS c) > 0
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    used_devices AS (
        SELECT
            w.run,
            w.worker,
            w.span,
            w.device_id,
            w.device_key,
            min(w.start_ns) AS first_ns,
            max(w.end_ns) AS last_ns
        FROM work AS w
        GROUP BY w.run, w.worker, w.span, w.device_id, w.device_key
    ),

    recordings AS (
        SELECT
            u.run,
            u.worker,
            u.span,
            u.device_id,
            u.device_key,
            u.first_ns,
            u.last_ns,
            (u.last_ns - u.first_ns + chunks - 1) // chunks AS chunk_ns
        FROM used_devices AS u
        WHERE u.last_ns > u.first_ns
    ),

    parts AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.device_id,
            r.device_key,
            p.place,
            r.first_ns + p.place * r.chunk_ns AS start_ns,
            least(r.first_ns + (p.place + 1) * r.chunk_ns, r.last_ns) AS end_ns
        FROM recordings AS r
        CROSS JOIN (SELECT unnest(range(c.parts)) AS place FROM checked AS c) AS p
        WHERE r.first_ns + p.place * r.chunk_ns < r.last_ns
    ),

    -- The work of each part: what lies in several is there once for each.
    placed AS (
        SELECT
            w.device_key,
            w.start_ns,
            w.end_ns,
            unnest(range(
                (w.start_ns - r.first_ns) // r.chunk_ns,
                (w.end_ns - 1 - r.first_ns) // r.chunk_ns + 1
            )) AS place
        FROM work AS w
        INNER JOIN recordings AS r ON w.device_key = r.device_key
        WHERE w.end_ns > w.start_ns
    ),

    utilized AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.device_id,
            p.place,
            p.start_ns,
            p.end_ns,
            coalesce(
                sum(
                    CASE
                        WHEN w.place IS NOT NULL
                            THEN least(w.end_ns, p.end_ns) - greatest(w.start_ns, p.start_ns)
                    END
                ),
                0
            ) AS busy_ns
        FROM parts AS p
        LEFT JOIN placed AS w ON p.device_key = w.device_key AND p.place = w.place
        GROUP BY p.run, p.worker, p.span, p.device_id, p.place, p.start_ns, p.end_ns
    ),

    -- Parts that follow one another have the same difference to their position among those below.
    below AS (
        SELECT
            u.run,
            u.worker,
            u.span,
            u.device_id,
            u.start_ns,
            u.end_ns,
            u.busy_ns,
            u.place - row_number() OVER (
                PARTITION BY u.run, u.worker, u.span, u.device_id ORDER BY u.place
            ) AS period
        FROM utilized AS u
        WHERE percentage(u.busy_ns, u.end_ns - u.start_ns) < below_pct
    ),

    periods AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.device_id,
            min(b.start_ns) AS start_ns,
            sum(b.end_ns - b.start_ns) AS duration_ns,
            sum(b.busy_ns) AS busy_ns
        FROM below AS b
        GROUP BY b.run, b.worker, b.span, b.device_id, b.period
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.device_id,
        p.start_ns,
        p.duration_ns / 1000.0 AS duration_us,
        percentage(p.busy_ns, p.duration_ns) AS utilization_pct
    FROM periods AS p
    ORDER BY
        percentage(p.busy_ns, p.duration_ns) ASC,
        p.run ASC, p.worker ASC, p.span ASC, p.device_id ASC, p.start_ns ASC;
