-- block: costliest_collectives
-- since: 0.2
-- summary: The kind of collective that costs most time in a trace, and whether many small ones do.
-- grain: one row per trace with collectives
-- uses: collective_calls, exposed_collectives
--
-- A collective on a device costs the time that no other kernel hides; on the host all of its time.
--
-- A message of less than 1 MiB is small: it takes longer to start than to move, on Ethernet and on NVLink. There are many
-- if a step has at least 10, and they count if they cost most of the time. Those of all_to_all, send and recv do not, nor
-- do messages of unknown size. A trace without steps counts as one step.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   kind         VARCHAR  -      Its name, as in collective_calls; 'send' for recv, too.
--   steps        BIGINT   -      Number of steps with collectives; 0 for a trace without steps.
--   small_calls  DOUBLE   -      Small collectives per step; NULL if they are few or do not cost most of the time.
--   small_bytes  DOUBLE   bytes  Mean size of their messages; NULL likewise.
CREATE MACRO costliest_collectives(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _calls AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            CASE WHEN c.name = 'recv' THEN 'send' ELSE c.name END AS kind,
            c.step,
            c.bytes,
            coalesce(e.exposed_ns, c.duration_ns) AS cost_ns,
            bool_or(c.step IS NOT NULL) OVER (PARTITION BY c.run, c.worker, c.span) AS has_steps
        FROM collective_calls(run, worker, span) AS c
        LEFT JOIN exposed_collectives(run, worker, span) AS e
            ON
                c.run = e.run AND c.worker = e.worker AND c.span = e.span
                AND c.event_id = e.event_id AND c.on_device
    ),

    _costs AS (
        SELECT
            c.*,
            c.bytes < 1048576 AND c.kind NOT IN ('all_to_all', 'send') AS is_small,
            sum(c.cost_ns) OVER (PARTITION BY c.run, c.worker, c.span, c.kind) AS kind_ns
        FROM _calls AS c
        WHERE c.step IS NOT NULL OR NOT c.has_steps
    ),

    _sums AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            arg_max(c.kind, (c.kind_ns, c.kind)) AS kind,
            count(DISTINCT c.step) AS steps,
            sum(c.cost_ns) AS all_ns,
            sum(c.cost_ns) FILTER (WHERE c.is_small) AS small_ns,
            count(*) FILTER (WHERE c.is_small) AS calls,
            avg(c.bytes) FILTER (WHERE c.is_small) AS mean_bytes
        FROM _costs AS c
        GROUP BY c.run, c.worker, c.span
    ),

    _judged AS (
        SELECT
            s.*,
            s.calls >= 10 * greatest(s.steps, 1) AND 2 * s.small_ns > s.all_ns AS are_small
        FROM _sums AS s
    )

    SELECT
        j.run,
        j.worker,
        j.span,
        j.kind,
        j.steps,
        CASE WHEN j.are_small THEN j.calls / greatest(j.steps, 1) END AS small_calls,
        CASE WHEN j.are_small THEN j.mean_bytes END AS small_bytes
    FROM _judged AS j;
