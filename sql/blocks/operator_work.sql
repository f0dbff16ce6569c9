-- block: operator_work
-- since: 0.1
-- summary: FLOPs and bytes of each call of the operators in operator_models.
-- grain: one row per call with recorded shapes; of nested calls those that do the work
-- uses: operator_operands
--
-- A wrapper counts only if it calls none of these operators. Of other nested calls only the outermost counts.
--
-- A multiplication and an addition are two operations, and a bias is one more per output element. Scores
-- that a causal mask hides are not computed; the mask begins at the upper left corner, as in torch. The
-- backward of attention computes the scores again. Scalings, softmax and dropout do not count.
--
-- Bytes count reading each input once and writing each output once; for convolution_backward, once for each
-- gradient. An expanded dimension (with stride 0) is in memory once. Scales of aten::_scaled_mm, random
-- states and sums of exponentials do not count, nor does the output of attention as an input of its backward.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name             type     unit   meaning
--   event_id         BIGINT   key    Row of the call in host_events; NULL for a call that a graph replayed.
--   launch_id        BIGINT   key    Call in host_events that launched the graph; NULL for any other call.
--   operator_id      BIGINT   key    The replayed call in host_events of the capture; NULL for any other call.
--   name             VARCHAR  -      Name of the operator.
--   kind             VARCHAR  -      As in operator_models.
--   dtype            VARCHAR  -      Element type of the first operand, as torch names it; NULL if unknown.
--   input_dims       JSON     -      Shape of each input.
--   start_ns         BIGINT   ns     Start of the call, or of the launch of the graph.
--   host_total_ns    BIGINT   ns     Duration of the call; NULL for a call that a graph replayed.
--   device_total_ns  BIGINT   ns     Device work of the call and the operators below it; NULL if the trace does not link device work to operators.
--   flops            BIGINT   -      Floating-point operations; NULL if the arguments do not tell.
--   bytes            BIGINT   bytes  Bytes read and written; NULL if the arguments do not tell.
CREATE MACRO operator_work(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _operands AS MATERIALIZED (
        SELECT
            o.*,
            row_number() OVER () AS id,
            o.shapes[o.first_at] AS first_dims,
            o.shapes[o.second_at] AS second_dims,
            o.shapes[o.first_at + 2] AS third_dims,
            o.concrete_inputs[o.options_at] AS option,
            -- The type of a product in torch's numbers; empty where it is that of the factors.
            CASE
                WHEN o.operator = 'aten::_scaled_mm'
                    THEN o.concrete_inputs[CASE WHEN o.bias_at = 3 THEN 4 ELSE 7 END]
                WHEN o.operator IN ('aten::mm', 'aten::bmm') THEN coalesce(o.concrete_inputs[3], '')
                WHEN o.options_at = 5 THEN o.concrete_inputs[4]
                ELSE ''
            END AS output_type
        FROM operator_operands(run, worker, span) AS o
    ),

    _gemm_shapes AS (
        SELECT
            o.*,
            o.first_dims[-1] * CASE WHEN o.dtype = 'float4_e2m1fn_x2' THEN 2 ELSE 1 END
                AS inner_length,
            coalesce(list_product(o.first_dims[:-2]), 1)
            * CASE
                WHEN o.operator = 'aten::linear'
                    THEN
                        CASE
                            WHEN len(o.second_dims) = 2 AND o.first_dims[-1] = o.second_dims[2]
                                THEN o.second_dims[1]
                        END
                WHEN
                    len(o.first_dims) = CASE WHEN o.kind = 'gemm' THEN 2 ELSE 3 END
                    AND o.first_dims[:-3] = o.second_dims[:-3]
                    AND o.first_dims[-1] = o.second_dims[-2]
                    THEN o.second_dims[-1]
            END AS outputs,
            -- The numbers are those of torch.
            CASE o.output_type
                WHEN '' THEN o.sizes[o.first_at]
                WHEN '5' THEN 2
                WHEN '6' THEN 4
                WHEN '15' THEN 2
                WHEN '23' THEN 1
                WHEN '24' THEN 1
                WHEN '25' THEN 1
                WHEN '26' THEN 1
            END AS output_size,
            o.has_bias AND coalesce(try_cast(o.option AS DOUBLE) <> 0, TRUE) AS is_added
        FROM _operands AS o
        WHERE o.kind IN ('gemm', 'batched_gemm')
    ),

    _convolution_options AS (
        SELECT
            o.*,
            try_cast(o.concrete_inputs[o.options_at] AS DOUBLE[]) AS stride,
            try_cast(o.concrete_inputs[o.options_at + 1] AS DOUBLE[]) AS padding,
            try_cast(o.concrete_inputs[o.options_at + 2] AS DOUBLE[]) AS dilation,
            try_cast(o.concrete_inputs[o.options_at + 3] AS BOOLEAN) AS transposed,
            try_cast(o.concrete_inputs[o.options_at + 4] AS DOUBLE[]) AS output_padding,
            try_cast(o.concrete_inputs[o.options_at + 5] AS DOUBLE) AS groups,
            try_cast(o.concrete_inputs[o.options_at + 6] AS BOOLEAN[]) AS output_mask
        FROM _operands AS o
        WHERE o.kind IN ('convolution', 'convolution_backward')
    ),

    _convolution_shapes AS (
        SELECT
            o.*,
            CASE
                WHEN o.kind = 'convolution_backward' THEN o.elements[o.gradient_at]
                ELSE
                    o.first_dims[1]
                    * CASE
                        WHEN o.transposed THEN o.second_dims[2] * o.groups
                        ELSE o.second_dims[1]
                    END
                    * list_product(
                        list_transform(
                            range(1, len(o.first_dims) - 1),
                            LAMBDA axis: CASE
                                WHEN o.transposed
                                    THEN
                                        (o.first_dims[axis + 2] - 1)
                                        * o.stride[least(axis, len(o.stride))]
                                        - 2 * o.padding[least(axis, len(o.padding))]
                                        + o.dilation[least(axis, len(o.dilation))]
                                        * (o.second_dims[axis + 2] - 1)
                                        + o.output_padding[least(axis, len(o.output_padding))]
                                        + 1
                                ELSE
                                    floor(
                                        (
                                            o.first_dims[axis + 2]
                                            + 2 * o.padding[least(axis, len(o.padding))]
                                            - o.dilation[least(axis, len(o.dilation))]
                                            * (o.second_dims[axis + 2] - 1)
                                            - 1
                                        ) / o.stride[least(axis, len(o.stride))]
                                    ) + 1
                            END
                        )
                    )
            END AS outputs
        FROM _convolution_options AS o
    ),

    _convolutions AS (
        SELECT
            s.*,
            2 * CASE WHEN s.transposed THEN s.elements[s.first_at] ELSE s.outputs END
            * list_product(s.second_dims[2:]) AS product_flops,
            s.sizes[s.first_at] * s.outputs AS output_bytes
        FROM _convolution_shapes AS s
    ),

    _attention_shapes AS (
        SELECT
            o.*,
            o.first_dims[1] * o.first_dims[2] AS heads,
            o.first_dims[4] AS key_length,
            o.third_dims[4] AS value_length,
            CASE o.option
                WHEN 'False' THEN o.first_dims[3] * o.second_dims[3]
                WHEN 'True'
                    THEN
                        least(o.first_dims[3], o.second_dims[3]) ** 2 / 2
                        + greatest(o.first_dims[3] - o.second_dims[3], 0) * o.second_dims[3]
            END AS scores
        FROM _operands AS o
        WHERE
            o.kind IN ('attention', 'attention_backward')
    ),

    _work AS (
        SELECT
            g.id,
            g.outputs * (2 * g.inner_length + CASE WHEN g.is_added THEN 1 ELSE 0 END) AS flops,
            g.loads[g.first_at]
            + g.loads[g.second_at]
            + g.outputs * g.output_size
            + CASE WHEN g.is_added THEN g.loads[g.bias_at] ELSE 0 END AS bytes
        FROM _gemm_shapes AS g
        UNION ALL
        SELECT
            c.id,
            CASE
                WHEN c.kind = 'convolution'
                    THEN c.product_flops + CASE WHEN c.has_bias THEN c.outputs ELSE 0 END
                ELSE
                    c.product_flops * (c.output_mask[1]::INTEGER + c.output_mask[2]::INTEGER)
                    + c.outputs * c.output_mask[3]::INTEGER
            END,
            CASE
                WHEN c.kind = 'convolution'
                    THEN
                        c.loads[c.first_at]
                        + c.loads[c.second_at]
                        + c.output_bytes
                        + CASE WHEN c.has_bias THEN c.loads[c.bias_at] ELSE 0 END
                ELSE
                    c.loads[c.gradient_at]
                    * greatest(
                        c.output_mask[1]::INTEGER + c.output_mask[2]::INTEGER,
                        c.output_mask[3]::INTEGER
                    )
                    + c.output_mask[1]::INTEGER
                    * (c.loads[c.second_at] + c.sizes[c.first_at] * c.elements[c.first_at])
                    + c.output_mask[2]::INTEGER
                    * (c.loads[c.first_at] + c.sizes[c.second_at] * c.elements[c.second_at])
                    + c.output_mask[3]::INTEGER
                    * c.sizes[c.gradient_at] * c.shapes[c.gradient_at][2]
            END
        FROM _convolutions AS c
        UNION ALL
        SELECT
            a.id,
            2 * a.heads * a.scores
            * CASE
                WHEN a.kind = 'attention' THEN a.key_length + a.value_length
                ELSE 3 * a.key_length + 2 * a.value_length
            END,
            a.loads[a.first_at]
            + a.loads[a.first_at + 1]
            + a.loads[a.first_at + 2]
            + CASE WHEN a.has_bias THEN a.loads[a.bias_at] ELSE 0 END
            + CASE
                WHEN a.kind = 'attention'
                    THEN a.sizes[a.first_at] * a.heads * a.first_dims[3] * a.value_length
                ELSE
                    a.loads[a.gradient_at]
                    + a.sizes[a.first_at] * a.elements[a.first_at]
                    + a.sizes[a.first_at + 1] * a.elements[a.first_at + 1]
                    + a.sizes[a.first_at + 2] * a.elements[a.first_at + 2]
            END
        FROM _attention_shapes AS a
    ),

    _each AS (
        SELECT
            o.name,
            o.kind,
            o.dtype,
            o.input_dims,
            unnest(o.calls) AS call,
            try_cast(w.flops AS BIGINT) AS flops,
            try_cast(w.bytes AS BIGINT) AS bytes
        FROM _operands AS o
        INNER JOIN _work AS w ON o.id = w.id
    )

    SELECT
        e.call.run,
        e.call.worker,
        e.call.span,
        e.call.event_id,
        e.call.launch_id,
        e.call.operator_id,
        e.name,
        e.kind,
        e.dtype,
        e.input_dims,
        e.call.start_ns,
        e.call.host_total_ns,
        e.call.device_total_ns,
        e.flops,
        e.bytes
    FROM _each AS e;
