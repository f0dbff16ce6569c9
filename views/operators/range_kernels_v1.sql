-- view: range_kernels
-- version: 1
-- since: 0.1
-- summary: Kernels that each range launched, with the time of every kernel in every range around its launch.
-- distributes: worker
-- order: total_us DESC, run, worker, span, name, category, kernel
-- needs: no_device_events
-- empty: No kernel is linked to a call inside an operator or annotation: {record launches}.
-- uses: checked_choice, first_id, is_wanted, launch_order, range_launches, trace_names
-- example: samples --run gpt_eager --limit 5
-- reading: aten::to calls aten::_to_copy, which calls aten::copy_: the same kernels belong to all three.
--
-- A range is an operator, an annotation (record_function) or an NVTX range. A kernel belongs to every range that
-- the call that launched it lies in, on the same thread: to the operator, to the operators that call it, and
-- to the annotations around them. So the rows of one range add up to its kernels, and those of several ranges
-- do not. A kernel counts once per name of a range, also where ranges of that name nest.
--
-- kernel_stats with group_by 'launch' has the nearest operator alone.
--
-- Users of Nsight Systems know this table as nvtx_kern_sum.
--
-- params
--   run, worker, span
--   per_span, combine_workers
--   name      type     unit  default  meaning
--   category  VARCHAR  -     'all'    'cpu_op' for operators, 'user_annotation' for annotations and NVTX ranges, or 'all'.
-- columns
--   run, worker, span
--   name        type     unit  meaning
--   name        VARCHAR  key   Name of the range.
--   category    VARCHAR  key   'cpu_op' or 'user_annotation'.
--   kernel      VARCHAR  key   Name of the kernel.
--   ranges      BIGINT   -     Number of ranges that launched this kernel.
--   calls       BIGINT   -     Number of kernels.
--   total_us    DOUBLE   us    Sum of the durations of the kernels.
--   mean_us     DOUBLE   us    Mean duration.
--   median_us   DOUBLE   us    Median duration, exact.
--   min_us      DOUBLE   us    Shortest.
--   max_us      DOUBLE   us    Longest.
--   stddev_us   DOUBLE   us    Sample standard deviation; NULL for one kernel.
CREATE MACRO range_kernels_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE,
    combine_workers BOOLEAN := FALSE,
    category VARCHAR := 'all'
) AS TABLE
    WITH
    host AS (
        SELECT
            h.run,
            CASE WHEN NOT combine_workers OR worker IS NOT NULL THEN h.worker END AS worker,
            CASE WHEN per_span OR span IS NOT NULL THEN h.span END AS span,
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.name,
            h.category
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (
                SELECT c.is_allowed
                FROM checked_choice('category', category, ['all', 'cpu_op', 'user_annotation']) AS c
            )
            AND h.category IN ('cpu_op', 'user_annotation')
            AND (category = 'all' OR h.category = category)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- The pairs have numbers for texts, which are slow to compare.
    names AS MATERIALIZED (
        SELECT row_number() OVER () AS number, n.*
        FROM (SELECT DISTINCT h.run, h.worker, h.span, h.name, h.category FROM host AS h) AS n
    ),

    ranges AS (
        SELECT h.id, n.number
        FROM host AS h
        INNER JOIN names AS n
            ON
                h.run = n.run
                AND h.worker IS NOT DISTINCT FROM n.worker
                AND h.span IS NOT DISTINCT FROM n.span
                AND h.name = n.name
                AND h.category = n.category
    ),

    inside AS (
        SELECT r.id, unnest(range(r.first_place, r.last_place + 1)) AS place
        FROM range_launches(run, worker, span) AS r
    ),

    kernel_names AS MATERIALIZED (
        SELECT row_number() OVER () AS number, n.name
        FROM (
            SELECT DISTINCT d.name
            FROM device_events AS d
            WHERE
                d.kind IN ('compute', 'communication')
                AND d.launch_id IS NOT NULL
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        ) AS n
    ),

    kernels_of_calls AS (
        SELECT
            first_id(t.names, d.run, d.worker, d.span) + d.launch_id AS launch_id,
            first_id(t.names, d.run, d.worker, d.span) + d.event_id AS id,
            n.number AS kernel,
            d.duration_ns
        FROM device_events AS d
        INNER JOIN kernel_names AS n ON d.name = n.name
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication')
            AND d.launch_id IS NOT NULL
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    pairs AS MATERIALIZED (
        SELECT r.number AS range, i.id AS range_id, k.kernel, k.id AS kernel_id, k.duration_ns
        FROM inside AS i
        INNER JOIN launch_order(run, worker, span) AS o ON i.place = o.place
        INNER JOIN kernels_of_calls AS k ON o.id = k.launch_id
        INNER JOIN ranges AS r ON i.id = r.id
    ),

    -- One row, where ranges of a name nest.
    once AS (
        SELECT DISTINCT p.range, p.kernel, p.kernel_id, p.duration_ns
        FROM pairs AS p
    ),

    launching AS (
        SELECT p.range, p.kernel, count(DISTINCT p.range_id) AS ranges
        FROM pairs AS p
        GROUP BY p.range, p.kernel
    ),

    grouped AS (
        SELECT
            o.range,
            o.kernel,
            count(*) AS calls,
            sum(o.duration_ns) AS total_ns,
            median(o.duration_ns) AS median_ns,
            min(o.duration_ns) AS min_ns,
            max(o.duration_ns) AS max_ns,
            stddev_samp(o.duration_ns) AS stddev_ns
        FROM once AS o
        GROUP BY o.range, o.kernel
    )

    SELECT
        n.run,
        n.worker,
        n.span,
        n.name,
        n.category,
        k.name AS kernel,
        l.ranges,
        g.calls,
        g.total_ns / 1000.0 AS total_us,
        g.total_ns / 1000.0 / g.calls AS mean_us,
        g.median_ns / 1000.0 AS median_us,
        g.min_ns / 1000.0 AS min_us,
        g.max_ns / 1000.0 AS max_us,
        g.stddev_ns / 1000.0 AS stddev_us
    FROM grouped AS g
    INNER JOIN launching AS l ON g.range = l.range AND g.kernel = l.kernel
    INNER JOIN names AS n ON g.range = n.number
    INNER JOIN kernel_names AS k ON g.kernel = k.number
    ORDER BY
        g.total_ns DESC,
        n.run ASC, n.worker ASC, n.span ASC, n.name ASC, n.category ASC, k.name ASC;
