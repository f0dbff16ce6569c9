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
OTHER_KERNELS = ["volta_sgemm_128x64_nn", "elementwise_kernel", "VOLTA_H884GEMM", "gemm_884"]

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
    names = TENSOR_CORE_KERNELS + OTHER_KERNELS
    rows = take_in([device(at, at + 1, name=name) for at, name in enumerate(names)]).rows(
        "SELECT t.name, t.uses_tensor_cores FROM device_events AS t ORDER BY t.event_id"
    )
    assert rows == [(name, name in TENSOR_CORE_KERNELS) for name in names]


def test_device_types(take_in: TakeIn) -> None:
    events = []
    for number in range(len(DEVICE_TYPES)):
        event = memory(number)
        event["args"] = {**event["args"], "Device Type": number}
        events.append(event)
    rows = take_in(events).rows("SELECT t.device_type FROM memory_records AS t ORDER BY t.event_id")
    assert [name for (name,) in rows] == DEVICE_TYPES
