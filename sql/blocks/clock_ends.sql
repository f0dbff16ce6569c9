-- block: clock_ends
-- since: 0.2
-- summary: When the collectives ended in which every rank waits for the last, on each clock that took part.
-- grain: one row per collective and clock
-- uses: worker_clocks
--
-- All ranks leave such a collective together, but enter it one by one. So ends tell how far clocks are apart, and
-- the lower median of the ends on a host is hardly moved by one that is wrong. A rank cannot leave before the last
-- one has entered: the latest start and the earliest end give limits that hold for any ends.
--
-- params
--   name     type     unit  default  meaning
--   matched  VARCHAR  -     -        Name of a relation with the rows of matched_collectives of all workers.
--   run
--   span
-- columns
--   name           type    unit  meaning
--   match_id       BIGINT  key   The collective.
--   clock_id       BIGINT  key   The clock, as in worker_clocks.
--   end_ns         BIGINT  ns    Lower median of the ends.
--   first_end_ns   BIGINT  ns    Earliest end.
--   last_start_ns  BIGINT  ns    Latest start.
CREATE MACRO clock_ends(
    matched VARCHAR, run VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        m.match_id,
        w.clock_id,
        quantile_disc(m.start_ns + m.duration_ns, 0.5) AS end_ns,
        min(m.start_ns + m.duration_ns) AS first_end_ns,
        max(m.start_ns) AS last_start_ns
    FROM query_table(matched) AS m
    INNER JOIN worker_clocks(run, span) AS w
        ON m.run = w.run AND m.worker = w.worker AND m.span = w.span
    WHERE m.do_clocks_agree IS NOT NULL
    GROUP BY m.match_id, w.clock_id;
