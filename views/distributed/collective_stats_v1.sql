-- view: collective_stats
-- version: 1
-- since: 0.1
-- summary: Calls, bytes, transfer time and waiting time of each kind of collective.
-- grain: one row per name of a collective
-- distributes: run
-- combines: traces; collective_calls()
-- order: total_us DESC, run, worker, span, name
-- empty: No collective was recorded, on a device or on the host: a job of one process has none; for those on a device {record device}.
-- uses: matched_collectives, percentage, ratio, transfer_totals
-- example: samples --run ddp_gloo
-- reading: Broadcasts move few bytes and take long: rank 0 spends most of their time waiting for rank 1.
--
-- Collectives and their transfer, which ends when the row ends, are those of the view collectives.
-- Where several collectives of one name run at once, on two threads or two streams, the time counts once.
-- So the totals are not the sums of the durations in that view. Collectives of different names count
-- separately.
--
-- params
--   run, worker, span
--   per_span
-- columns
--   run, worker, span
--   name              type     unit   meaning
--   name              VARCHAR  key    'all_reduce', 'all_gather', 'broadcast', ...
--   calls             BIGINT   -      Number of collectives that the worker took part in.
--   total_bytes       BIGINT   bytes  Sum of the known message sizes; NULL if no size is known.
--   mean_bytes        DOUBLE   bytes  Mean of the known message sizes.
--   total_us          DOUBLE   us     Time in which at least one collective ran.
--   share_pct         DOUBLE   pct    Share of total_us in the sum of all listed rows of the same run, worker and span.
--   cumulative_pct    DOUBLE   pct    Running sum of share_pct, this row included.
--   mean_us           DOUBLE   us     total_us divided by calls.
--   transfer_us       DOUBLE   us     Part of it in which a collective transferred data; NULL if no call could be compared with other workers.
--   mean_transfer_us  DOUBLE   us     transfer_us divided by compared_calls.
--   wait_us           DOUBLE   us     Rest of the time of the compared calls: waiting for the last worker.
--   compared_calls    BIGINT   -      Number of calls that could be compared with those of other workers.
CREATE MACRO collective_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    calls AS MATERIALIZED (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.name,
            m.bytes,
            m.start_ns,
            m.duration_ns,
            m.transfer_ns,
            dense_rank() OVER (ORDER BY m.run, m.worker, m.span, m.name) AS key
        FROM matched_collectives(run, worker, span) AS m
    ),

    counts AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.name,
            c.key,
            count(*) AS calls,
            sum(c.bytes) AS total_bytes,
            count(c.bytes) AS sized_calls,
            count(c.transfer_ns) AS compared_calls
        FROM calls AS c
        GROUP BY ALL
    ),

    -- Times are compared within a recording, and the recordings are added up.
    grouped AS (
        SELECT
            c.run,
            c.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN c.span END AS span,
            c.name,
            sum(c.calls)::BIGINT AS calls,
            sum(c.total_bytes)::BIGINT AS total_bytes,
            ratio(sum(c.total_bytes), sum(c.sized_calls)) AS mean_bytes,
            sum(c.compared_calls)::BIGINT AS compared_calls,
            -- Collectives with a duration of 0 have no time to add up.
            coalesce(sum(t.total_ns), 0) AS total_ns,
            coalesce(sum(t.compared_ns), 0) AS compared_ns,
            coalesce(sum(t.transfer_ns), 0) AS transfer_ns
        FROM counts AS c
        LEFT JOIN transfer_totals('calls') AS t ON c.key = t.key
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.calls,
        g.total_bytes,
        g.mean_bytes,
        g.total_ns / 1000.0 AS total_us,
        percentage(g.total_ns, sum(g.total_ns) OVER of_trace) AS share_pct,
        percentage(sum(g.total_ns) OVER so_far, sum(g.total_ns) OVER of_trace) AS cumulative_pct,
        g.total_ns / 1000.0 / g.calls AS mean_us,
        CASE WHEN g.compared_calls > 0 THEN g.transfer_ns / 1000.0 END AS transfer_us,
        ratio(g.transfer_ns / 1000.0, g.compared_calls) AS mean_transfer_us,
        CASE WHEN g.compared_calls > 0 THEN (g.compared_ns - g.transfer_ns) / 1000.0 END AS wait_us,
        g.compared_calls
    FROM grouped AS g
    WINDOW
        of_trace AS (PARTITION BY g.run, g.worker, g.span),
        so_far AS (
            PARTITION BY g.run, g.worker, g.span
            ORDER BY g.total_ns DESC, g.name ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY g.total_ns DESC, g.run ASC, g.worker ASC, g.span ASC, g.name ASC;
