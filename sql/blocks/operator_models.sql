-- block: operator_models
-- since: 0.1
-- summary: Operators whose flops and bytes can be computed, with the positions of their arguments.
-- grain: one row per operator
--
-- Positions count from 1, in the schema of torch. A wrapper may leave its work to others of these, which it calls.
-- aten::linear mostly does. Other products do for a subclass of a tensor, such as DTensor, and in torch.vmap.
--
-- columns
--   name         type     unit  meaning
--   name         VARCHAR  key   Name of the operator.
--   kind         VARCHAR  -     'gemm', 'batched_gemm', 'convolution', 'convolution_backward', 'attention' or 'attention_backward'.
--   is_wrapper   BOOLEAN  -     Whether another of these operators below it does the work, if there is one.
--   first_at     INTEGER  -     Left matrices, input of the convolution, or query; key and value follow the query.
--   second_at    INTEGER  -     Right matrices or weight.
--   bias_at      INTEGER  -     Summand of the product or of the scores.
--   options_at   INTEGER  -     beta of a GEMM; stride, padding, dilation, transposed, output_padding, groups and output_mask of a convolution in this order; is_causal of attention.
--   gradient_at  INTEGER  -     Gradient of the output.
CREATE MACRO operator_models() AS TABLE
    SELECT
        t.name,
        t.kind,
        t.name IN (
            'aten::linear', 'aten::mm', 'aten::addmm', 'aten::addmm_', 'aten::bmm',
            'aten::baddbmm', 'aten::baddbmm_'
        ) AS is_wrapper,
        t.first_at,
        t.second_at,
        t.bias_at,
        t.options_at,
        t.gradient_at
    FROM (
        VALUES
        ('aten::mm', 'gemm', 1, 2, NULL::INTEGER, NULL::INTEGER, NULL::INTEGER),
        ('aten::linear', 'gemm', 1, 2, 3, NULL, NULL),
        ('aten::addmm', 'gemm', 2, 3, 1, 4, NULL),
        ('aten::addmm_', 'gemm', 2, 3, 1, 4, NULL),
        ('aten::_addmm_activation', 'gemm', 2, 3, 1, 4, NULL),
        ('aten::_scaled_mm', 'gemm', 1, 2, 5, NULL, NULL),
        ('aten::bmm', 'batched_gemm', 1, 2, NULL, NULL, NULL),
        ('aten::baddbmm', 'batched_gemm', 2, 3, 1, 4, NULL),
        ('aten::baddbmm_', 'batched_gemm', 2, 3, 1, 4, NULL),
        ('aten::convolution', 'convolution', 1, 2, 3, 4, NULL),
        ('aten::_convolution', 'convolution', 1, 2, 3, 4, NULL),
        ('aten::convolution_backward', 'convolution_backward', 2, 3, NULL, 5, 1),
        ('aten::_scaled_dot_product_flash_attention', 'attention', 1, 2, NULL, 5, NULL),
        ('aten::_scaled_dot_product_flash_attention_for_cpu', 'attention', 1, 2, 6, 5, NULL),
        ('aten::_scaled_dot_product_efficient_attention', 'attention', 1, 2, 4, 7, NULL),
        ('aten::_scaled_dot_product_cudnn_attention', 'attention', 1, 2, 4, 7, NULL),
        (
            'aten::_scaled_dot_product_fused_attention_overrideable',
            'attention', 1, 2, 4, 6, NULL
        ),
        (
            'aten::_scaled_dot_product_flash_attention_backward',
            'attention_backward', 2, 3, NULL, 12, 1
        ),
        (
            'aten::_scaled_dot_product_flash_attention_for_cpu_backward',
            'attention_backward', 2, 3, 9, 8, 1
        ),
        (
            'aten::_scaled_dot_product_efficient_attention_backward',
            'attention_backward', 2, 3, 5, 12, 1
        ),
        (
            'aten::_scaled_dot_product_cudnn_attention_backward',
            'attention_backward', 2, 3, 9, 15, 1
        ),
        (
            'aten::_scaled_dot_product_fused_attention_overrideable_backward',
            'attention_backward', 2, 3, 5, 14, 1
        )
    ) AS t (name, kind, first_at, second_at, bias_at, options_at, gradient_at);
