-- block: tensor_core_operators
-- since: 0.1
-- summary: Operators whose kernels can run on tensor cores.
--
-- The list begins with the exact names that the TensorBoard profiler plugin uses, including older names of
-- backward functions; that list ends with 2021. Then come the operators of torch 2.13 that launch matrix
-- products, convolutions or attention themselves: scaled, grouped, integer and sparse products; the
-- attention of FlashAttention, CUTLASS, cuDNN and Triton; the backward of all convolutions since torch 1.11;
-- and further operators of AMD's and NVIDIA's libraries.
--
-- An operator that is missing here still counts as eligible if one of its kernels used tensor cores, as
-- for other packages and torch.compile, or if it calls a listed operator, as aten::einsum, aten::lstm
-- and ConvolutionBackward0 do.
--
-- With capture_overload_names=True the profiler adds the overload to the name, as in aten::mm.out. Overloads of the
-- listed operators are listed, too.
--
-- columns
--   name  type     unit  meaning
--   name  VARCHAR  key   Name of an operator, or of one of its overloads.
CREATE MACRO tensor_core_operators() AS TABLE
    SELECT o.name || v.overload AS name
    FROM (
        SELECT unnest([
            'aten::_convolution', 'aten::conv1d', 'aten::conv2d', 'aten::conv3d',
            'aten::conv_tbc', 'aten::conv_transpose1d', 'aten::conv_transpose2d',
            'aten::conv_transpose3d', 'aten::convolution', 'aten::cudnn_convolution',
            'aten::cudnn_convolution_transpose', 'aten::prelu', 'aten::addmm', 'aten::addmv',
            'aten::addr', 'aten::matmul', 'aten::mm', 'aten::mv', 'aten::linear', 'aten::addbmm',
            'aten::baddbmm', 'aten::bmm', 'aten::chain_matmul', 'aten::linalg_multi_dot',
            'aten::_thnn_fused_lstm_cell', 'aten::_thnn_fused_gru_cell', 'aten::lstm_cell',
            'aten::gru_cell', 'aten::rnn_tanh_cell', 'aten::rnn_relu_cell',
            'aten::cudnn_convolution_transpose_backward',
            'aten::cudnn_convolution_backward_weight', 'aten::addmm_',
            'aten::cudnn_convolution_transpose_backward_weight',
            'aten::cudnn_convolution_transpose_backward_input',
            'aten::cudnn_convolution_backward_input', 'aten::cudnn_convolution_backward',
            'CudnnConvolutionBackward', 'BmmBackward0', 'CudnnConvolutionTransposeBackward',
            'MmBackward', 'AddmvBackward', 'MvBackward', 'AddmmBackward', 'AddbmmBackward',

            'aten::convolution_backward', 'aten::cudnn_convolution_relu',
            'aten::cudnn_convolution_add_relu', 'aten::miopen_convolution',
            'aten::miopen_convolution_transpose', 'aten::miopen_convolution_relu',
            'aten::miopen_convolution_add_relu', 'aten::_slow_conv2d_forward',
            'aten::_slow_conv2d_backward', 'aten::slow_conv_dilated2d',
            'aten::slow_conv_dilated3d', 'aten::slow_conv_transpose2d',
            'aten::slow_conv_transpose3d',
            'aten::_cudnn_rnn', 'aten::_cudnn_rnn_backward', 'aten::miopen_rnn',
            'aten::miopen_rnn_backward',
            'aten::addmv_', 'aten::addr_', 'aten::addbmm_', 'aten::baddbmm_',
            'aten::_addmm_activation', 'aten::_int_mm', 'aten::_scaled_mm',
            'aten::_scaled_mm_v2', 'aten::_grouped_mm', 'aten::_scaled_grouped_mm',
            'aten::_scaled_grouped_mm_v2', 'aten::_foreach_mm', 'aten::_weight_int4pack_mm',
            'aten::_weight_int8pack_mm', 'aten::_mixed_dtypes_linear', 'aten::_cslt_sparse_mm',
            'aten::_sparse_semi_structured_linear', 'aten::_sparse_semi_structured_mm',
            'aten::_sparse_semi_structured_addmm',
            'aten::scaled_dot_product_attention', 'aten::_scaled_dot_product_flash_attention',
            'aten::_scaled_dot_product_flash_attention_backward',
            'aten::_scaled_dot_product_efficient_attention',
            'aten::_scaled_dot_product_efficient_attention_backward',
            'aten::_scaled_dot_product_cudnn_attention',
            'aten::_scaled_dot_product_cudnn_attention_backward',
            'aten::_scaled_dot_product_fused_attention_overrideable',
            'aten::_scaled_dot_product_fused_attention_overrideable_backward',
            'aten::_flash_attention_forward', 'aten::_flash_attention_backward',
            'aten::_flash_attention_forward_no_dropout_inplace',
            'aten::_efficient_attention_forward', 'aten::_efficient_attention_backward',
            'aten::_cudnn_attention_forward', 'aten::_cudnn_attention_backward',
            'aten::_triton_scaled_dot_attention', 'aten::_triton_multi_head_attention'
        ]) AS name
    ) AS o
    CROSS JOIN (
        VALUES
        (''), ('.out'), ('.dtype'), ('.dtype_out'), ('.padding'), ('.input'), ('.deprecated'),
        ('.quantized'), ('.output'), ('.grad_input'), ('.output_mask'), ('.output_mask_out')
    ) AS v (overload);
