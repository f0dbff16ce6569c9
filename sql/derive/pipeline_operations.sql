-- derive: pipeline_operations
-- since: 0.2
-- summary: Operations of a pipeline-parallel job, and the first reason why they cannot be compared.
--
-- given_operations holds the values of the file, as texts or numbers. A lane is one step of one data-parallel rank.
-- All lanes must have the same operations, because one graph of dependencies is used for all of them.

-- A number that fits into a BIGINT, also one that is not whole; NULL for all else.
CREATE MACRO small_number(value) AS (  -- noqa: CP05
    CASE WHEN abs(try_cast(value AS DOUBLE)) < pow(2, 63) THEN try_cast(value AS DOUBLE) END
);

CREATE TABLE typed_operations AS
SELECT
    g.place,
    small_number(g.dp_rank) AS dp_rank,
    small_number(g.stage) AS stage,
    small_number(g."rank") AS "rank",
    small_number(g.step) AS step,
    g.optype::VARCHAR AS optype,
    try_cast(g.start_ts AS DOUBLE) AS start_ts,
    try_cast(g.duration AS DOUBLE) AS duration,
    small_number(g.seq_id) AS seq_id,
    CASE WHEN g.mc IS NULL THEN -1 ELSE small_number(g.mc) END AS mc,
    CASE WHEN g.mb_id IS NULL THEN -1 ELSE small_number(g.mb_id) END AS mb_id,
    CASE WHEN g.gmc IS NULL THEN -1 ELSE small_number(g.gmc) END AS gmc
FROM given_operations AS g;

CREATE TABLE operation_values AS
SELECT
    t.place,
    v."column",
    v.value,
    v.least
FROM typed_operations AS t
CROSS JOIN
    LATERAL (
        VALUES
        ('dp_rank', t.dp_rank, 0),
        ('stage', t.stage, 0),
        ('rank', t."rank", 0),
        ('step', t.step, NULL),
        ('start_ts', t.start_ts, NULL),
        ('duration', t.duration, 0),
        ('seq_id', t.seq_id, 0),
        ('mc', t.mc, -1),
        ('mb_id', t.mb_id, -1),
        ('gmc', t.gmc, -1)
    ) AS v ("column", value, least)
WHERE
    v.value IS NULL
    OR NOT isfinite(v.value)
    OR v.value < v.least
    OR (v."column" NOT IN ('start_ts', 'duration') AND v.value <> floor(v.value));

INSERT INTO raw_pipeline_operations BY NAME
SELECT
    t.dp_rank,
    t.stage,
    t."rank",
    t.step,
    t.optype,
    t.start_ts,
    t.duration,
    t.seq_id,
    t.mc,
    t.mb_id,
    t.gmc
FROM typed_operations AS t
WHERE NOT EXISTS (FROM operation_values)
ORDER BY t.place;

-- The lane that all others are compared with: the first data-parallel rank of the first step.
CREATE TABLE first_lane AS
SELECT t.*
FROM typed_operations AS t
WHERE
    t.step = (SELECT min(s.step) FROM typed_operations AS s)
    AND t.dp_rank = (SELECT min(s.dp_rank) FROM typed_operations AS s);

CREATE TABLE operation_faults AS
WITH
numbered AS (
    SELECT
        t.*,
        min(t.place) OVER (
            PARTITION BY t.step, t.dp_rank, t.stage, t.optype, t.seq_id
        ) AS first_place,
        first_value(t."rank") OVER (
            PARTITION BY t.dp_rank, t.stage ORDER BY t.place
        ) AS first_rank,
        first_value(t.dp_rank) OVER of_rank AS first_dp_rank,
        first_value(t.stage) OVER of_rank AS first_stage,
        row_number() OVER (
            PARTITION BY t.step, t.dp_rank, t.stage, t.optype ORDER BY t.start_ts, t.seq_id
        ) - 1 AS start_place
    FROM typed_operations AS t
    WINDOW of_rank AS (PARTITION BY t."rank" ORDER BY t.place)
),

stages AS (
    SELECT count(DISTINCT t.stage) AS stages
    FROM typed_operations AS t
),

lanes AS (
    SELECT DISTINCT
        t.step,
        t.dp_rank
    FROM typed_operations AS t
),

-- Each operation of the first lane in each lane, or what it lacks of it.
expected AS (
    SELECT
        l.step,
        l.dp_rank,
        f.place,
        f.stage,
        f.optype,
        f.seq_id
    FROM lanes AS l
    CROSS JOIN first_lane AS f
),

grid AS (
    SELECT
        s.step,
        d.dp_rank
    FROM (SELECT DISTINCT t.step FROM typed_operations AS t) AS s
    CROSS JOIN (SELECT DISTINCT t.dp_rank FROM typed_operations AS t) AS d
),

known AS (
    SELECT
        [
            'forward-compute', 'backward-compute', 'forward-send', 'forward-recv', 'backward-send',
            'backward-recv', 'params-all-gather', 'grads-reduce-scatter',
            'separate-grads-all-reduce', 'gc', 'layernorm-grads-all-reduce',
            'embedding-grads-all-reduce', 'optimizer-clip-main-grad', 'optimizer'
        ] AS optypes
),

faults AS (
    SELECT
        1 AS kind,
        NULL AS place,
        'it has no rows' AS cause,
        'write the operations of whole steps' AS remedy
    WHERE NOT EXISTS (FROM typed_operations)
    UNION ALL
    SELECT
        2,
        v.place,
        v."column"
        || CASE
            WHEN v.value IS NULL AND v."column" IN ('start_ts', 'duration')
                THEN ' is missing or is not a number'
            WHEN v.value IS NULL THEN ' is missing, is too large or is not a number'
            WHEN isnan(v.value) THEN ' is NaN'
            WHEN isinf(v.value) THEN ' is infinite'
            WHEN v.value < v.least THEN ' is ' || v.value || ', which is less than ' || v.least
            ELSE ' is ' || v.value || ', which is not a whole number'
        END,
        'leave out steps that were not recorded whole'
    FROM operation_values AS v
    UNION ALL
    SELECT
        3,
        t.place,
        'optype ' || coalesce(t.optype, 'NULL') || ' is not known',
        'use ' || array_to_string(k.optypes[:-2], ', ') || ' or ' || k.optypes[-1]
    FROM typed_operations AS t
    CROSS JOIN known AS k
    WHERE t.optype IS NULL OR NOT list_contains(k.optypes, t.optype)
    UNION ALL
    SELECT
        4,
        t.place,
        t.optype || ' has no model chunk (mc ' || t.mc::BIGINT || ', gmc ' || t.gmc::BIGINT || ')',
        'give each computation its chunk: mc within the stage, and gmc = mc * stages + stage'
    FROM typed_operations AS t
    WHERE t.optype IN ('forward-compute', 'backward-compute') AND (t.mc < 0 OR t.gmc < 0)
    UNION ALL
    SELECT
        5,
        n.place,
        'it repeats row ' || n.first_place || ': ' || n.optype || ' ' || n.seq_id::BIGINT
        || ' of step ' || n.step::BIGINT || ', dp_rank ' || n.dp_rank::BIGINT || ', stage '
        || n.stage::BIGINT,
        'number the operations of a type, step and rank in seq_id'
    FROM numbered AS n
    WHERE n.place > n.first_place
    UNION ALL
    SELECT
        6,
        n.place,
        'rank ' || n."rank"::BIGINT || ' and rank ' || n.first_rank::BIGINT || ' both have dp_rank '
        || n.dp_rank::BIGINT || ' and stage ' || n.stage::BIGINT,
        'keep one rank of each tensor-parallel group'
    FROM numbered AS n
    WHERE n."rank" <> n.first_rank
    UNION ALL
    SELECT
        7,
        min(t.place),
        'the highest stage is ' || max(t.stage)::BIGINT || ', and the number of stages is '
        || count(DISTINCT t.stage),
        'write the operations of all stages, numbered from 0'
    FROM typed_operations AS t
    HAVING max(t.stage) >= count(DISTINCT t.stage)
    UNION ALL
    SELECT
        8,
        coalesce(t.place, e.place),
        'step ' || coalesce(t.step, e.step)::BIGINT || ' of dp_rank '
        || coalesce(t.dp_rank, e.dp_rank)::BIGINT
        || CASE WHEN t.place IS NULL THEN ' has no ' ELSE ' has ' END
        || coalesce(t.optype, e.optype) || ' ' || coalesce(t.seq_id, e.seq_id)::BIGINT
        || ' on stage ' || coalesce(t.stage, e.stage)::BIGINT
        || CASE
            WHEN t.place IS NULL THEN ', which this row of the first step and dp_rank is'
            ELSE ', and the first step of the first dp_rank has not'
        END,
        'leave out steps that differ: all must have the same operations'
    FROM typed_operations AS t
    FULL OUTER JOIN expected AS e
        ON
            t.step = e.step AND t.dp_rank = e.dp_rank AND t.stage = e.stage
            AND t.optype = e.optype AND t.seq_id = e.seq_id
    WHERE t.place IS NULL OR e.place IS NULL
    UNION ALL
    SELECT
        8,
        (
            SELECT min(t.place) FROM typed_operations AS t
            WHERE t.step = g.step
        ),
        'step ' || g.step::BIGINT || ' has no operation of dp_rank ' || g.dp_rank::BIGINT
        || ', and other steps have',
        'leave out steps that differ: all must have the same operations'
    FROM grid AS g
    LEFT JOIN lanes AS l ON g.step = l.step AND g.dp_rank = l.dp_rank
    WHERE l.step IS NULL
    UNION ALL
    SELECT
        9,
        max(t.place),
        'no row up to this last one is an optimizer',
        'write the operations up to the end of the step, which is that of the optimizer'
    FROM typed_operations AS t
    HAVING count(*) > 0 AND NOT bool_or(t.optype = 'optimizer')
    UNION ALL
    SELECT
        10,
        n.place,
        'rank ' || n."rank"::BIGINT || ' has dp_rank ' || n.dp_rank::BIGINT || ' and stage '
        || n.stage::BIGINT || ', and before dp_rank ' || n.first_dp_rank::BIGINT || ' and stage '
        || n.first_stage::BIGINT,
        'give each data-parallel rank and stage a rank of its own'
    FROM numbered AS n
    WHERE n.dp_rank <> n.first_dp_rank OR n.stage <> n.first_stage
    UNION ALL
    SELECT
        11,
        n.place,
        'gmc is ' || n.gmc::BIGINT || ', and mc * stages + stage is '
        || (n.mc * s.stages + n.stage)::BIGINT,
        'number the model chunks of all stages in gmc'
    FROM numbered AS n
    CROSS JOIN stages AS s
    WHERE
        n.optype IN ('forward-compute', 'backward-compute')
        AND n.gmc <> n.mc * s.stages + n.stage
    UNION ALL
    SELECT
        12,
        n.place,
        'seq_id is ' || n.seq_id::BIGINT || ', and ' || n.start_place || ' operations of its type, '
        || 'step and rank start before it',
        'number the operations of a type, step and rank in order of start, from 0'
    FROM numbered AS n
    WHERE n.seq_id <> n.start_place
)

SELECT
    f.place,
    f.cause,
    f.remedy
FROM faults AS f
ORDER BY f.kind, f.place
LIMIT 1;
