-- block: block_parts
-- since: 0.1
-- summary: Parts of a block of diff_modules in each of the two traces.
-- grain: one row per part of the block in a trace; none if no block is given
-- uses: aligned_blocks
--
-- A path that diff_modules does not have is an error.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     NULL     Worker and span as in first_trace.
--   experiment_worker  VARCHAR  -     NULL     The same for the experiment.
--   baseline_span      VARCHAR  -     NULL     The same.
--   experiment_span    VARCHAR  -     NULL     The same.
--   block              VARCHAR  -     NULL     Path of the block, as in diff_modules.
-- columns
--   name      type     unit  meaning
--   side      VARCHAR  key   'baseline' or 'experiment'.
--   path      VARCHAR  -     The path of the block.
--   worker    VARCHAR  -     Worker of the trace.
--   span      VARCHAR  -     Span of the trace.
--   start_ns  BIGINT   ns    Start of the part.
--   end_ns    BIGINT   ns    End of the part.
CREATE MACRO block_parts(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR := NULL,
    experiment_worker VARCHAR := NULL,
    baseline_span VARCHAR := NULL,
    experiment_span VARCHAR := NULL,
    block VARCHAR := NULL
) AS TABLE
    WITH
    _found AS MATERIALIZED (
        SELECT
            a.baseline_worker,
            a.baseline_span,
            a.baseline_parts,
            a.experiment_worker,
            a.experiment_span,
            a.experiment_parts
        FROM
            aligned_blocks(
                CASE WHEN block IS NOT NULL THEN baseline END,
                CASE WHEN block IS NOT NULL THEN experiment END,
                baseline_worker,
                experiment_worker,
                baseline_span,
                experiment_span
            ) AS a
        WHERE a.path = block
    )

    SELECT
        p.side,
        block AS path,
        p.worker,
        p.span,
        p.part[1] AS start_ns,
        p.part[2] AS end_ns
    FROM (
        SELECT
            'baseline' AS side,
            b.baseline_worker AS worker,
            b.baseline_span AS span,
            unnest(b.baseline_parts) AS part
        FROM _found AS b
        UNION ALL
        SELECT
            'experiment',
            e.experiment_worker,
            e.experiment_span,
            unnest(e.experiment_parts)
        FROM _found AS e
    ) AS p
    UNION ALL
    -- This never returns a row.
    SELECT NULL, NULL, NULL, NULL, NULL, NULL
    FROM (
        SELECT
            CASE
                WHEN block IS NOT NULL AND NOT EXISTS (FROM _found)
                    THEN error(format(
                        'there is no block ''{}''; diff_modules shows which there are', block
                    ))
            END AS message
    ) AS c
    WHERE c.message IS NOT NULL;
