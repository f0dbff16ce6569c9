"""recommendations against the TensorBoard plugin: which of its rules fire, and what they measured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

# Kinds of difference, all of them the plugin's.
NEWER = "its list of names is of 2021, and does not know AMD's kernels that use matrix cores"
NO_OPERATORS = "it finds no cpu_op to begin its one step with, so nothing ran in it"
COLLECTIVES = (
    "kernels of collectives carry the External id of an operator below the one it looks for, so it "
    "takes them for compute"
)

MI250 = "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto"
MI300X = "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
MI300X_TRITON = "mi300x_triton_2026/trace"
GPU_ONLY = "mi210_gpu_only_2025/gpu_only_trace"
RANK_0 = "two_ranks_nccl_2023/sampled_rank-0"
RANK_1 = "two_ranks_nccl_2023/sampled_rank-1"
ABSOLUTE = "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace"
BACKWARD = "its list of operators is of 2021, and misses aten::convolution_backward"

#: (trace, rule) -> (our value, the plugin's, why). None where the rule does not fire.
DIFFERENCES: dict[tuple[str, str], tuple[str | None, str | None, str]] = {
    (MI250, "tensor_cores_unused"): (None, "33", NEWER),
    (MI300X, "tensor_cores_unused"): (None, "39", NEWER),
    (MI300X_TRITON, "tensor_cores_unused"): (None, "64", NEWER),
    (GPU_ONLY, "low_gpu_utilization"): (None, "1", NO_OPERATORS),
    (RANK_0, "communication"): ("27.4", None, COLLECTIVES),
    (RANK_1, "communication"): ("24.2", None, COLLECTIVES),
    (ABSOLUTE, "tensor_cores_unused"): ("64", "19", BACKWARD),
}

RESNET = "v100_resnet50_2021/resnet50_num_workers"
TRACES = [
    f"{RESNET}_0/worker0.1623143089861.pt.trace",
    f"{RESNET}_0/worker0.1623143566756.pt.trace",
    f"{RESNET}_4/worker0.1623212756351.pt.trace",
    f"{RESNET}_4/worker0.1623213129365.pt.trace",
    "a100_cupti_counters_2023/benchmark_result_924719_1679055439_trace",
    "a100_event_sync_2024/event_sync_trace",
    "a100_nccl_2024/nccl_data",
    "a100_triton_2024/triton_example",
    "cpu_only_2022/rank_not_found",
    "cpu_only_2024/rank-34.Jul_15_10_52_41.1074.pt.trace",
    "diff_small_2022/base/base",
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001",
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002",
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace",
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
    "mtia_inference_2026/mtia_inference_rank_0",
    *dict.fromkeys(trace for trace, _ in DIFFERENCES),
]

#: What the plugin writes for each of its rules, with the figure in it: of a GPU its number.
TEXTS = {
    "data_loading": r"input data loading\. ([\d.]+)% of the step",
    "communication": r"communication\. ([\d.]+)% of the step",
    "low_gpu_utilization": r"GPU (.*) (?:has|have) low utilization",
    "tensor_cores_unused": r"Kernels with (\d+)% time are launched by Tensor Cores eligible",
    "data_parallel": r"(DistributedDataParallel) instead of",
    "backend_not_nccl": r"(Nccl) backend",
    "memory_nearly_full": r"Device memory usage is at the limit of device memory capacity \(([\d.]+)%",
}


@pytest.mark.parametrize("trace", TRACES)
def test_nothing_but_the_listed_rules_differs(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    theirs = {
        rule: found[1]
        for text in said["recommendations"]
        for rule, pattern in TEXTS.items()
        if (found := re.search(pattern, text))
    }
    assert len(theirs) == len(said["recommendations"])
    ours = {
        rule: _figure(rule, value, message)
        for *_, rule, _, value, _, message in corpus.recommendations(**keys).fetchall()
        if rule in TEXTS
    }
    found = {
        (trace, rule): (ours.get(rule), theirs.get(rule))
        for rule in TEXTS
        if ours.get(rule) != theirs.get(rule)
    }
    assert {key: (a, b) for key, (a, b, _) in DIFFERENCES.items() if key[0] == trace} == found


def _figure(rule: str, value: float, message: str) -> str:
    """The figure as the plugin would write it."""
    if rule == "low_gpu_utilization":
        return ", ".join(re.findall(r"(\d+) \([\d.]+ %\)", message))
    return f"{value:.0f}" if rule == "tensor_cores_unused" else f"{value:.1f}"
