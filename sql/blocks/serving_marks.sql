-- block: serving_marks
-- since: 0.1
-- summary: Serving steps among annotations, one row per step, with the numbers in their names.
-- grain: one row per step
-- uses: serving_patterns
--
-- Several annotations may be nested around one step. A detailed one tells how many tokens are attended to.
-- The outermost detailed annotation is the step, else the outermost one. Numbers that are not in its name
-- come from the others.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with lane (a text for each thread), id, name, start_ns and end_ns: annotations.
-- columns
--   name               type     unit  meaning
--   lane               VARCHAR  key   As given.
--   id                 BIGINT   key   The annotation that is the step.
--   name               VARCHAR  -     Its name.
--   start_ns           BIGINT   ns    Its start.
--   end_ns             BIGINT   ns    Its end.
--   format             VARCHAR  -     As in serving_patterns.
--   is_detailed        BOOLEAN  -     Whether it tells how many tokens are attended to.
--   phase              VARCHAR  -     'prefill', 'decode', 'mixed', 'idle' or 'diffusion'.
--   numbers            MAP(VARCHAR, BIGINT)  -  The numbers by field, as in serving_patterns.
CREATE MACRO serving_marks(rel VARCHAR) AS TABLE
    WITH
    _names AS (
        SELECT DISTINCT r.name
        FROM query_table(rel) AS r
        WHERE
            starts_with(r.name, 'execute_') OR starts_with(r.name, 'step[')
            OR contains(r.name, 'prefill[') OR contains(r.name, 'decode[')
    ),

    _read AS (
        SELECT
            n.name,
            p.format,
            p.phase,
            p.field,
            try_cast(
                nullif(regexp_extract(n.name, p.value_pattern, 1), '') AS BIGINT
            ) AS value
        FROM _names AS n
        INNER JOIN serving_patterns() AS p ON regexp_matches(n.name, p.name_pattern)
    ),

    _parsed AS (
        SELECT
            r.name,
            any_value(r.format) AS format,
            any_value(r.phase) AS phase,
            coalesce(
                bool_or(
                    r.value IS NOT NULL
                    AND (ends_with(r.field, '_sk') OR contains(r.field, '_sqs'))
                ),
                FALSE
            ) AS is_detailed,
            map_from_entries(
                list((r.field, r.value) ORDER BY r.field) FILTER (WHERE r.value IS NOT NULL)
            ) AS numbers
        FROM _read AS r
        GROUP BY r.name
    ),

    _marks AS MATERIALIZED (
        SELECT
            r.lane,
            r.id,
            r.name,
            r.start_ns,
            r.end_ns,
            p.format,
            p.phase,
            p.is_detailed,
            coalesce(p.numbers, MAP {}) AS numbers,
            r.start_ns < max(r.end_ns) OVER (
                PARTITION BY r.lane, p.is_detailed
                ORDER BY r.start_ns ASC, r.end_ns DESC, r.id ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS is_inside
        FROM query_table(rel) AS r
        INNER JOIN _parsed AS p ON r.name = p.name
    ),

    _detailed AS (
        SELECT m.*
        FROM _marks AS m
        WHERE m.is_detailed AND m.is_inside IS NOT TRUE
    ),

    _kept AS (
        SELECT d.*
        FROM _detailed AS d
        UNION ALL
        SELECT m.*
        FROM _marks AS m
        ANTI JOIN _detailed AS d
            ON m.lane = d.lane AND m.start_ns < d.end_ns AND m.end_ns > d.start_ns
        WHERE NOT m.is_detailed AND m.is_inside IS NOT TRUE
    ),

    _others AS (
        SELECT
            k.id,
            arg_min(o.phase, (o.start_ns, o.id)) FILTER (WHERE o.phase IS NOT NULL) AS phase,
            list(o.numbers ORDER BY o.start_ns DESC, o.id DESC) AS numbers
        FROM _kept AS k
        INNER JOIN _marks AS o
            ON
                k.lane = o.lane AND k.id <> o.id
                AND o.start_ns < k.end_ns AND o.end_ns > k.start_ns
        GROUP BY k.id
    ),

    -- The last map that holds a field counts.
    _filled AS (
        SELECT
            k.lane,
            k.id,
            k.name,
            k.start_ns,
            k.end_ns,
            k.format,
            k.is_detailed,
            k.phase,
            o.phase AS other_phase,
            list_reduce(
                list_append(coalesce(o.numbers, []), k.numbers), LAMBDA a, b: map_concat(a, b)
            ) AS numbers
        FROM _kept AS k
        LEFT JOIN _others AS o ON k.id = o.id
    )

    SELECT
        f.lane,
        f.id,
        f.name,
        f.start_ns,
        f.end_ns,
        f.format,
        f.is_detailed,
        CASE
            WHEN f.phase IS NOT NULL THEN f.phase
            WHEN f.numbers['prefill_requests'] > 0 AND f.numbers['decode_requests'] > 0
                THEN 'mixed'
            WHEN f.numbers['prefill_requests'] > 0 THEN 'prefill'
            WHEN f.numbers['decode_requests'] > 0 THEN 'decode'
            WHEN f.numbers['prefill_requests'] = 0 AND f.numbers['decode_requests'] = 0
                THEN 'idle'
            ELSE f.other_phase
        END AS phase,
        f.numbers
    FROM _filled AS f;
