-- block: exposed_collectives
-- since: 0.2
-- summary: Each collective kernel of a trace: its stream, its group as named, and how much of it no computation hides.
-- grain: one row per collective kernel
-- uses: exposed_calls, is_wanted
--
-- It needs no other trace, so process_groups reads these rows, and not the kernels of all ranks at once.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name               type       unit  meaning
--   event_id           BIGINT     key   Row in device_events.
--   stream_id          BIGINT     -     Stream that it ran on.
--   group_description  VARCHAR    -     Description of its process group, where the kernel has it.
--   group_ranks        INTEGER[]  -     Ranks in that group.
--   exposed_ns         BIGINT     ns    Part of it in which none of the worker's other kernels ran.
CREATE MACRO exposed_collectives(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _traces AS MATERIALIZED (
        SELECT
            t.run,
            t.worker,
            t.span,
            row_number() OVER (ORDER BY t.run, t.worker, t.span) AS key
        FROM traces AS t
        WHERE is_wanted(t.run, t.worker, t.span, run, worker, span)
    ),

    _collectives AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.event_id,
            d.stream_id,
            d.group_description,
            d.group_ranks,
            t.key,
            d.start_ns,
            d.duration_ns,
            row_number() OVER (ORDER BY t.key, d.event_id) AS id
        FROM device_events AS d
        INNER JOIN _traces AS t ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
        WHERE
            d.kind = 'communication'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _calls AS (
        SELECT c.id, c.key, c.start_ns, c.duration_ns
        FROM _collectives AS c
    ),

    _computed AS (
        SELECT t.key, d.start_ns, d.duration_ns
        FROM device_events AS d
        INNER JOIN _traces AS t ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
        WHERE
            d.kind = 'compute'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.event_id,
        c.stream_id,
        c.group_description,
        c.group_ranks,
        e.exposed_ns
    FROM _collectives AS c
    INNER JOIN exposed_calls('_calls', '_computed') AS e ON c.id = e.id;
