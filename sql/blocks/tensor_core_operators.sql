-- block: tensor_core_operators
-- since: 0.1
-- summary: Names of the operators whose kernels can run on tensor cores.
--
-- The list that the TensorBoard profiler plugin uses, exact names, older forms of the backward
-- functions among them. An operator that is missing here still counts as eligible where one of its
-- kernels did use tensor cores, or where it calls an operator that is listed.
--
-- columns
--   name  type     unit  meaning
--   name  VARCHAR  key   Name of an operator.
CREATE MACRO tensor_core_operators() AS TABLE
    SELECT
        unnest([
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
            'MmBackward', 'AddmvBackward', 'MvBackward', 'AddmmBackward', 'AddbmmBackward'
        ]) AS name;
