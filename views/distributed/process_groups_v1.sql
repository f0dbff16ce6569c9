-- view: process_groups
-- version: 1
-- since: 0.2
-- summary: Process groups of a job: their ranks, what they are for, and what their communication costs.
-- grain: one row per process group of a recording
-- distributes: run
-- combines: traces; collective_calls(); exposed_collectives()
-- order: run, span, exposed_us DESC NULLS LAST, total_us DESC, first_worker, group_name, ranks
-- empty: No collective was recorded, on a device or on the host: a job of one process has none; for those on a device {record device}.
-- uses: grouped_collectives, ratio
-- example: samples --run ddp_gloo
-- reading: The job has one group of both ranks. Its collectives ran on the host, so what computation hides of them is not told.
--
-- Since 2024 each collective names its group. Traces before that do not. Then a stream of a rank is a member of one
-- group, because a communicator has a stream of its own. Members have the same list of collectives, and end together.
-- Several groups with one list are distinguished by the times from one end to the next. No offset of a clock changes
-- these, and the drift of a clock is taken out. Within a group they differ by microseconds, between groups by more. If
-- the differences have no gap of ten times, or different clocks may explain the gap, reason says so, and ranks is NULL.
--
-- kind is what the name or the description of the group says: 'data', 'tensor', 'pipeline', 'expert' or 'context'. If it says
-- nothing, a group that only sends and receives is 'pipeline', and one with all_to_all 'expert'. Otherwise kind is
-- NULL: nothing else tells a data-parallel group from a tensor-parallel one.
--
-- Times are sums over the recording, as a mean over the members. Exposed is time in which none of the worker's other
-- kernels ran. Waiting and transfer are those of the view collectives, and so are bandwidths.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   name                      type       unit  meaning
--   run                       VARCHAR    key   Run the row belongs to.
--   span                      VARCHAR    key   Recording the row belongs to.
--   group_name                VARCHAR    -     Name of the group; NULL if the trace does not have it.
--   description               VARCHAR    -     Description of the group; NULL if the trace does not have it.
--   kind                      VARCHAR    -     What it is for: 'data', 'tensor', 'pipeline', 'expert' or 'context'; NULL if nothing tells.
--   told_by                   VARCHAR    -     What tells the kind: 'name' or 'collectives'; NULL if nothing does.
--   ranks                     INTEGER[]  -     Ranks of the group; if it is not named, those in the warehouse; NULL if they are not known.
--   size                      INTEGER    -     Number of ranks in the group; NULL if it is not known.
--   members                   BIGINT     -     Number of devices in the warehouse that took part, and of workers that took part only on their host.
--   first_worker              VARCHAR    key   First of these workers.
--   collectives               BIGINT     -     Number of collectives, each as often as members took part in it.
--   total_us                  DOUBLE     us    Time in collectives.
--   exposed_us                DOUBLE     us    Part of it in which none of the worker's other kernels ran; NULL on the host.
--   wait_us                   DOUBLE     us    Part of it spent waiting for the last member; NULL if nothing could be compared.
--   transfer_us               DOUBLE     us    Rest of the time of what could be compared.
--   bytes                     BIGINT     bytes  Sum of the known message sizes of all members.
--   algorithm_bandwidth_gbps  DOUBLE     gbps  These bytes divided by the transfer time.
--   bus_bandwidth_gbps        DOUBLE     gbps  The same as the load of a link; NULL if the size of the group is unknown.
--   gap                       DOUBLE     -     How many times more the groups with the same list differ than the members of one; NULL if that was not compared.
--   reason                    VARCHAR    -     Why the ranks are not known; NULL if they are.
CREATE MACRO process_groups_v1(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    factors AS (
        SELECT
            g.*,
            CASE
                WHEN g.bytes IS NULL THEN NULL
                WHEN g.name IN ('broadcast', 'reduce') THEN 1
                WHEN g.name = 'all_reduce' THEN 2 * (g.size - 1) / g.size
                WHEN
                    g.name IN ('reduce_scatter', 'all_gather', 'gather', 'scatter')
                    OR (g.name = 'all_to_all' AND g.is_split_even)
                    THEN (g.size - 1) / g.size
            END AS factor,
            coalesce(g.transfer_ns, g.duration_ns) AS time_ns
        FROM grouped_collectives(run, span) AS g
    ),

    groups AS (
        SELECT
            f.run,
            f.span,
            f.group_number,
            any_value(f.group_name) AS group_name,
            min(f.description) AS description,
            any_value(f.ranks) AS ranks,
            max(f.size) AS size,
            -- A worker with devices is no member of its own on its host.
            count(DISTINCT f.member_id) FILTER (WHERE f.on_device)
            + count(DISTINCT f.worker)
            - count(DISTINCT f.worker) FILTER (WHERE f.on_device) AS members,
            min(f.worker) AS first_worker,
            count(*) AS collectives,
            bool_and(f.is_known) AS is_known,
            NOT bool_or(f.on_device) AS is_on_host,
            bool_and(f.is_complete) AS is_complete,
            bool_and(f.name IN ('send', 'recv', 'send_recv')) AS is_pairwise,
            bool_or(f.name = 'all_to_all') AS has_all_to_all,
            sum(f.duration_ns) AS total_ns,
            sum(f.exposed_ns) AS exposed_ns,
            sum(f.duration_ns - f.transfer_ns) AS wait_ns,
            sum(f.transfer_ns) AS transfer_ns,
            sum(f.bytes)::BIGINT AS bytes,
            ratio(sum(f.bytes), sum(f.time_ns) FILTER (WHERE f.bytes IS NOT NULL)) AS bytes_per_ns,
            ratio(
                sum(f.bytes * f.factor), sum(f.time_ns) FILTER (WHERE f.factor IS NOT NULL)
            ) AS link_bytes_per_ns,
            max(f.gap) AS gap
        FROM factors AS f
        GROUP BY f.run, f.span, f.group_number
    ),

    -- 'EXPERT_DATA_PARALLEL' is a data-parallel group; one that combines two other kinds is of neither.
    named AS (
        SELECT
            g.*,
            CASE
                WHEN g.words NOT SIMILAR TO '.*[a-z].*' THEN NULL
                WHEN
                    g.is_tensor::INTEGER + g.is_pipeline::INTEGER + g.is_context::INTEGER
                    + (g.is_data OR g.is_expert)::INTEGER > 1 THEN NULL
                WHEN g.is_data THEN 'data'
                WHEN g.is_expert THEN 'expert'
                WHEN g.is_tensor THEN 'tensor'
                WHEN g.is_pipeline THEN 'pipeline'
                WHEN g.is_context THEN 'context'
            END AS named_kind
        FROM (
            SELECT
                w.*,
                regexp_matches(w.words, '\b(data|dp|ddp|fsdp|hsdp|replicate|shard)\b') AS is_data,
                regexp_matches(w.words, '\b(expert|experts|ep|moe)\b') AS is_expert,
                regexp_matches(w.words, '\b(tensor|tp)\b') AS is_tensor,
                regexp_matches(w.words, '\b(pipeline|pipe|pp)\b') AS is_pipeline,
                regexp_matches(w.words, '\b(context|cp)\b') AS is_context
            FROM (
                SELECT
                    a.*,
                    regexp_replace(
                        lower(concat_ws(' ', a.description, a.group_name)), '[^a-z]+', ' ', 'g'
                    ) AS words
                FROM groups AS a
            ) AS w
        ) AS g
    ),

    kinds AS (
        SELECT
            n.*,
            coalesce(
                n.named_kind,
                CASE
                    WHEN n.is_pairwise THEN 'pipeline'
                    WHEN n.has_all_to_all THEN 'expert'
                END
            ) AS kind
        FROM named AS n
    )

    SELECT
        k.run,
        k.span,
        k.group_name,
        k.description,
        k.kind,
        CASE
            WHEN k.named_kind IS NOT NULL THEN 'name'
            WHEN k.kind IS NOT NULL THEN 'collectives'
        END AS told_by,
        k.ranks,
        k.size,
        k.members,
        k.first_worker,
        k.collectives,
        k.total_ns / 1000.0 / k.members AS total_us,
        k.exposed_ns / 1000.0 / k.members AS exposed_us,
        k.wait_ns / 1000.0 / k.members AS wait_us,
        k.transfer_ns / 1000.0 / k.members AS transfer_us,
        k.bytes,
        k.bytes_per_ns AS algorithm_bandwidth_gbps,
        k.link_bytes_per_ns AS bus_bandwidth_gbps,
        k.gap,
        CASE
            WHEN NOT k.is_known AND k.is_on_host
                THEN 'The trace does not name the group of these collectives.'
            WHEN NOT k.is_known AND k.members > 256
                THEN
                    'The trace names no groups, and of more than 256 members with one list of '
                    || 'collectives the times are not compared.'
            WHEN NOT k.is_known AND NOT k.is_complete AND k.gap IS NULL
                THEN
                    'The trace names no groups, and the warehouse does not have all ranks of the '
                    || 'job.'
            WHEN NOT k.is_known AND k.gap >= 10
                THEN
                    'The trace names no groups, and members whose clocks may differ end so little '
                    || 'apart that they may be one group.'
            WHEN NOT k.is_known
                THEN
                    'The trace names no groups, and the ends of the collectives do not tell groups '
                    || 'with one list apart: the largest gap is below ten times.'
            WHEN k.ranks IS NULL THEN 'The trace does not list the ranks, or cuts the list.'
        END AS reason
    FROM kinds AS k
    ORDER BY
        k.run ASC, k.span ASC, k.exposed_ns / k.members DESC NULLS LAST,
        k.total_ns / k.members DESC, k.first_worker ASC, k.group_name ASC, k.ranks ASC;
