-- block: small_collectives
-- since: 0.2
-- summary: Traces that spend most of the time in collectives on many small ones.
-- grain: one row per such trace
-- uses: collective_calls
--
-- A message of less than 1 MiB is small: it takes longer to start than to move, on Ethernet and on NVLink. There are many
-- if a step has at least 10. send and recv do not count, nor do sizes that are unknown. A trace without steps counts as
-- one step.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name        type    unit   meaning
--   steps       BIGINT  -      Number of steps with collectives; 0 for a trace without steps.
--   calls       DOUBLE  -      Small collectives per step.
--   mean_bytes  DOUBLE  bytes  Mean size of their messages.
CREATE MACRO small_collectives(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _calls AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.step,
            c.bytes,
            c.duration_ns,
            c.bytes < 1048576 AND c.name NOT IN ('send', 'recv', 'send_recv') AS is_small,
            bool_or(c.step IS NOT NULL) OVER (PARTITION BY c.run, c.worker, c.span) AS has_steps
        FROM collective_calls(run, worker, span) AS c
    ),

    _sums AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            count(DISTINCT c.step) AS steps,
            greatest(count(DISTINCT c.step), 1) AS periods,
            count(*) FILTER (WHERE c.is_small) AS calls,
            avg(c.bytes) FILTER (WHERE c.is_small) AS mean_bytes,
            sum(c.duration_ns) FILTER (WHERE c.is_small) AS small_ns,
            sum(c.duration_ns) AS all_ns
        FROM _calls AS c
        WHERE c.step IS NOT NULL OR NOT c.has_steps
        GROUP BY c.run, c.worker, c.span
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.steps,
        s.calls / s.periods AS calls,
        s.mean_bytes
    FROM _sums AS s
    WHERE s.calls >= 10 * s.periods AND 2 * s.small_ns > s.all_ns;
