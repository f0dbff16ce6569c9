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

    _kinds AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.kind,
            c.kind NOT IN ('all_to_all', 'send') AS can_join,
            sum(c.cost_ns) AS kind_ns,
            list(DISTINCT c.step) AS steps,
            count(*) FILTER (WHERE c.bytes < 1048576) AS small_calls,
            sum(c.bytes) FILTER (WHERE c.bytes < 1048576) AS small_bytes,
            sum(c.cost_ns) FILTER (WHERE c.bytes < 1048576) AS small_ns
        FROM _calls AS c
        WHERE c.step IS NOT NULL OR NOT c.has_steps
        GROUP BY c.run, c.worker, c.span, c.kind
    ),

    _sums AS (
        SELECT
            k.run,
            k.worker,
            k.span,
            arg_max(k.kind, (k.kind_ns, k.kind)) AS kind,
            len(list_distinct(flatten(list(k.steps)))) AS steps,
            sum(k.kind_ns) AS all_ns,
            sum(k.small_calls) FILTER (WHERE k.can_join) AS calls,
            sum(k.small_bytes) FILTER (WHERE k.can_join) AS bytes,
            sum(k.small_ns) FILTER (WHERE k.can_join) AS small_ns
        FROM _kinds AS k
        GROUP BY k.run, k.worker, k.span
    ),

    _judged AS (
        SELECT
            s.*,
            s.calls >= 10 * greatest(s.steps, 1) AND 2 * s.small_ns > s.all_ns AS is_small
        FROM _sums AS s
    )

    SELECT
        j.run,
        j.worker,
        j.span,
        j.kind,
        j.steps,
        CASE WHEN j.is_small THEN j.calls / greatest(j.steps, 1) END AS small_calls,
        CASE WHEN j.is_small THEN j.bytes / j.calls END AS small_bytes
    FROM _judged AS j;
