"""gpu_summary against the TensorBoard plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

# Kinds of difference, all of them the plugin's.
WINDOW = (
    "a trace without steps is one step: the plugin's goes from the first cpu_op to the end of what "
    "the last one launched; ours spans every event"
)
DRIVER = (
    "it does not know cuda_driver rows: what cuLaunchKernel launches belongs to no operator there"
)
FALSE_LINK = "calls carry their own correlation as External id, so no kernel has an operator there"
NEWER = "its list of names is of 2021, and does not know a kernel for one that uses tensor cores"
NO_OPERATORS = "it finds no cpu_op to begin its one step with"

ALEXNET = "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace"
BERT = "h100_bert_2025/gaunernst_bert-small-uncased__1016001"
VIT = "h100_vit_2025/Falconsai_nsfw_image_detection__1016002"
TRITON = "a100_triton_2024/triton_example"
NCCL = "a100_nccl_2024/nccl_data"
QWEN = "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
MI250 = "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto"
MI300X = "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
GPU_ONLY = "mi210_gpu_only_2025/gpu_only_trace"
MI300X_TRITON = "mi300x_triton_2026/trace"
RANK_0 = "two_ranks_nccl_2023/sampled_rank-0"
RANK_1 = "two_ranks_nccl_2023/sampled_rank-1"

#: (trace, figure) -> (ours, the plugin's, why). No trace has kernels on two devices.
DIFFERENCES: dict[tuple[str, str], tuple[float | None, float | None, str]] = {
    # 5343.422 us of kernels in 6024.766 us
    (GPU_ONLY, "gpu_utilization_pct"): (88.691, 0.0, NO_OPERATORS),
    # 12549.021 us of kernels in 12939.993 us, not in 12795.994
    (MI300X_TRITON, "gpu_utilization_pct"): (96.979, 98.07, WINDOW),
    (BERT, "tensor_core_time_pct"): (76.5, 23.19, f"{DRIVER}; {NEWER}"),
    (VIT, "tensor_core_time_pct"): (78.306, 52.423, f"{DRIVER}; {NEWER}"),
    (ALEXNET, "tensor_core_time_pct"): (16.966, 0.0, NEWER),
    (NCCL, "tensor_core_time_pct"): (21.73, 16.378, NEWER),
    (QWEN, "tensor_core_time_pct"): (36.453, 27.883, NEWER),
    (MI250, "tensor_core_time_pct"): (27.272, 0.0, NEWER),
    (MI300X, "tensor_core_time_pct"): (52.296, 0.0, NEWER),
    (MI300X_TRITON, "tensor_core_time_pct"): (93.338, 0.0, NEWER),
    # its one kernel was launched by cuLaunchKernel, under triton_poi_fused_add_cos_sin_0
    (TRITON, "tensor_core_time_pct"): (0.0, None, DRIVER),
    # 54787 us in 605900, and 56156 us in 650374
    (RANK_0, "tensor_core_time_pct"): (9.042, None, FALSE_LINK),
    (RANK_1, "tensor_core_time_pct"): (8.634, None, FALSE_LINK),
}

#: Compared in full: nothing differs but what is listed above.
TRACES = [
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143566756.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623213129365.pt.trace",
    "a100_event_sync_2024/event_sync_trace",
    "cpu_only_2022/rank_not_found",
    "cpu_only_2024/rank-34.Jul_15_10_52_41.1074.pt.trace",
    "diff_small_2022/base/base",
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
    "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace",
    *dict.fromkeys(trace for trace, _ in DIFFERENCES),
]

#: The plugin's word for each of our figures, and what it takes to be percent.
FIGURES = {
    "gpu_utilization_pct": ("utilization", 100),
    "est_sm_efficiency_pct": ("sm_efficiency", 100),
    "est_achieved_occupancy_pct": ("occupancy", 1),
    "tensor_core_time_pct": ("tc_ratio", 100),
}


@pytest.mark.parametrize("trace", TRACES)
def test_nothing_but_the_listed_figures_differs(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    theirs = {int(device): row for device, row in (said["gpu"] or {}).get("gpus", {}).items()}
    relation = corpus.gpu_summary(**keys)
    ours = {row[3]: dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()}
    assert ours.keys() == theirs.keys()
    found = {}
    for device, row in ours.items():
        for figure, (word, factor) in FIGURES.items():
            mine, other = row[figure], theirs[device][word]
            other = None if other is None else other * factor
            if mine is None or other is None:
                differs = mine is not other
            else:
                differs = abs(mine - other) > 0.01
            if differs:
                found[trace, figure] = pytest.approx((mine, other), abs=0.001)
    assert {key: (a, b) for key, (a, b, _) in DIFFERENCES.items() if key[0] == trace} == found


@pytest.mark.parametrize("trace", TRACES)
def test_devices_are_described_as_in_the_file(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    known = {device["id"]: device for device in said["device_props"] or []}
    for row in corpus.gpu_summary(**keys).fetchall():
        device = known.get(row[3])
        assert row[4:8] == (
            (
                device["name"],
                device["totalGlobalMem"],
                f"{device['computeMajor']}.{device['computeMinor']}",
                device["numSms"],
            )
            if device
            else (None, None, None, None)
        )


def test_a_device_that_the_plugin_does_not_know(corpus: tracewh.Warehouse) -> None:
    """An MTIA, of which the file tells little: kernels in 414085.123 us of 459666.360."""
    [row] = corpus.gpu_summary(run="mtia_inference_2026").fetchall()
    busy = pytest.approx(90.084, abs=0.001)
    assert row[3:] == (17, "ARTEMIS", None, None, None, busy, None, None, None)
