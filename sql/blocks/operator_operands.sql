-- block: operator_operands
-- since: 0.1
-- summary: Parsed shapes, sizes and options of the calls whose flops and bytes can be computed.
-- grain: one row per operator and set of arguments
-- uses: operator_costs, operator_models, element_types, replayed_costs
--
-- Many calls have the same arguments, so each set is parsed once. A wrapper counts only if it calls none of
-- these operators. Of other nested calls only the outermost counts. Calls without recorded shapes are left
-- out. Positions count from 1.
--
-- With capture_overload_names=True the profiler adds the overload to the name, as in aten::mm.out. Such calls count.
--
-- params
--   run, worker, span
-- columns
--   name             type        unit  meaning
--   name             VARCHAR     key   Name of the operator.
--   operator         VARCHAR     -     Its name in operator_models, without that of an overload.
--   kind             VARCHAR     -     As there.
--   dtype            VARCHAR     -     Element type of the first operand, as torch names it; NULL if unknown.
--   input_dims       JSON        key   Shape of each input.
--   concrete_inputs  VARCHAR[]   key   Value of each scalar input.
--   calls            STRUCT(run VARCHAR, worker VARCHAR, span VARCHAR, event_id BIGINT, launch_id BIGINT, operator_id BIGINT, start_ns BIGINT, host_total_ns BIGINT, device_total_ns BIGINT)[]  -  The calls, as in operator_costs.
--   first_at         INTEGER     -     As in operator_models, like the next four.
--   second_at        INTEGER     -     As there.
--   bias_at          INTEGER     -     As there, also of old signatures.
--   options_at       INTEGER     -     As there, also of signatures with out_dtype.
--   gradient_at      INTEGER     -     As there.
--   has_bias         BOOLEAN     -     Whether the input at bias_at is a tensor.
--   shapes           DOUBLE[][]  -     Shape of each input; empty for inputs that are not tensors. NULL for a product with a sparse factor, as are elements and loads.
--   sizes            BIGINT[]    -     Bytes per element of each input; NULL if unknown.
--   elements         DOUBLE[]    -     Number of elements of each input.
--   loads            DOUBLE[]    -     Size of each input in memory, in bytes; an expanded dimension (with stride 0) is there once.
CREATE MACRO operator_operands(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _calls AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.event_id,
            c.name,
            c.input_dims,
            c.input_types,
            c.input_strides,
            c.concrete_inputs,
            c.start_ns,
            c.host_total_ns,
            c.device_total_ns,
            max(CASE WHEN NOT m.is_wrapper THEN c.start_ns + c.host_total_ns END) OVER (
                PARTITION BY c.run, c.worker, c.span, c.pid, c.tid
                ORDER BY c.start_ns ASC, c.depth ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) > c.start_ns AS is_inside,
            m.is_wrapper AND lead(c.start_ns) OVER (
                PARTITION BY c.run, c.worker, c.span, c.pid, c.tid
                ORDER BY c.start_ns ASC, c.depth ASC
            ) < c.start_ns + c.host_total_ns AS is_around
        FROM operator_costs(run, worker, span) AS c
        INNER JOIN operator_models() AS m ON split_part(c.name, '.', 1) = m.name
    ),

    -- Calls that a graph replayed; one is inside another if it was when they were captured.
    _replays AS (
        SELECT
            r.*,
            max(CASE WHEN NOT m.is_wrapper THEN r.call_end_ns END) OVER (
                PARTITION BY
                    r.run, r.worker, r.span, r.launch_id, r.capture_run, r.capture_worker,
                    r.capture_span, r.pid, r.tid
                ORDER BY r.call_start_ns ASC, r.depth ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) > r.call_start_ns AS is_inside,
            m.is_wrapper AND lead(r.call_start_ns) OVER (
                PARTITION BY
                    r.run, r.worker, r.span, r.launch_id, r.capture_run, r.capture_worker,
                    r.capture_span, r.pid, r.tid
                ORDER BY r.call_start_ns ASC, r.depth ASC
            ) < r.call_end_ns AS is_around
        FROM replayed_costs(run, worker, span) AS r
        INNER JOIN operator_models() AS m ON split_part(r.name, '.', 1) = m.name
        WHERE r.replays > 0
    ),

    _each AS (
        SELECT
            c.name,
            c.input_dims,
            c.input_types,
            c.input_strides,
            c.concrete_inputs,
            c.run,
            c.worker,
            c.span,
            c.event_id,
            NULL::BIGINT AS launch_id,
            NULL::BIGINT AS operator_id,
            c.start_ns,
            c.host_total_ns,
            c.device_total_ns
        FROM _calls AS c
        WHERE NOT coalesce(c.is_inside, FALSE) AND NOT coalesce(c.is_around, FALSE)
        UNION ALL
        SELECT
            r.name,
            r.input_dims,
            r.input_types,
            r.input_strides,
            r.concrete_inputs,
            r.run,
            r.worker,
            r.span,
            NULL,
            r.launch_id,
            r.operator_id,
            r.start_ns,
            NULL,
            r.device_total_ns
        FROM _replays AS r
        WHERE NOT coalesce(r.is_inside, FALSE) AND NOT coalesce(r.is_around, FALSE)
    ),

    _alike AS (
        SELECT
            c.name,
            c.input_dims,
            c.input_types,
            c.input_strides,
            c.concrete_inputs,
            list({
                'run': c.run,
                'worker': c.worker,
                'span': c.span,
                'event_id': c.event_id,
                'launch_id': c.launch_id,
                'operator_id': c.operator_id,
                'start_ns': c.start_ns,
                'host_total_ns': c.host_total_ns,
                'device_total_ns': c.device_total_ns
            }) AS calls
        FROM _each AS c
        WHERE c.input_dims IS NOT NULL
        GROUP BY c.name, c.input_dims, c.input_types, c.input_strides, c.concrete_inputs
    ),

    _types AS (
        SELECT
            map(list(t.name), list(t.element_bytes)) AS bytes_of,
            map(list(t.name), list(t.dtype)) AS dtype_of
        FROM element_types() AS t
    ),

    _inputs AS (
        SELECT
            a.*,
            m.name AS operator,
            m.kind,
            m.first_at,
            m.second_at,
            -- Until torch 2.4, bias and output type came before the scales.
            CASE
                WHEN m.name = 'aten::_scaled_mm' AND a.input_types[4] IN ('', 'Scalar') THEN 3
                ELSE m.bias_at
            END AS bias_at,
            -- out_dtype comes before beta.
            CASE
                WHEN m.name IN ('aten::addmm', 'aten::baddbmm') AND a.input_types[6] = 'Scalar'
                    THEN m.options_at + 1
                ELSE m.options_at
            END AS options_at,
            m.gradient_at,
            t.dtype_of,
            try_cast(a.input_dims AS DOUBLE[][]) AS shapes,
            try_cast(a.input_strides AS DOUBLE[][]) AS strides,
            list_transform(
                a.input_types, LAMBDA name: t.bytes_of[replace(lower(name), 'c10::', '')]
            ) AS sizes
        FROM _alike AS a
        INNER JOIN operator_models() AS m ON split_part(a.name, '.', 1) = m.name
        CROSS JOIN _types AS t
    ),

    -- A sparse tensor has no strides. How much work its products are depends on its values.
    _dense AS (
        SELECT
            i.* REPLACE (
                CASE
                    WHEN
                        i.kind IN ('gemm', 'batched_gemm')
                        AND (
                            len(i.shapes[i.first_at]) <> len(i.strides[i.first_at])
                            OR len(i.shapes[i.second_at]) <> len(i.strides[i.second_at])
                        )
                        THEN NULL
                    ELSE i.shapes
                END AS shapes
            )
        FROM _inputs AS i
    )

    SELECT
        i.name,
        i.operator,
        i.kind,
        i.dtype_of[replace(lower(i.input_types[i.first_at]), 'c10::', '')] AS dtype,
        i.input_dims,
        i.concrete_inputs,
        i.calls,
        i.first_at,
        i.second_at,
        i.bias_at,
        i.options_at,
        i.gradient_at,
        coalesce(i.input_types[i.bias_at], '') <> '' AS has_bias,
        i.shapes,
        i.sizes,
        list_transform(i.shapes, LAMBDA dims: coalesce(list_product(dims), 1)) AS elements,
        list_transform(
            range(1, len(i.shapes) + 1),
            LAMBDA place: i.sizes[place] * coalesce(
                list_product(
                    list_transform(
                        range(1, len(i.shapes[place]) + 1),
                        LAMBDA axis: CASE
                            WHEN i.strides[place][axis] = 0 THEN 1
                            ELSE i.shapes[place][axis]
                        END
                    )
                ),
                1
            )
        ) AS loads
    FROM _dense AS i;
