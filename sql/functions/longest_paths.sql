-- function: longest_paths
-- since: 0.2
-- summary: Length of the longest path from point 1 to each point of a graph, point 1 first.
-- returns: BIGINT[]
--
-- To add one length copies a list, so points are in blocks: the list of a block grows by its points, and then the list
-- of all by the block. This is fastest if there are about as many blocks as points in a block. What comes from
-- earlier blocks is looked up once for the block. Lists have one type throughout, as DuckDB 1.5 requires.
--
-- params
--   name    type        unit  default  meaning
--   blocks  BIGINT[][]  -     -        The edges in blocks: three numbers for each, which are the point where it ends, the point where it begins, and its length. Points are numbered from 1, and edges begin at an earlier point than they end. They are in the order of their ends, and each point from 2 on has one.
CREATE MACRO longest_paths(blocks BIGINT[][]) AS (
    -- The linter does not know lambdas with two parameters. The first edge of a point adds a length, each other one may
    -- raise the last length. A beginning in the block itself is in lengths, and an earlier one is in known.
    list_reduce(  -- noqa: PRS
        blocks,
        LAMBDA known, edges: list_concat(known, list_reduce(
            list_transform(range(0, len(edges), 3), LAMBDA i: [
                edges[i + 1] - len(known),
                greatest(edges[i + 2] - len(known), 0),
                coalesce(known[edges[i + 2]], 0) + edges[i + 3]
            ]),
            LAMBDA lengths, e: CASE
                WHEN e[1] > len(lengths)
                    THEN list_append(lengths, coalesce(lengths[e[2]], 0) + e[3])
                ELSE list_append(
                    lengths[:-2],
                    greatest(lengths[-1], coalesce(lengths[e[2]], 0) + e[3])
                )
            END,
            []::BIGINT[]
        )),
        [0::BIGINT]
    )
);
