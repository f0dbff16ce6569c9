"""Words that stand for something: marks in the names of kernels, and numbers of device types."""

from __future__ import annotations

from tests.ingest.conftest import TakeIn, device, memory

# The marks of the TensorBoard plugin, each in a name that no other mark is part of.
TENSOR_CORE_KERNELS = [
    "volta_fp16_h884gemm",
    "volta_fp16_s884cudnn",
    "turing_h1688gemm",
    "turing_fp16_s1688gemm",
    "cutlass_hmma_kernel",
    "turing_int8_i8816gemm",
    "ampere_bf16_s16816gemm",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1_tile",
    "conv2d_c1_k1_nhwc",
    "direct_group_conv",
    "sm80_xmma_implicit_gemm",
    "sm80_xmma_sparse_conv",
    "sm90_xmma_warp_specialized_implicit_gemm",
    "sm90_xmma_gemm_bf16",
    "sm80_xmma_sparse_gemm",
    "turing_c1688gemm",
]
# Of today's libraries, as traces have them.
TODAYS_TENSOR_CORE_KERNELS = [
    "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
    "void cutlass::device_kernel<GemmUniversal<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<7>>>",
    "void cutlass::device_kernel<cute::SM100_MMA_F16BF16_SS, tcgen05>",
    "void cutlass::device_kernel<cutlass::gemm::MainloopSm100TmaUmmaWarpSpecialized<4>>",
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>",
    "kernel<cute::MMA_Atom<cute::SM90_64x128x16_F32BF16BF16_SS<0, 0>>>",
    "_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS_4arch15OpClassTensorOpE",
    "sm80_xmma_wgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_stage4_g1_tensor16x8x8_kernel",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4>>",
    "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<2>>>",
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_128x256x64",
    "triton_tem_fused_addmm_relu_7",
    "triton_tem_fused_flex_attention_0",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB1",
    "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>",
    "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3>",
    "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8",
    "attn_fwd",
]
OTHER_KERNELS = [
    "SubTensorOpWithScalar1d",
    "void compute_summary_kernel<float>",
    "triton_poi_fused_add_cos_sin_0",
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>",
    "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
    "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0_TT8_8",
    "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>",
    "volta_sgemm_128x64_nn",
    "elementwise_kernel",
    "VOLTA_H884GEMM",
    "gemm_884",
]

# c10::DeviceType, from 0.
DEVICE_TYPES = [
    "cpu",
    "cuda",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "fpga",
    "maia",
    "xla",
    "vulkan",
    "metal",
    "xpu",
    "mps",
    "meta",
    "hpu",
    "ve",
    "lazy",
    "ipu",
    "mtia",
    "privateuseone",
]


def test_kernels_that_use_tensor_cores(take_in: TakeIn) -> None:
    tensor_core_kernels = TENSOR_CORE_KERNELS + TODAYS_TENSOR_CORE_KERNELS
    names = tensor_core_kernels + OTHER_KERNELS
    rows = take_in([device(at, at + 1, name=name) for at, name in enumerate(names)]).rows(
        "SELECT t.name, t.uses_tensor_cores FROM device_events AS t ORDER BY t.event_id"
    )
    assert rows == [(name, name in tensor_core_kernels) for name in names]


def test_device_types(take_in: TakeIn) -> None:
    events = []
    for number in range(len(DEVICE_TYPES)):
        event = memory(number)
        event["args"] = {**event["args"], "Device Type": number}
        events.append(event)
    rows = take_in(events).rows("SELECT t.device_type FROM memory_records AS t ORDER BY t.event_id")
    assert [name for (name,) in rows] == DEVICE_TYPES
