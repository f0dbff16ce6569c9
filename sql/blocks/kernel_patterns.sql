-- block: kernel_patterns
-- since: 0.1
-- summary: Patterns of kernel and operator names that tell what communicates and what uses tensor cores.
-- grain: one row per pattern
--
-- A pattern is a case-sensitive regular expression that is searched for in a name. Every row is needed for
-- the name that it was seen on; a test proves this.
--
-- Tensor cores include the matrix cores of AMD. If several rows match a kernel, 'exempt' takes precedence,
-- then 'tensor_cores', 'unclear' and 'plain'. 'plain' covers families: a few kernels of at::native multiply on
-- tensor cores, and have rows of their own. 'exempt' and 'plain' use no tensor cores. 'unclear', or no
-- matching row, means that the name does not tell, as that of most kernels written in Triton: whether
-- their products run on tensor cores depends on types and options that are not in the name.
--
-- The first rows about tensor cores are the list of the TensorBoard profiler plugin, of 2021. If no kernel
-- with a word of that list in its name was found, the word itself is given as the name.
--
-- columns
--   name            type     unit  meaning
--   says            VARCHAR  -     For kernels 'communication', 'exempt', 'tensor_cores', 'unclear' or 'plain'; for operators 'communication_operator'.
--   library         VARCHAR  -     Library whose kernels have such names.
--   pattern         VARCHAR  key   Regular expression.
--   seen_on         VARCHAR  -     Name that it matches.
--   seen_in         VARCHAR  -     Repository and file, or trace, with that name.
--   must_not_match  VARCHAR  -     Similar name of a kernel that is not of this kind.
CREATE MACRO kernel_patterns() AS TABLE
    SELECT
        t.says,
        t.library,
        t.pattern,
        t.seen_on,
        t.seen_in,
        t.must_not_match
    FROM (
        VALUES
        (
            'communication', 'NCCL',
            '(?i:nccl)',
            'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
            'NVIDIA/nccl src/device/generate.py; also ncclKernel_ in two_ranks_nccl_2023 '
            || 'and ncclSymkDevKernel_ in src/device/symmetric/generate.py',
            'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >'
        ),
        (
            'communication', 'RCCL',
            '(?i:rccl)',
            'rcclGenericKernel<1, false>',
            'ROCm/rccl src/device/common.h',
            '__amd_rocclr_copyBuffer'
        ),
        (
            'communication', 'HCCL',
            '^(?i:hccl|hcom_)',
            'hcom_allReduce__503_0_1',
            'Ascend msprof-analyze, names of communication operators',
            'aclnnInplaceCopy'
        ),
        (
            'communication', 'PyTorch symmetric memory',
            'multimem_',
            'void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, '
            || '16>(c10::BFloat16*, unsigned long, unsigned int**, unsigned long, unsigned '
            || 'long)',
            'pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu',
            'void at::native::(anonymous namespace)::multi_tensor_apply_kernel<>'
        ),
        (
            'communication', 'PyTorch symmetric memory',
            '(one|two)_shot_all_?reduce',
            'two_shot_all_reduce_kernel_inplace',
            'pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu',
            'two_shot_attention_kernel'
        ),
        (
            'communication', 'PyTorch symmetric memory',
            'symmetric_memory::\w*kernel',
            'c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, '
            || 'unsigned long)',
            'pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemory-inl.cuh',
            'void c10d::checkForNaN<float>(float*, unsigned long)'
        ),
        (
            'communication', 'NVSHMEM, rocSHMEM',
            '(?i:(nv|roc)shmem)',
            'c10d::nvshmem_extension::allToAllV_2d(void*, void*, long*, long*, unsigned long)',
            'pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/nvshmem_extension.cu',
            'void at::native::(anonymous namespace)::CatArrayBatchedCopy<>'
        ),
        (
            'communication', 'NVSHMEM',
            '(barrier|sync)_on_stream_kernel',
            'void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)',
            'NVIDIA/nvshmem src/host/stream/coll/barrier/barrier.cu',
            'void at::native::(anonymous namespace)::barrier_free_kernel<float>'
        ),
        (
            'communication', 'vLLM, SGLang, aiter',
            'cross_device_reduce',
            'void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(vllm::RankData*, '
            || 'vllm::RankSignals, vllm::Signal*, __nv_bfloat16*, int, int)',
            'vllm-project/vllm csrc/custom_all_reduce.cuh',
            'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >'
        ),
        (
            'communication', 'aiter',
            'cross_device_store',
            'void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>',
            'ROCm/aiter csrc/include/custom_all_reduce.cuh',
            'void aiter::local_device_load_rmsnorm_naive<__hip_bfloat16, 256, 1>'
        ),
        (
            'communication', 'QuickReduce of vLLM and aiter',
            'allreduce_prototype',
            'void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__'
            || 'half, quickreduce::CodecQ4<__half, 4>, true>, __half>',
            'vllm-project/vllm csrc/quickreduce/quick_reduce.h',
            'reduce_prototype_kernel'
        ),
        (
            'communication', 'SGLang',
            '::all_reduce_\w*kernel',
            'void sglang::all_reduce_1shot_push_kernel<__nv_bfloat16, 8u>',
            'sgl-project/sglang python/sglang/jit_kernel/csrc/distributed/custom_all_reduce'
            || '_push.cuh',
            'void sglang::attn_res_fused_tma_kernel<8u>'
        ),
        (
            'communication', 'FlashInfer, TensorRT-LLM, aiter',
            'allreduce_fusion_kernel',
            'void aiter::allreduce_fusion_kernel_1stage<std::bfloat16_t, std::bfloat16_t, '
            || '4, true>',
            'ROCm/aiter csrc/include/custom_all_reduce.cuh; flashinfer-ai/flashinfer '
            || 'include/flashinfer/comm/trtllm_allreduce_fusion.cuh',
            'void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>'
        ),
        (
            'communication', 'FlashInfer',
            'trtllm_(\w+_)?allreduce',
            'void flashinfer::trtllm_mnnvl_allreduce::rmsNormLamport<__nv_bfloat16, '
            || '(flashinfer::QuantType)0, true, 8>(flashinfer::trtllm_mnnvl_allreduce::RMSNorm'
            || 'Params)',
            'flashinfer-ai/flashinfer include/flashinfer/comm/trtllm_mnnvl_allreduce.cuh',
            'void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>'
        ),
        (
            'communication', 'TensorRT-LLM',
            '(?i:(one|two)shotallreduce)',
            'void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, 8, true, '
            || 'false>(tensorrt_llm::kernels::AllReduceParams)',
            'NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/customAllReduceKernels.cu',
            'void tensorrt_llm::kernels::generalRmsNorm<__nv_bfloat16>'
        ),
        (
            'communication', 'TensorRT-LLM',
            'moeA2A',
            'void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8, false>',
            'NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/communicationKernels/moeAlltoAllK'
            || 'ernels.cu',
            'void tensorrt_llm::kernels::moe::expandInputRowsKernel<__nv_bfloat16>'
        ),
        (
            'communication', 'DeepEP',
            'deep_ep(::|\d+)(intra|inter)node',
            'void deep_ep::internode_ll::dispatch<true, false, 7168>(void*, void*, int*, long*)',
            'deepseek-ai/DeepEP csrc/kernels/internode_ll.cu',
            'void deep_ep::layout::get_dispatch_layout<256, 4, 8>'
        ),
        (
            'communication', 'MORI',
            'Ep(Dispatch|Combine)\w*Kernel',
            'EpDispatchIntraNodeKernel_bf16',
            'ROCm/mori src/ops/dispatch_combine/intranode.hpp',
            'EpLocalExpertCountKernel'
        ),
        (
            'communication', 'MSCCL',
            'mscclKernel',
            'mscclKernel_Sum_hip_bfloat16_Simple_false',
            'ROCm/rccl src/device/msccl_kernel_impl.h',
            'mscKernel'
        ),
        (
            'communication', 'MSCCL++',
            'mscclpp',
            'void mscclpp::collective::allreducePacket<(mscclpp::ReduceOp)0, float, float>',
            'microsoft/mscclpp src/ext/collectives/allreduce/allreduce_packet.cu',
            'reducePacket'
        ),
        (
            'communication', 'MSCCL++ in SGLang',
            'allreduce_LL_\dnode',
            'void allreduce_LL_1node<__nv_bfloat16>',
            'sgl-project/sglang sgl-kernel/csrc/allreduce/mscclpp_allreduce.cuh',
            'reduce_LL_1node'
        ),
        (
            'communication', 'oneCCL',
            'oneccl_',
            'oneccl_alltoall_pcie<float, Rt64_PCIE, true, 16, RingTransmit>',
            'uxlfoundation/oneCCL src/coll/algorithms/alltoall/sycl/alltoall_pcie.hpp',
            'gemm_kernel_one_ccl'
        ),
        (
            'communication', 'Transformer Engine',
            'userbuffers_',
            'void userbuffers_fp16_sum_inplace_gpu_rw_ag<8>',
            'NVIDIA/TransformerEngine transformer_engine/common/comm_gemm_overlap/userbuffe'
            || 'rs/userbuffers.cu',
            'void transformer_engine::cast_transpose_kernel<__nv_bfloat16>'
        ),
        (
            'communication_operator', 'PyTorch',
            '^_?(c10d(_functional)?(_autograd)?)::|^record_param_comms$',
            '_c10d_functional::all_reduce',
            'pytorch/pytorch torch/csrc/distributed/c10d/Functional.cpp',
            'aten::_c10d_copy'
        ),
        (
            'communication_operator', 'PyTorch',
            '^(nccl|gloo|mpi|ucc|xccl|hccl):',
            'nccl:all_reduce',
            'pytorch/pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp',
            'nccl_free'
        ),
        (
            'communication_operator', 'PyTorch symmetric memory',
            '^symm_mem::(multimem_|one_shot_|two_shot_|_low_contention_|all_to_all_|nvshmem'
            || '_|reduce_scatter|tile_reduce|multi_root_)',
            'symm_mem::multimem_all_reduce_',
            'pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.cpp',
            'symm_mem::fused_all_gather_matmul'
        ),
        (
            'communication_operator', 'vLLM, SGLang, TensorRT-LLM, aiter, FlashInfer',
            '^(vllm|_C_custom_ar|sglang|sgl_kernel|trtllm|aiter|flashinfer)::(\w+place_|qr_'
            || '|custom_|fused_|flashinfer_|trtllm_|moe_|mnnvl_)*(all_?reduce|all_?gather|redu'
            || 'ce_?scatter|all_?to_?all)',
            'vllm::all_reduce',
            'vllm-project/vllm vllm/distributed/parallel_state.py; trtllm::allreduce, '
            || '_C_custom_ar::all_reduce alike',
            'vllm::patched_fused_scaled_matmul_reduce_scatter'
        ),
        (
            'exempt', 'FlashAttention 3',
            'FlashAttnBwdPostprocess',
            'void cutlass::device_kernel<flash::FlashAttnBwdPostprocessConvertdQ<cute::tupl'
            || 'e<cute::C<64>, cute::C<128> >, cutlass::bfloat16_t, float, '
            || 'cutlass::arch::Sm90, 256, cute::TiledMMA<cute::MMA_Atom<cute::SM90_64x64x16_F3'
            || '2BF16BF16_SS<> > > > >',
            'Dao-AILab/flash-attention hopper/flash_bwd_postprocess_kernel.h',
            'void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnBwdSm90<2> > >'
        ),
        (
            'tensor_cores', 'cuBLAS, cuDNN on Volta',
            '[hs]884',
            'volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'gemm_884'
        ),
        (
            'tensor_cores', 'cuBLAS, cuDNN on Turing',
            '[hsc]1688',
            'turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_medium_nhwc_gelu_tn_v1',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'turing_sgemm_128x64_nn'
        ),
        (
            'tensor_cores', 'cuBLAS, cuDNN',
            'i8816|[a-z]1681(6|28)|[a-z]16832',
            'ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'ampere_sgemm_128x64_tn'
        ),
        (
            'tensor_cores', 'cuDNN',
            'hmma',
            'hmma',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'VOLTA_HMMA'
        ),
        (
            'tensor_cores', 'cuDNN',
            'dgrad_1x1_stride_2x2',
            'dgrad_1x1_stride_2x2',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>'
        ),
        (
            'tensor_cores', 'cuDNN',
            'first_layer_wgrad_kernel',
            'first_layer_wgrad_kernel',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'void cudnn::cnn::wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>'
        ),
        (
            'tensor_cores', 'cuDNN',
            'conv1x1',
            'conv1x1',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1'
        ),
        (
            'tensor_cores', 'cuDNN',
            'conv2d_c1_k1',
            'conv2d_c1_k1_nhwc_kernel',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'void cudnn::cnn::conv2d_grouped_direct_kernel<false, true>'
        ),
        (
            'tensor_cores', 'cuDNN',
            'direct_group',
            'direct_group',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'void cudnn::cnn::conv2d_grouped_direct_kernel<false, true>'
        ),
        (
            'tensor_cores', 'cuDNN',
            'xmma_sparse_conv',
            'sm80_xmma_sparse_conv',
            'pytorch/kineto tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'sm80_xmma_conv_f32f32_ffma'
        ),
        (
            'tensor_cores', 'cuBLAS, cuDNN',
            'xmma_(\w+_)?gemm(_indexed)?_(b?f16|tf32|f64|[iu][48]|e[45]m|e2m1)',
            'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1'
            || '_execute_segment_k_off_kernel__5x_cublas',
            'h100_vit_2025; without the FP32 kernels, pytorch/kineto '
            || 'tb_plugin/torch_tb_profiler/profiler/tensor_core.py',
            'sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ff'
            || 'ma_aligna4_alignc4_execute_kernel__5x_cublas'
        ),
        (
            'tensor_cores', 'cuBLAS, cuDNN',
            '_tensor\d+x\d+x\d+',
            'sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1'
            || '_tensor16x8x8_execute_kernel__5x_cublas',
            'a100_nccl_2024, there of convolutions',
            'sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffm'
            || 'a_aligna4_alignc4_execute_kernel__5x_cublas'
        ),
        (
            'tensor_cores', 'cuBLAS on Hopper and Blackwell',
            'nvjet',
            'nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN',
            'an Nsight Systems recording of two H100',
            'ampere_sgemm_128x128_tn'
        ),
        (
            'tensor_cores', 'CUTLASS on Hopper',
            '[gG]mma',
            'void cutlass::device_kernel<GemmUniversal<cutlass::gemm::MainloopSm90TmaGmmaWa'
            || 'rpSpecialized<7> > >',
            'NVIDIA/cutlass include/cutlass/gemm/dispatch_policy.hpp',
            'void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>'
        ),
        (
            'tensor_cores', 'CUTLASS on Blackwell',
            'U(mma|MMA)',
            'void cutlass::device_kernel<cutlass::gemm::MainloopSm100TmaUmmaWarpSpecialized'
            || '<4> >',
            'NVIDIA/cutlass include/cutlass/gemm/dispatch_policy.hpp',
            'void compute_summary_kernel<float>'
        ),
        (
            'tensor_cores', 'CUTLASS on Blackwell',
            'tcgen05',
            'matmul_tcgen05_kernel',
            'NVIDIA/cutlass include/cute/arch/mma_sm100_umma.hpp, the name of the instruction',
            'matmul_kernel'
        ),
        (
            'tensor_cores', 'CuTe on Blackwell',
            'SM\d+_MMA_',
            'void kernel<cute::MMA_Atom<cute::SM100_MMA_F16BF16_SS<cutlass::bfloat16_t> > >',
            'NVIDIA/cutlass include/cute/arch/mma_sm100_umma.hpp',
            'void kernel<cute::SM100_TMA_2SM_LOAD>'
        ),
        (
            'tensor_cores', 'CuTe',
            'SM\d+_\d+x\d+x\d+',
            'void kernel<cute::MMA_Atom<cute::SM90_64x128x16_F32BF16BF16_SS<0, 0> > >',
            'NVIDIA/cutlass include/cute/arch/mma_sm90_gmma.hpp',
            'void kernel<cute::Copy_Atom<cute::SM80_CP_ASYNC_CACHEGLOBAL<cute::uint128_t> > >'
        ),
        (
            'tensor_cores', 'CUTLASS',
            'tensorop',
            'void cutlass::Kernel2<cutlass_tensorop_d_gemm_256x128_64x3_tn_align2>',
            'NVIDIA/cutlass python/cutlass_library/library.py',
            'SubTensorOpWithScalar1d'
        ),
        (
            'tensor_cores', 'CUTLASS',
            'OpClass(Wmma)?TensorOp',
            '_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS_4arch15OpClassTensorOpE',
            'NVIDIA/cutlass include/cutlass/arch/mma.h',
            '_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS_4arch11OpClassSimtE'
        ),
        (
            'tensor_cores', 'CUTLASS in cuDNN',
            'MmaTensorOp',
            '_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS6_4'
            || 'warp11MmaTensorOpINS7_ILi64ELi64ELi32EEE',
            'a100_nccl_2024',
            '_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS6_4'
            || 'warp7MmaSimtINS7_ILi64ELi64ELi32EEE'
        ),
        (
            'tensor_cores', 'CUTLASS, Composable Kernel on RDNA',
            'wmma',
            'void ck::kernel_gemm_wmma_cshuffle_v3<ck::GridwiseGemm<false> >',
            'ROCm/composable_kernel include/ck/tensor_operation/gpu/device/impl/device_gemm'
            || '_wmma_cshuffle_v3.hpp',
            'void ck::kernel_gemm_dl_v1r3<ck::GridwiseGemm<false> >'
        ),
        (
            'tensor_cores', 'memory-efficient attention of PyTorch',
            'fmha_cutlass[FB]_(b?f16\w*_sm(7|8|9|1)|f32\w*_sm80)',
            'fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKerne'
            || 'l<float>::Params)',
            'pytorch/pytorch aten/src/ATen/native/transformers/cuda/mem_eff_attention/gemm_'
            || 'kernel_utils.h: FP32 as three TF32 products from sm80 on',
            'fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::AttentionKerne'
            || 'l<float>::Params)'
        ),
        (
            'tensor_cores', 'FlashAttention 2, FlashMLA',
            'flash_(fwd(_splitkv(_mla(_fp8)?(_sparse)?)?)?_kernel|bwd_dq_dk_dv)',
            'void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64'
            || ', 128, 128, 4, false, false, cutlass::bfloat16_t> >',
            'h100_bert_2025',
            'void pytorch_flash::flash_fwd_splitkv_combine_kernel<pytorch_flash::Flash_fwd_'
            || 'kernel_traits<64, 128, 128, 4> >'
        ),
        (
            'tensor_cores', 'FlashAttention 3 and 4',
            'FlashAtt(n|ention)(Fwd|Bwd|Forward|Backward)Sm\d+',
            'void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<2> > >',
            'Dao-AILab/flash-attention hopper/flash_fwd_kernel_sm90.h',
            'void cutlass::device_kernel<flash::FlashAttnFwdCombine<2> >'
        ),
        (
            'tensor_cores', 'FlashMLA',
            '::sparse_attn_fwd_kernel',
            'void sm90::fwd::sparse_attn_fwd_kernel<sm90::fwd::KernelTemplate<512, true> >',
            'deepseek-ai/FlashMLA csrc/sm90/prefill/sparse/phase1.cuh',
            '_block_sparse_attn_fwd_kernel'
        ),
        (
            'tensor_cores', 'cuDNN',
            'cudnn_generated_\w*sdpa_sm',
            'cudnn_generated_fort_native_sdpa_sm100_flash_fprop_f16_knob_2_128x128x256_1x4x'
            || '1_cga2x1x1_kernel0_0',
            'NVIDIA/cudnn-frontend, scaled dot product attention',
            'cudnn_generated_fort_native_ln_fwd'
        ),
        (
            'tensor_cores', 'FlashInfer',
            'PrefillWith(\w+)?KVCacheKernel',
            'void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<('
            || 'flashinfer::MaskMode)1> >',
            'flashinfer-ai/flashinfer include/flashinfer/attention/prefill.cuh',
            'void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>'
        ),
        (
            'tensor_cores', 'TensorRT-LLM, generated for Blackwell',
            '\b([bB]mm|[gG]emm)_(Mx|Nv)?(E[245]m[123]|Bfloat16|Fp16)',
            'bmm_MxE4m3_MxE2m1MxE4m3_Fp32_Ab32_Bb32_Cb32_t128x8x512_s3_et128x8_m128x8x32_c1'
            || 'x1x1_rM_TN_transOut_dynB_sm100f',
            'flashinfer-ai/flashinfer include/flashinfer/trtllm/batched_gemm',
            'triton_poi_fused_bmm_0'
        ),
        (
            'tensor_cores', 'TensorRT-LLM, generated for Blackwell',
            '[fF]mhaSm\d+[af]?Kernel',
            'fmhaSm100aKernel_QkvE4m3OBfloat16HQk192HV128PagedKvCausalP32VarSeqQ128Kv128Per'
            || 'sistentContext',
            'NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/trtllmGenKernels/fmha',
            'fmhaReductionKernel'
        ),
        (
            'tensor_cores', 'TensorRT-LLM',
            'fmha_v2_\w*(b?[fp]+16|e4m3|int8)',
            'fmha_v2_flash_attention_bf16_64_128_S_qkv_104_alibi_tma_ws_sm90_kernel',
            'NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/contextFusedMultiHeadAttention',
            'fmha_v2_prepare_kernel'
        ),
        (
            'tensor_cores', 'DeepGEMM',
            'deep_gemm::\w*(gemm|mqa_logits|bmk_bnk_mn|mega_moe)',
            'void deep_gemm::sm90_fp8_mqa_logits<64u, 128u, false>',
            'deepseek-ai/DeepGEMM deep_gemm/include/deep_gemm/impls/sm90_fp8_mqa_logits.cuh',
            'void deep_gemm::transpose_fp32<512, 64>(float const*, float*)'
        ),
        (
            'tensor_cores', 'Marlin of vLLM',
            '\b[mM]arlin\w*::Marlin',
            'void marlin::Marlin<1125899906909960l, 1125899907892224l, 1125899906909960l>',
            'vllm-project/vllm csrc/quantization/marlin/marlin_template.h',
            'void marlin::gptq_marlin_repack_kernel<4, 256, false>'
        ),
        (
            'tensor_cores', 'PyTorch',
            'm16n8k\d+',
            'void at::native::tinygemm_m16n8k16_chunk_kernel<at::native::ALayout_RM<(at::na'
            || 'tive::KReductionType)0>, at::native::BLayout_TC_int4<8, 128> >',
            'pytorch/pytorch aten/src/ATen/native/cuda/int4mm.cu',
            'void at::native::matrix_to_Bint4_layout<8>'
        ),
        (
            'tensor_cores', 'torch.compile',
            'triton_tem_fused_\w*(mm|conv|attention)',
            'triton_tem_fused_addmm_relu_7',
            'pytorch/pytorch torch/_inductor/select_algorithm.py, the templates of products',
            'triton_poi_fused_addmm_0'
        ),
        (
            'tensor_cores', 'triton_kernels',
            '_matmul_ogs_[A-Z]+_(bf16|fp16|fp8|mxfp)',
            '_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu',
            'vllm_prefilldecode_piecewise',
            '_p_matmul_ogs_NNT_fp32xbf16xmxfp4_16x256x128x9'
        ),
        (
            'tensor_cores', 'vLLM',
            'kernel_unified_attention',
            'kernel_unified_attention_2d',
            'vllm_prefilldecode_piecewise',
            'reduce_segments'
        ),
        (
            'tensor_cores', 'Tensile',
            '_MI\d+x\d+',
            'Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB1',
            'mi300x_qwen_2025',
            'Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0_TT8_8'
        ),
        (
            'tensor_cores', 'vLLM, aiter',
            'mfma',
            'void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>',
            'sglang_decode',
            'void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, '
            || '128, 256, 3, false>'
        ),
        (
            'tensor_cores', 'Composable Kernel',
            'xdl',
            'void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3>',
            'ROCm/composable_kernel include/ck/tensor_operation/gpu/grid/gridwise_gemm_xdl_'
            || 'cshuffle_v3.hpp',
            'void ck::kernel_gemm_dl_v1r3<ck::GridwiseGemm<false> >'
        ),
        (
            'tensor_cores', 'ck_tile',
            'Fmha(Fwd(SplitKV|PagedKV|V3)?|BatchPrefill\w*|BwdDQDKDV)Kernel',
            '_ZN7ck_tile6kentryILi1ENS_19FmhaBwdDQDKDVKernelINS_2',
            'ROCm/composable_kernel include/ck_tile/ops/fmha/kernel/fmha_bwd_kernel.hpp',
            '_ZN7ck_tile6kentryILi2ENS_22FmhaBwdOGradDotOKernelIN'
        ),
        (
            'tensor_cores', 'MIOpen',
            '_gtcx',
            'igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8',
            'mi210_gpu_only_2025',
            'batched_transpose_16x64_pack_1x4_ediv_1x2_half'
        ),
        (
            'tensor_cores', 'AOTriton',
            '^attn_(fwd|bwd)|^bwd_kernel_(dk_dv|dq|fuse)',
            'attn_fwd',
            'mi300x_qwen_2025',
            'bwd_preprocess'
        ),
        (
            'tensor_cores', 'aiter, assembly',
            'fmha_(fwd|bwd)_hd\d+_(bf16|fp16|fp8)',
            '_ZN5aiter30fmha_fwd_hd128_bf16_rtna_groupE.kd',
            'ROCm/aiter hsa',
            'fmha_fwd_dispatch'
        ),
        (
            'tensor_cores', 'aiter, assembly',
            'fmoe_(bf16|fp16|fp8|int8)',
            'aiter::fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_ps_32x256',
            'ROCm/aiter hsa',
            'void aiter::moe_sum_kernel<__hip_bfloat16, 8>'
        ),
        (
            'unclear', 'torch.compile',
            '^triton_(red|per)_fused_(\w+_)?(add|b|baddb)?mm(_|$)',
            'triton_red_fused_addmm_relu_1',
            'pytorch/pytorch torch/_inductor/codegen/triton.py: products by tl.dot with '
            || 'native_matmul, by sums where they are decomposed',
            'triton_red_fused_native_layer_norm_0'
        ),
        (
            'plain', 'PyTorch',
            'at::native::|_ZN2at6native',
            'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >',
            'v100_resnet50_2021',
            'void pytorch_flash::flash_fwd_kernel<>'
        ),
        (
            'plain', 'PyTorch',
            'softmax_warp_(forward|backward)|cunn_(Soft|Log)|elementwise_kernel_with_index|'
            || 'cunn_ClassNLL',
            'void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, '
            || 'true>(float*, float const*, int, int, int)',
            'v100_resnet50_2021',
            'flash_attention_softmax_kernel'
        ),
        (
            'plain', 'Apex, DeepSpeed',
            'multi_tensor_apply_kernel',
            'void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, '
            || 'float, int> >',
            'NVIDIA/apex csrc/multi_tensor_apply.cuh',
            'multi_head_attention_kernel'
        ),
        (
            'plain', 'CUB, rocPRIM, Thrust',
            'cub::Device|rocprim::|thrust::',
            'void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, '
            || 'int>::Policy800>',
            'two_ranks_nccl_2023',
            'cub_like_gemm'
        ),
        (
            'plain', 'torch.compile',
            '^triton_(poi|per|red|for)_fused',
            'triton_poi_fused_add_cos_sin_0',
            'a100_triton_2024',
            'triton_tem_fused_mm_0'
        ),
        (
            'plain', 'cuBLAS in FP32 and FP64',
            '_(s|d|c|z|gc)gemm_\d+x\d+|sgemm_largek',
            'volta_sgemm_128x64_nn',
            'v100_resnet50_2021',
            'ampere_h16816gemm_128x64_tn'
        ),
        (
            'plain', 'CUTLASS',
            '_simt_|OpClassSimt|MmaSimt',
            'cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_128x64x16_1x1x1_3_tnn_align1_bi'
            || 'as_f32_relu',
            'NVIDIA/cutlass python/cutlass_library/library.py',
            'cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4'
        ),
        (
            'plain', 'cuBLAS, cuDNN',
            '_[dfh]fma_',
            'sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ff'
            || 'ma_aligna4_alignc4_execute_kernel__5x_cublas',
            'an Nsight Systems recording of two H100',
            'sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1'
            || '_tensor16x8x8_execute_kernel__5x_cublas'
        ),
        (
            'plain', 'cuBLAS',
            'gemv|gemmk1_kernel|dot_kernel<|scal_kernel<|splitKreduce_kernel|epilogue::impl'
            || '::globalKernel',
            'void gemvNSP_kernel<float, float, float, float, 1, 16, 4, 1024>',
            'a100_nccl_2024',
            'nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT'
        ),
        (
            'plain', 'CUTLASS',
            'ReduceSplitK',
            'void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::Reduc'
            || 'eSplitK<> >',
            'a100_nccl_2024',
            'void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn'
            || '_align2>'
        ),
        (
            'plain', 'cuDNN in FP32',
            'scudnn_|convolve_sgemm|(wgrad|dgrad)(2d)?(_alg\d(_\d)?)?_engine|winograd_nonfu'
            || 'sed::|winograd::',
            'cudnn_infer_volta_scudnn_128x128_relu_medium_nn_v1',
            'v100_resnet50_2021',
            'turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_medium_nhwc_gelu_tn_v1'
        ),
        (
            'plain', 'cuDNN',
            'cudnn::(ops|bn_\w+)|(nchw|nhwc)ToN(hwc|chw)|bn_(fw|bw)_|Offsets?Kernel|im2col|'
            || 'reduce_wgrad|fft2d_',
            'void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>',
            'v100_resnet50_2021',
            'cudnn_generated_fort_native_sdpa_sm90_flash_bprop'
        ),
        (
            'plain', 'memory-efficient attention of PyTorch',
            'fmha_cutlass[FB]_(f32\w*_sm[57]|f16\w*_sm5)',
            'fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::AttentionKerne'
            || 'l<float>::Params)',
            'pytorch/pytorch aten/src/ATen/native/transformers/cuda/mem_eff_attention/gemm_'
            || 'kernel_utils.h',
            'fmha_cutlassF_f16_aligned_64x64_rf_sm75(PyTorchMemEffAttention::AttentionKerne'
            || 'l<cutlass::half_t>::Params)'
        ),
        (
            'plain', 'FlashAttention',
            'flash_(bwd_(dot_do_o|convert|clear)|fwd_splitkv_(mla_)?combine)|FlashAttn(BwdP'
            || 'reprocess|FwdCombine)',
            'void pytorch_flash::flash_bwd_dot_do_o_kernel<true, '
            || 'pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4> >',
            'pytorch/pytorch aten/src/ATen/native/transformers/cuda/flash_attn/flash_bwd_la'
            || 'unch_template.h',
            'void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash'
            || '::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4> >'
        ),
        (
            'plain', 'FlashInfer',
            'DecodeWithPagedKVCacheKernel|DecodeWithKVCacheKernel',
            'void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>',
            'flashinfer-ai/flashinfer include/flashinfer/attention/decode.cuh',
            'void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<('
            || 'flashinfer::MaskMode)1> >'
        ),
        (
            'plain', 'ck_tile',
            'Fmha(BwdOGradDotO|BwdConvertQGrad|FwdSplitKVCombine|FwdAppendKV)Kernel',
            '_ZN7ck_tile6kentryILi2ENS_22FmhaBwdOGradDotOKernelIN',
            'ROCm/composable_kernel include/ck_tile/ops/fmha/kernel/fmha_bwd_kernel.hpp',
            '_ZN7ck_tile6kentryILi1ENS_19FmhaBwdDQDKDVKernelINS_2'
        ),
        (
            'plain', 'aiter, ck_tile, vLLM',
            '(?i:(rms|layer)_?norm\w*(2dfwd|_kernel|kernel))',
            '_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassE',
            'vllm_prefilldecode_piecewise',
            'normalized_gemm_kernel'
        ),
        (
            'plain', 'vLLM, SGLang',
            'rotary_embedding|reshape_and_cache|act_and_mul|store_kvcache|paged_attention_('
            || 'v[12]_|ll4mi_)reduce|paged_attention_v[12]_kernel',
            'void vllm::rotary_embedding_kernel<c10::BFloat16, true>',
            'vllm_prefilldecode_piecewise',
            'void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>'
        ),
        (
            'plain', 'fbgemm_gpu',
            'fbgemm_gpu::|split_embedding_|permute_pooled_embs|bounds_check_indices|lineari'
            || 'ze_index',
            'void split_embedding_codegen_forward_unweighted_kernel<c10::Half, c10::Half, '
            || 'float, false, long>',
            'two_ranks_nccl_2023',
            'fbgemm_bf16_gemm_kernel'
        ),
        (
            'plain', 'MIOpen',
            'SubTensorOpWith|batched_transpose_|MIOpenBatchNorm',
            'SubTensorOpWithScalar1d',
            'mi210_gpu_only_2025',
            'igemm_bwd_gtcx2_nhwc_bf16_bx0_ex1_bt32x64x32_wt16x64x4'
        ),
        (
            'plain', 'ROCm',
            '__amd_rocclr_',
            '__amd_rocclr_fillBufferAligned',
            'ROCm/clr rocclr/device/blitcl.cpp',
            'amd_gemm_kernel'
        ),
        (
            'plain', 'Triton in triton_kernels, vLLM and SGLang',
            '^(_combined_routing_|_topk_forward|_sum_bitmatrix_rows|_finalize_matmul_scatte'
            || 'r|reduce_segments|create_flashinfer_kv_indices)',
            '_combined_routing_compute',
            'vllm_prefilldecode_piecewise',
            '_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1'
        )
    ) AS t (says, library, pattern, seen_on, seen_in, must_not_match);
