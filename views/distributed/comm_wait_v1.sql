-- view: comm_wait
-- version: 1
-- since: 0.1
-- summary: Time that communication spends on transfer and on waiting for other workers, per step and for the whole trace.
-- grain: one row per step of a trace with collectives, and one row with a NULL step for the whole trace
-- distributes: run
-- combines: traces; collective_calls()
-- order: run, worker, span, step NULLS FIRST
-- empty: No collective was recorded, on a device or on the host: a job of one process has none; for those on a device {record device}.
-- uses: matched_collectives, transfer_totals
-- example: samples --run ddp_gloo
-- reading: In step 3 rank 0 waits for most of its communication and rank 1 not at all: rank 1 came last.
--
-- Collectives and their transfer, which ends when the row ends, are those of the view collectives. Time
-- in which several collectives run at once counts once, as transfer if any of them transfers. It is not cut
-- at the ends of a step: a collective belongs to the step that launched it.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step to report; NULL reports all, and the whole trace.
-- columns
--   run, worker, span
--   name              type    unit  meaning
--   step              BIGINT  key   Number of the step; NULL in the row of the whole trace.
--   transfer_us       DOUBLE  us    Collectives transferred data; NULL if none could be compared with other workers.
--   synchronizing_us  DOUBLE  us    Collectives waited for the last worker; NULL in the same case.
--   uncompared_us     DOUBLE  us    Only collectives ran that could not be compared, so their waiting time is unknown.
CREATE MACRO comm_wait_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    matched AS MATERIALIZED (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.step,
            m.start_ns,
            m.duration_ns,
            m.transfer_ns
        FROM matched_collectives(run, worker, span) AS m
        WHERE step IS NULL OR m.step = step
    ),

    -- Each call counts for its step and for the whole trace.
    calls AS MATERIALIZED (
        SELECT
            a.*,
            dense_rank() OVER (ORDER BY a.run, a.worker, a.span, a.step) AS key
        FROM (
            SELECT m.*
            FROM matched AS m
            WHERE m.step IS NOT NULL
            UNION ALL
            SELECT
                m.run,
                m.worker,
                m.span,
                NULL,
                m.start_ns,
                m.duration_ns,
                m.transfer_ns
            FROM matched AS m
            WHERE step IS NULL
        ) AS a
    ),

    counts AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.step,
            c.key,
            count(c.transfer_ns) AS compared
        FROM calls AS c
        GROUP BY ALL
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.step,
        CASE WHEN c.compared > 0 THEN coalesce(t.transfer_ns, 0) / 1000.0 END AS transfer_us,
        CASE
            WHEN c.compared > 0
                THEN (coalesce(t.compared_ns, 0) - coalesce(t.transfer_ns, 0)) / 1000.0
        END AS synchronizing_us,
        (coalesce(t.total_ns, 0) - coalesce(t.compared_ns, 0)) / 1000.0 AS uncompared_us
    FROM counts AS c
    -- Collectives with a duration of 0 have no time to add up.
    LEFT JOIN transfer_totals('calls') AS t ON c.key = t.key
    ORDER BY c.run, c.worker, c.span, c.step NULLS FIRST;
