-- function: longest_ways
-- since: 0.2
-- summary: Length of the longest way from point 1 to each point of a graph, point 1 first.
-- returns: BIGINT[]
--
-- To add one length copies a list, so points are in blocks: the list of a block grows by its points, and then the list
-- of all by the block. This is fastest if there are about as many blocks as points in a block. What comes from
-- earlier blocks is looked up once for the block. Lists have one type throughout, as DuckDB 1.5 requires.
--
-- params
--   name    type        unit  default  meaning
--   blocks  BIGINT[][]  -     -        The edges in blocks: three numbers for each, which are the point where it ends, the point where it begins, and its length. Points are numbered from 1, and edges begin at an earlier point than they end. They are in the order of their ends, and each point from 2 on has one.
CREATE MACRO longest_ways(blocks BIGINT[][]) AS (
    -- The linter does not know lambdas with two parameters. The first edge of a point adds a length, each other one may
    -- raise the last length. A beginning in the block itself is in ways, and an earlier one is in known.
    list_reduce(  -- noqa: PRS
        blocks,
        LAMBDA known, edges: list_concat(known, list_reduce(
            list_transform(range(0, len(edges), 3), LAMBDA i: [
                edges[i + 1] - len(known),
                greatest(edges[i + 2] - len(known), 0),
                coalesce(known[edges[i + 2]], 0) + edges[i + 3]
            ]),
            LAMBDA ways, e: CASE
                WHEN e[1] > len(ways) THEN list_append(ways, coalesce(ways[e[2]], 0) + e[3])
                ELSE list_append(ways[:-2], greatest(ways[-1], coalesce(ways[e[2]], 0) + e[3]))
            END,
            []::BIGINT[]
        )),
        [0::BIGINT]
    )
);
