-- view: collective_stats
-- version: 1
-- since: 0.1
-- summary: What each kind of collective moved, and how long it transferred and waited.
-- grain: one row per name of a collective
-- distributes: run
-- combines: collective_calls()
-- order: total_us DESC, run, worker, span, name
-- needs: no_device_events rank_unknown
-- uses: matched_collectives, transfer_totals
-- example: samples --run ddp_gloo
-- reading: Broadcasts move little and take long: rank 0 spends most of their time waiting for rank 1.
--
-- Collectives, and their transfer, which ends when the row ends, are those of the view collectives.
-- Where several of a name run at once, in two threads or on two streams, the time counts once, so the
-- totals are not the sums of the lengths there.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name              type     unit   meaning
--   name              VARCHAR  key    'all_reduce', 'all_gather', 'broadcast', ...
--   calls             BIGINT   -      How often the worker took part in one.
--   total_bytes       BIGINT   bytes  Sum of the messages whose size is known; NULL where none is.
--   mean_bytes        DOUBLE   bytes  Mean of these.
--   total_us          DOUBLE   us     Time in which at least one ran.
--   mean_us           DOUBLE   us     The same by calls.
--   transfer_us       DOUBLE   us     Part of it in which one transferred; NULL where no call could be compared with other workers.
--   mean_transfer_us  DOUBLE   us     The same by compared calls.
--   wait_us           DOUBLE   us     The rest of the time of the compared calls: waiting for the last worker.
--   compared_calls    BIGINT   -      Calls that could be compared with those of other workers.
CREATE MACRO collective_stats_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
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
            sum(c.bytes)::BIGINT AS total_bytes,
            avg(c.bytes) AS mean_bytes,
            count(c.transfer_ns) AS compared_calls
        FROM calls AS c
        GROUP BY ALL
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.name,
        c.calls,
        c.total_bytes,
        c.mean_bytes,
        coalesce(t.total_ns, 0) / 1000.0 AS total_us,
        coalesce(t.total_ns, 0) / 1000.0 / c.calls AS mean_us,
        CASE WHEN c.compared_calls > 0 THEN coalesce(t.transfer_ns, 0) / 1000.0 END AS transfer_us,
        coalesce(t.transfer_ns, 0) / 1000.0 / nullif(c.compared_calls, 0) AS mean_transfer_us,
        CASE
            WHEN c.compared_calls > 0
                THEN (coalesce(t.compared_ns, 0) - coalesce(t.transfer_ns, 0)) / 1000.0
        END AS wait_us,
        c.compared_calls
    FROM counts AS c
    -- Collectives without any length have no time to add up.
    LEFT JOIN transfer_totals('calls') AS t ON c.key = t.key
    ORDER BY t.total_ns DESC NULLS LAST, c.run ASC, c.worker ASC, c.span ASC, c.name ASC;
