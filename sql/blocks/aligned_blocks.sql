-- block: aligned_blocks
-- since: 0.1
-- summary: The aligned blocks of two timelines, as diff_modules shows them.
-- grain: one row per pair of matching blocks, per block without a counterpart, and per unknown time between pairs
-- uses: aligned_lists, timeline_blocks
--
-- Within two matching blocks, the child blocks are aligned in order of time, by a longest common
-- subsequence of kind and name (aligned_lists). The content of a block without a counterpart is not listed.
-- Between two pairs, before the first pair and after the last, the rows come in this order: the time that no
-- block covers, as one row of kind 'unknown', then the blocks of the baseline, then those of the experiment.
--
-- A path has the names from the outermost to the innermost, each after a '/', with [n] for the n-th block of
-- that name. '/', '[' and ']' in a name become '|', '(' and ')'. The path of the whole trace is '/'.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker and span as in first_trace.
--   experiment_worker  VARCHAR  -     NULL     The same for the experiment.
--   baseline_span      VARCHAR  -     NULL     The same.
--   experiment_span    VARCHAR  -     NULL     The same.
--   depth              BIGINT   -     NULL     Number of levels below the whole trace; NULL for all.
-- columns
--   name                    type        unit  meaning
--   position                BIGINT      key   Position of the row, from 0; a row comes before the rows in it.
--   outer_pair              BIGINT      -     Pair of the row that contains this one.
--   pair                    BIGINT      -     Number of the row, if other rows can be in it.
--   path                    VARCHAR     key   Names from the outermost to the innermost.
--   depth                   BIGINT      -     0 for the whole trace.
--   kind                    VARCHAR     -     As in timeline_blocks.
--   name                    VARCHAR     -     As in timeline_blocks.
--   baseline_worker         VARCHAR     -     Worker of the trace; this and the other columns of the baseline are NULL if only the experiment has the block.
--   baseline_span           VARCHAR     -     Span of the trace.
--   baseline_name           VARCHAR     -     Name as recorded.
--   baseline_time_ns        BIGINT      ns    Time that counts for the block, see timeline_blocks.
--   baseline_host_ns        BIGINT      ns    Duration on the host.
--   baseline_device_ns      BIGINT      ns    Sum of the device work launched in it.
--   baseline_launches       BIGINT      -     Number of pieces of device work launched in it.
--   baseline_replayed_ns    BIGINT      ns    Part of baseline_device_ns that graphs replayed.
--   baseline_parts          BIGINT[][]  -     Start and end of each of its parts, in nanoseconds; an unknown time has several.
--   experiment_worker       VARCHAR     -     The same for the experiment; NULL if only the baseline has the block.
--   experiment_span         VARCHAR     -     Span of the trace.
--   experiment_name         VARCHAR     -     Name as recorded.
--   experiment_time_ns      BIGINT      ns    Time that counts for the block.
--   experiment_host_ns      BIGINT      ns    Duration on the host.
--   experiment_device_ns    BIGINT      ns    Sum of the device work launched in it.
--   experiment_launches     BIGINT      -     Number of pieces of device work launched in it.
--   experiment_replayed_ns  BIGINT      ns    Part of experiment_device_ns that graphs replayed.
--   experiment_parts        BIGINT[][]  -     Start and end of each of its parts.
CREATE MACRO aligned_blocks(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    depth BIGINT := NULL
) AS TABLE
    WITH RECURSIVE
    _blocks AS MATERIALIZED (
        SELECT
            TRUE AS is_baseline,
            b.worker,
            b.span,
            b.block_id,
            b.parent_id,
            b.position,
            b.kind,
            b.name,
            b.recorded_name,
            b.start_ns,
            b.end_ns,
            b.time_ns,
            b.device_ns,
            b.launches,
            b.replayed_ns
        FROM timeline_blocks(baseline, baseline_worker, baseline_span) AS b
        UNION ALL
        SELECT
            FALSE,
            e.worker,
            e.span,
            e.block_id + (1::BIGINT << 40),
            e.parent_id + (1::BIGINT << 40),
            e.position,
            e.kind,
            e.name,
            e.recorded_name,
            e.start_ns,
            e.end_ns,
            e.time_ns,
            e.device_ns,
            e.launches,
            e.replayed_ns
        FROM timeline_blocks(experiment, experiment_worker, experiment_span) AS e
    ),

    -- Matching blocks; a pair has the number of the baseline's block.
    _pairs AS (
        SELECT
            0 AS level,
            b.block_id AS pair,
            e.block_id AS experiment_id
        FROM _blocks AS b
        INNER JOIN _blocks AS e ON b.kind = e.kind
        WHERE b.is_baseline AND NOT e.is_baseline AND b.kind = 'trace'
        UNION ALL
        SELECT
            n.level,
            n.pair,
            n.experiment_id
        FROM (
            WITH
            _inside AS MATERIALIZED (
                SELECT
                    p.level + 1 AS level,
                    p.pair,
                    i.is_baseline,
                    i.block_id,
                    i.position,
                    i.kind || chr(0) || i.name AS key
                FROM (
                    SELECT
                        o.level,
                        o.pair,
                        unnest([o.pair, o.experiment_id]) AS block_id
                    FROM _pairs AS o
                    WHERE depth IS NULL OR o.level < depth
                ) AS p
                INNER JOIN _blocks AS i ON p.block_id = i.parent_id
                WHERE i.block_id IS NOT NULL
            )

            SELECT
                b.level,
                b.block_id AS pair,
                e.block_id AS experiment_id
            FROM aligned_lists('_inside') AS a
            INNER JOIN _inside AS b
                ON b.is_baseline AND a.pair = b.pair AND a.baseline_position = b.position
            INNER JOIN _inside AS e
                ON NOT e.is_baseline AND a.pair = e.pair AND a.experiment_position = e.position
        ) AS n
    ),

    _paired AS MATERIALIZED (
        SELECT
            p.level,
            p.pair,
            unnest([p.pair, p.experiment_id]) AS block_id
        FROM _pairs AS p
    ),

    -- For each block and unknown time in a pair: how many pairs come before it, and with which block it
    -- shares a row.
    _members AS (
        SELECT
            p.pair AS outer_pair,
            m.pair,
            CASE WHEN m.pair IS NULL AND b.block_id IS NOT NULL THEN b.position END AS item,
            b.is_baseline,
            b.kind,
            b.name,
            b.worker,
            b.span,
            b.recorded_name,
            b.start_ns,
            b.end_ns,
            b.time_ns,
            b.device_ns,
            b.launches,
            b.replayed_ns,
            count(m.pair) OVER (
                PARTITION BY b.is_baseline, b.parent_id
                ORDER BY b.position, b.block_id NULLS LAST
                ROWS UNBOUNDED PRECEDING
            ) AS pairs_before,
            CASE
                WHEN m.pair IS NOT NULL THEN 0
                WHEN b.block_id IS NULL THEN 1
                WHEN b.is_baseline THEN 2
                ELSE 3
            END AS place,
            bool_or(b.block_id IS NOT NULL) OVER (PARTITION BY p.pair) AS has_blocks
        FROM _blocks AS b
        INNER JOIN _paired AS p ON b.parent_id = p.block_id
        LEFT JOIN _paired AS m ON b.block_id = m.block_id
        WHERE depth IS NULL OR p.level < depth
        UNION ALL
        SELECT
            NULL,
            (SELECT p.pair FROM _pairs AS p WHERE p.level = 0),
            NULL,
            b.is_baseline,
            b.kind,
            b.name,
            b.worker,
            b.span,
            b.recorded_name,
            b.start_ns,
            b.end_ns,
            b.time_ns,
            b.device_ns,
            b.launches,
            b.replayed_ns,
            0,
            0,
            TRUE
        FROM _blocks AS b
        WHERE b.kind = 'trace'
    ),

    _rows AS MATERIALIZED (
        SELECT
            row_number() OVER () AS id,
            s.outer_pair,
            s.pair,
            s.pairs_before,
            s.place,
            s.item,
            s.kind,
            s.name,
            any_value(s.worker) FILTER (WHERE s.is_baseline) AS baseline_worker,
            any_value(s.span) FILTER (WHERE s.is_baseline) AS baseline_span,
            any_value(s.recorded_name) FILTER (WHERE s.is_baseline) AS baseline_name,
            (sum(s.time_ns) FILTER (WHERE s.is_baseline))::BIGINT AS baseline_time_ns,
            (sum(s.end_ns - s.start_ns) FILTER (WHERE s.is_baseline))::BIGINT AS baseline_host_ns,
            (sum(s.device_ns) FILTER (WHERE s.is_baseline))::BIGINT AS baseline_device_ns,
            (sum(s.launches) FILTER (WHERE s.is_baseline))::BIGINT AS baseline_launches,
            (sum(s.replayed_ns) FILTER (WHERE s.is_baseline))::BIGINT
                AS baseline_replayed_ns,
            list([s.start_ns, s.end_ns] ORDER BY s.start_ns) FILTER (WHERE s.is_baseline)
                AS baseline_parts,
            any_value(s.worker) FILTER (WHERE NOT s.is_baseline) AS experiment_worker,
            any_value(s.span) FILTER (WHERE NOT s.is_baseline) AS experiment_span,
            any_value(s.recorded_name) FILTER (WHERE NOT s.is_baseline) AS experiment_name,
            (sum(s.time_ns) FILTER (WHERE NOT s.is_baseline))::BIGINT AS experiment_time_ns,
            (sum(s.end_ns - s.start_ns) FILTER (WHERE NOT s.is_baseline))::BIGINT
                AS experiment_host_ns,
            (sum(s.device_ns) FILTER (WHERE NOT s.is_baseline))::BIGINT AS experiment_device_ns,
            (sum(s.launches) FILTER (WHERE NOT s.is_baseline))::BIGINT AS experiment_launches,
            (sum(s.replayed_ns) FILTER (WHERE NOT s.is_baseline))::BIGINT
                AS experiment_replayed_ns,
            list([s.start_ns, s.end_ns] ORDER BY s.start_ns) FILTER (WHERE NOT s.is_baseline)
                AS experiment_parts
        FROM _members AS s
        WHERE s.has_blocks
        GROUP BY s.outer_pair, s.pair, s.pairs_before, s.place, s.item, s.kind, s.name
    ),

    _ranked AS MATERIALIZED (
        SELECT
            r.id,
            r.outer_pair,
            r.pair,
            row_number() OVER of_level AS rank,
            translate(r.name, '/[]', '|()') AS step,
            row_number() OVER (
                PARTITION BY r.outer_pair, translate(r.name, '/[]', '|()')
                ORDER BY r.pairs_before, r.place, r.item
            ) AS nth
        FROM _rows AS r
        WINDOW of_level AS (PARTITION BY r.outer_pair ORDER BY r.pairs_before, r.place, r.item)
    ),

    _paths AS (
        SELECT
            r.id,
            r.pair,
            '' AS path,
            []::BIGINT[] AS ranks
        FROM _ranked AS r
        WHERE r.outer_pair IS NULL
        UNION ALL
        SELECT
            r.id,
            r.pair,
            p.path || '/' || r.step
            || CASE WHEN r.nth > 1 THEN '[' || r.nth || ']' ELSE '' END AS path,
            list_append(p.ranks, r.rank) AS ranks
        FROM _paths AS p
        INNER JOIN _ranked AS r ON p.pair = r.outer_pair
    )

    SELECT
        row_number() OVER (ORDER BY p.ranks) - 1 AS position,
        r.outer_pair,
        r.pair,
        CASE WHEN p.path = '' THEN '/' ELSE p.path END AS path,
        len(p.ranks) AS depth,
        r.kind,
        r.name,
        r.baseline_worker,
        r.baseline_span,
        r.baseline_name,
        r.baseline_time_ns,
        r.baseline_host_ns,
        r.baseline_device_ns,
        r.baseline_launches,
        r.baseline_replayed_ns,
        r.baseline_parts,
        r.experiment_worker,
        r.experiment_span,
        r.experiment_name,
        r.experiment_time_ns,
        r.experiment_host_ns,
        r.experiment_device_ns,
        r.experiment_launches,
        r.experiment_replayed_ns,
        r.experiment_parts
    FROM _rows AS r
    INNER JOIN _paths AS p ON r.id = p.id;
