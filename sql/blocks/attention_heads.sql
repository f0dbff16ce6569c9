-- block: attention_heads
-- since: 0.1
-- summary: Heads and sizes of attention, from the inputs of its operator.
-- grain: one row per set of inputs that tells them
-- uses: element_types
--
-- Inputs of three or more dimensions are queries, keys and values in this order; an output may come first.
-- The number of heads is the last dimension but one. The first dimensions are no lengths: those of keys may
-- be the tokens of the step, or the slots of the whole cache.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with input_dims and input_types.
-- columns
--   name           type       unit   meaning
--   input_dims     JSON       key    As given.
--   input_types    VARCHAR[]  key    As given.
--   query_heads    BIGINT     -      Heads of the queries.
--   kv_heads       BIGINT     -      Heads of keys and values.
--   key_dim        BIGINT     -      Size of a head of queries and keys.
--   value_dim      BIGINT     -      Size of a head of values.
--   query_bytes    BIGINT     bytes  Size of an element of the queries; NULL if unknown.
--   kv_bytes       BIGINT     bytes  Size of an element of keys and values; NULL if unknown.
CREATE MACRO attention_heads(rel VARCHAR) AS TABLE
    WITH
    _distinct AS (
        SELECT DISTINCT r.input_dims, r.input_types
        FROM query_table(rel) AS r
        WHERE r.input_dims IS NOT NULL
    ),

    _types AS (
        SELECT map(list(t.name), list(t.element_bytes)) AS bytes_of
        FROM element_types() AS t
    ),

    _tensors AS (
        SELECT
            d.input_dims,
            d.input_types,
            list_filter(
                list_transform(
                    range(1, len(try_cast(d.input_dims AS DOUBLE[][])) + 1),
                    LAMBDA place: {
                        'dims': try_cast(d.input_dims AS DOUBLE[][])[place],
                        'bytes': t.bytes_of[
                            replace(lower(d.input_types[place]), 'c10::', '')
                        ]
                    }
                ),
                LAMBDA tensor: len(tensor.dims) >= 3
            ) AS tensors
        FROM _distinct AS d
        CROSS JOIN _types AS t
    ),

    -- The keys are the first that differ in heads or dimensions from what comes first; without grouped heads
    -- nothing differs, and they are the second.
    _placed AS (
        SELECT
            t.*,
            coalesce(
                list_filter(
                    range(2, len(t.tensors) + 1),
                    LAMBDA place:
                    len(t.tensors[place].dims) <> len(t.tensors[1].dims)
                    OR t.tensors[place].dims[-2] <> t.tensors[1].dims[-2]
                )[1],
                2
            ) AS key_at
        FROM _tensors AS t
        WHERE len(t.tensors) >= 2
    )

    SELECT
        p.input_dims,
        p.input_types,
        p.tensors[p.key_at - 1].dims[-2]::BIGINT AS query_heads,
        p.tensors[p.key_at].dims[-2]::BIGINT AS kv_heads,
        p.tensors[p.key_at - 1].dims[-1]::BIGINT AS key_dim,
        coalesce(p.tensors[p.key_at + 1].dims[-1], p.tensors[p.key_at].dims[-1])::BIGINT
            AS value_dim,
        p.tensors[p.key_at - 1].bytes AS query_bytes,
        p.tensors[p.key_at].bytes AS kv_bytes
    FROM _placed AS p;
