-- view: diff_blocks
-- version: 1
-- since: 0.1
-- summary: Compares the time of a whole trace, or of one block of it, and of the blocks inside, summed by name.
-- distributes: warehouse
-- order: depth, abs(delta_us) DESC, name, kind
-- empty: Neither run has an event that lasts: {record events}.
-- uses: delta, diff_modules_v1, percentage
-- example: samples --baseline resnet_workers_0 --experiment resnet_workers_2
-- reading: With two workers, the loader takes 42 ms less of the five steps. Everything else takes about as long as before.
--
-- diff_modules has a row for each block of two aligned timelines, so a difference that repeats in each step is
-- spread over many rows. This view sums them: the first row is the trace, or the block that `block` names, and
-- the others are what is directly inside it. Steps of the profiler are transparent: the blocks inside them
-- count by name over all steps. A step without blocks is of kind 'unknown'. A row counts one trace of each run, as
-- diff_modules does.
--
-- Differences are experiment - baseline. The rows inside add up to the first row, except for steps that only
-- one run has.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker of the baseline; NULL takes the lowest rank.
--   experiment_worker  VARCHAR  -     NULL     Worker of the experiment; NULL takes the lowest rank.
--   baseline_span      VARCHAR  -     NULL     Recording of the baseline; NULL takes the first.
--   experiment_span    VARCHAR  -     NULL     Recording of the experiment; NULL takes the first.
--   block              VARCHAR  -     NULL     Path of a block in diff_modules; NULL takes the whole trace.
-- columns
--   name           type     unit  meaning
--   depth          BIGINT   key   0 for the trace or block itself, 1 for the blocks inside it.
--   name           VARCHAR  key   Path of the trace or block itself; name of the blocks inside it.
--   kind           VARCHAR  key   Kind of the blocks, as in diff_modules.
--   baseline_us    DOUBLE   us    Their time in the baseline; NULL where it has none of them.
--   experiment_us  DOUBLE   us    The same in the experiment.
--   delta_us       DOUBLE   us    Difference in that time.
--   delta_us_pct   DOUBLE   pct   The same as a share of the baseline; NULL where that is 0 or NULL.
CREATE MACRO diff_blocks_v1(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    block VARCHAR := NULL
) AS TABLE
    WITH
    blocks AS MATERIALIZED (
        SELECT *
        FROM diff_modules_v1(
            baseline,
            experiment,
            baseline_worker,
            experiment_worker,
            baseline_span,
            experiment_span,
            depth := 2,
            block := block
        )
    ),

    parts AS (
        SELECT b.path
        FROM blocks AS b
        WHERE b.kind = 'step'
    ),

    -- Blocks with others inside.
    filled AS (
        SELECT DISTINCT regexp_replace(b.path, '/[^/]*$', '') AS path
        FROM blocks AS b
    ),

    top AS (
        SELECT
            b.path,
            b.depth
        FROM blocks AS b
        ORDER BY b.position
        LIMIT 1
    ),

    placed AS (
        SELECT
            b.*,
            b.path = t.path AS is_top,
            b.depth = t.depth + 1
            OR regexp_replace(b.path, '/[^/]*$', '') IN (SELECT s.path FROM parts AS s)
                AS is_inside,
            b.kind = 'step' AND b.matched AND b.path NOT IN (SELECT f.path FROM filled AS f)
                AS is_bare
        FROM blocks AS b
        CROSS JOIN top AS t
    ),

    summed AS (
        SELECT
            CASE WHEN p.is_top THEN 0 ELSE 1 END::BIGINT AS depth,
            CASE
                WHEN p.is_top THEN p.path
                WHEN p.is_bare THEN 'unknown'
                ELSE p.name
            END AS name,
            CASE WHEN p.is_bare AND NOT p.is_top THEN 'unknown' ELSE p.kind END AS kind,
            sum(p.baseline_us) AS baseline_us,
            sum(p.experiment_us) AS experiment_us,
            delta(
                coalesce(sum(p.baseline_us), 0), coalesce(sum(p.experiment_us), 0)
            ) AS delta_us
        FROM placed AS p
        WHERE p.is_top OR (p.is_inside AND (p.kind <> 'step' OR p.is_bare))
        GROUP BY ALL
    )

    SELECT
        s.depth,
        s.name,
        s.kind,
        s.baseline_us,
        s.experiment_us,
        s.delta_us,
        percentage(s.delta_us, s.baseline_us) AS delta_us_pct
    FROM summed AS s
    ORDER BY s.depth ASC, abs(s.delta_us) DESC, s.name ASC, s.kind ASC;
