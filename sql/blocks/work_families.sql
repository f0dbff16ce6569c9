-- block: work_families
-- since: 0.1
-- summary: Names of operators and kernels of inference, by what they compute.
-- grain: one row per pattern
--
-- A pattern is a regular expression, searched for in the name. If several match, the lowest place counts. So a
-- kernel that writes the KV cache counts as such, whatever operator launched it, and the operator counts before
-- other kernel names: a matrix product in an operator of experts is MoE.
--
-- columns
--   name     type     unit  meaning
--   place    INTEGER  key   Order in which the patterns count.
--   family   VARCHAR  -     'kv_cache', 'attention', 'moe', 'norm' or 'gemm'.
--   of       VARCHAR  -     'operator' or 'kernel': the name that is searched.
--   pattern  VARCHAR  -     Regular expression.
CREATE MACRO work_families() AS TABLE
    SELECT f.place, f.family, f.of, f.pattern
    FROM (
        VALUES
        (
            1, 'kv_cache', 'kernel',
            '(?i)reshape_and_cache|concat_and_cache|store_?kv_?cache|append_paged_kv|set_kv_buffer'
            || '|kv_cache_(write|update|store|scatter)'
        ),
        (2, 'kv_cache', 'operator', '(?i)reshape_and_cache|concat_and_cache|store_cache|kv_cache'),
        (3, 'attention', 'operator', '(?i)attention|attn|\bmha_|\bfmha|\bmla_|radixattention'),
        (4, 'moe', 'operator', '(?i)moe_|_moe|::moe|fused_experts'),
        (5, 'norm', 'operator', '(?i)(rms|layer|group|batch|l2)_?norm'),
        (
            6, 'gemm', 'operator',
            '(?i)^aten::(mm|addmm|bmm|baddbmm|linear|matmul|_scaled_mm|_addmm_activation|_int_mm|'
            || '_grouped_mm)(\.\w+)?$|gemm|(^|_|:)matmul(_|$)'
        ),
        (
            7, 'attention', 'kernel',
            '(?i)attention|attn|fmha|flash_(fwd|bwd|splitkv)|flash::|BatchDecodeWith|'
            || 'BatchPrefillWith|SinglePrefillWith|SingleDecodeWith|\bmla_|_mla_|mla_decode'
        ),
        (
            8, 'moe', 'kernel',
            '(?i)moe_|_moe|moe::|expert|topk_?gating|topk_?softmax|grouped_topk|matmul_ogs|'
            || 'finalize_matmul_scatter|routing|bitmatrix|^_topk_forward'
        ),
        (9, 'norm', 'kernel', '(?i)(rms|layer|group|batch|l2)_?norm'),
        (
            10, 'gemm', 'kernel',
            '^Cijk_|(?i)gemm|gemv|nvjet|cutlass|matmul|splitkreduce|wvsplitk|xmma|'
            || '^void cublaslt'
        )
    ) AS f (place, family, of, pattern);
