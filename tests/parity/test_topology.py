"""topology against the TensorBoard plugin: the devices that each worker used, and what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

MTIA = "mtia_inference_2026/mtia_inference_rank_0"
TWO_RANKS = "two_ranks_nccl_2023/sampled_rank"

#: Traces whose devices differ: trace -> (ours, the plugin's, why).
DEVICES: dict[str, tuple[list[int], list[int], str]] = {
    MTIA: ([17], [], "the plugin knows no rows of MTIA devices"),
}

TRACES = [
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623213129365.pt.trace",
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace",
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
    "mi210_gpu_only_2025/gpu_only_trace",
    "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto",
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
    "mi300x_triton_2026/trace",
    MTIA,
    f"{TWO_RANKS}-0",
    f"{TWO_RANKS}-1",
    "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace",
]


@pytest.mark.parametrize("trace", TRACES)
def test_the_devices_are_those_the_plugin_finds(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    ours = {row[6]: row[7] for row in corpus.topology(**keys).fetchall() if row[6] is not None}
    if trace in DEVICES:
        assert (sorted(ours), sorted(said["used_devices"])) == DEVICES[trace][:2]
    else:
        assert sorted(ours) == sorted(said["used_devices"])
    names = {device["id"]: device["name"] for device in said["device_props"] or []}
    assert ours == {device: names.get(device) for device in ours}


def test_ranks_and_processes_of_a_job_are_those_of_the_files(corpus: tracewh.Warehouse) -> None:
    # The plugin's own page is empty for this run: it leaves out workers without deviceProperties.
    rows = corpus.topology(run="two_ranks_nccl_2023").fetchall()
    assert rows == [
        ("two_ranks_nccl_2023", None, "sampled_rank-0", 4037, 0, 128, 0, None),
        ("two_ranks_nccl_2023", None, "sampled_rank-1", 4045, 1, 128, 1, None),
    ]
