"""step_breakdown and its summary against the TensorBoard plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

# Kinds of difference, all of them the plugin's.
WINDOW = (
    "a trace without steps is one step: the plugin's goes from the first cpu_op to the last, and on "
    "to the end of what they launched, and it knows no MTIA kernels; ours spans every event"
)
COLLECTIVES = (
    "kernels of collectives carry the External id of an operator below the one it looks for, so it "
    "takes them for compute; it knows few collectives; GPU annotations count as host work there"
)
OTHER_COLLECTIVES = "it knows five collectives; nccl:all_to_all counts as any annotation"
DRIVER = "it does not know cuda_driver rows: cuLaunchKernel counts as its operator"
NO_OPERATORS = "it finds no cpu_op to begin its one step with"
FLOATS = (
    "floats hold 0.25 us there, and hundreds of roundings add up; its communication also wants the "
    "c10d rows"
)

ALEXNET = "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace"
COUNTERS = "a100_cupti_counters_2023/benchmark_result_924719_1679055439_trace"
EVENT_SYNC = "a100_event_sync_2024/event_sync_trace"
NCCL = "a100_nccl_2024/nccl_data"
TRITON = "a100_triton_2024/triton_example"
CPU = "cpu_only_2022/rank_not_found"
BERT = "h100_bert_2025/gaunernst_bert-small-uncased__1016001"
QWEN = "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
VIT = "h100_vit_2025/Falconsai_nsfw_image_detection__1016002"
GPU_ONLY = "mi210_gpu_only_2025/gpu_only_trace"
SGLANG = "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode"
MI300X_TRITON = "mi300x_triton_2026/trace"
MTIA = "mtia_inference_2026/mtia_inference_rank_0"
RANK_0 = "two_ranks_nccl_2023/sampled_rank-0"
RANK_1 = "two_ranks_nccl_2023/sampled_rank-1"
ABSOLUTE = "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace"

#: (trace, step, figure) -> (ours, the plugin's, why).
DIFFERENCES: dict[tuple[str, int | None, str], tuple[float, float, str]] = {
    (ALEXNET, None, "runtime_us"): (42236551.0, 42217684.0, WINDOW),
    (ALEXNET, None, "cpu_exec_us"): (1122605.0, 1064731.0, WINDOW),
    (ALEXNET, None, "other_us"): (68.0, 0.0, WINDOW),
    (ALEXNET, None, "total_us"): (43425365.0, 43348556.0, WINDOW),
    (COUNTERS, None, "runtime_us"): (8194022.0, 8190621.0, WINDOW),
    (COUNTERS, None, "cpu_exec_us"): (3649516.0, 3560705.0, WINDOW),
    (COUNTERS, None, "other_us"): (4878.0, 0.0, WINDOW),
    (COUNTERS, None, "total_us"): (11848416.0, 11751326.0, WINDOW),
    (EVENT_SYNC, None, "runtime_us"): (839.0, 826.0, WINDOW),
    (EVENT_SYNC, None, "total_us"): (19930.0, 19917.0, WINDOW),
    (NCCL, 4, "kernel_us"): (38506.406, 48670.157, COLLECTIVES),
    (NCCL, 4, "memcpy_us"): (758.032, 647.206, COLLECTIVES),
    (NCCL, 4, "memset_us"): (127.556, 121.574, COLLECTIVES),
    (NCCL, 4, "communication_us"): (11037.759, 356.044, COLLECTIVES),
    (NCCL, 4, "runtime_us"): (10134.567, 10161.989, COLLECTIVES),
    (NCCL, 4, "cpu_exec_us"): (161647.718, 162255.067, COLLECTIVES),
    (NCCL, 5, "kernel_us"): (38429.422, 48969.035, COLLECTIVES),
    (NCCL, 5, "memcpy_us"): (738.524, 637.006, COLLECTIVES),
    (NCCL, 5, "memset_us"): (128.891, 122.908, COLLECTIVES),
    (NCCL, 5, "communication_us"): (11360.117, 311.428, COLLECTIVES),
    (NCCL, 5, "runtime_us"): (10077.944, 10108.718, COLLECTIVES),
    (NCCL, 5, "cpu_exec_us"): (158783.753, 159369.557, COLLECTIVES),
    (NCCL, 6, "kernel_us"): (38720.019, 57576.116, COLLECTIVES),
    (NCCL, 6, "memcpy_us"): (766.225, 639.979, COLLECTIVES),
    (NCCL, 6, "memset_us"): (134.27, 116.097, COLLECTIVES),
    (NCCL, 6, "communication_us"): (19709.112, 372.804, COLLECTIVES),
    (NCCL, 6, "runtime_us"): (9846.022, 9876.776, COLLECTIVES),
    (NCCL, 6, "cpu_exec_us"): (155538.674, 156132.55, COLLECTIVES),
    (TRITON, 1, "runtime_us"): (62.854, 16.846, DRIVER),
    (TRITON, 1, "cpu_exec_us"): (1340.787, 1386.795, DRIVER),
    (CPU, 1009, "communication_us"): (566.0, 0.0, OTHER_COLLECTIVES),
    (CPU, 1009, "cpu_exec_us"): (73889.0, 74455.0, OTHER_COLLECTIVES),
    (BERT, 6, "runtime_us"): (380.575, 244.353, DRIVER),
    (BERT, 6, "cpu_exec_us"): (1588.151, 1724.374, DRIVER),
    (QWEN, 6, "runtime_us"): (596.694, 589.707, DRIVER),
    (QWEN, 6, "cpu_exec_us"): (1406.217, 1413.199, DRIVER),
    (VIT, 6, "runtime_us"): (875.425, 653.676, DRIVER),
    (VIT, 6, "cpu_exec_us"): (3506.018, 3727.767, DRIVER),
    (GPU_ONLY, None, "kernel_us"): (5343.422, 0.0, NO_OPERATORS),
    (GPU_ONLY, None, "runtime_us"): (145.329, 0.0, NO_OPERATORS),
    (GPU_ONLY, None, "other_us"): (536.015, 0.0, NO_OPERATORS),
    (GPU_ONLY, None, "total_us"): (6024.766, -18446744073709551615, NO_OPERATORS),
    (SGLANG, None, "cpu_exec_us"): (646.065, 583.322, WINDOW),
    (SGLANG, None, "total_us"): (473830.532, 473767.788, WINDOW),
    (MI300X_TRITON, None, "runtime_us"): (22.809, 14.742, WINDOW),
    (MI300X_TRITON, None, "other_us"): (138.216, 2.283, WINDOW),
    (MI300X_TRITON, None, "total_us"): (12939.993, 12795.994, WINDOW),
    (MTIA, None, "kernel_us"): (414085.123, 0.0, WINDOW),
    (MTIA, None, "memcpy_us"): (7576.701, 0.0, WINDOW),
    (MTIA, None, "runtime_us"): (35112.736, 335999.251, WINDOW),
    (MTIA, None, "cpu_exec_us"): (1709.723, 3649.484, WINDOW),
    (MTIA, None, "other_us"): (1182.077, 908.435, WINDOW),
    (MTIA, None, "total_us"): (459666.36, 340557.17, WINDOW),
    (RANK_0, 551, "kernel_us"): (106252.0, 278511.0, COLLECTIVES),
    (RANK_0, 551, "memcpy_us"): (629.0, 152.0, COLLECTIVES),
    (RANK_0, 551, "memset_us"): (19.0, 17.0, COLLECTIVES),
    (RANK_0, 551, "communication_us"): (172272.0, 218.0, COLLECTIVES),
    (RANK_0, 551, "runtime_us"): (3080.0, 3093.0, COLLECTIVES),
    (RANK_0, 551, "cpu_exec_us"): (318074.0, 318335.0, COLLECTIVES),
    (RANK_0, 552, "kernel_us"): (104068.0, 268792.0, COLLECTIVES),
    (RANK_0, 552, "memcpy_us"): (646.0, 175.0, COLLECTIVES),
    (RANK_0, 552, "communication_us"): (164715.0, 76.0, COLLECTIVES),
    (RANK_0, 552, "runtime_us"): (3008.0, 3052.0, COLLECTIVES),
    (RANK_0, 552, "cpu_exec_us"): (341869.0, 342211.0, COLLECTIVES),
    (RANK_1, 551, "kernel_us"): (135548.0, 269884.0, COLLECTIVES),
    (RANK_1, 551, "memcpy_us"): (2637.0, 2108.0, COLLECTIVES),
    (RANK_1, 551, "memset_us"): (14.0, 11.0, COLLECTIVES),
    (RANK_1, 551, "communication_us"): (134179.0, 112.0, COLLECTIVES),
    (RANK_1, 551, "runtime_us"): (2081.0, 2100.0, COLLECTIVES),
    (RANK_1, 551, "cpu_exec_us"): (324823.0, 325067.0, COLLECTIVES),
    (RANK_1, 552, "kernel_us"): (136425.0, 305612.0, COLLECTIVES),
    (RANK_1, 552, "memcpy_us"): (5914.0, 2418.0, COLLECTIVES),
    (RANK_1, 552, "communication_us"): (165876.0, 13.0, COLLECTIVES),
    (RANK_1, 552, "runtime_us"): (2231.0, 2242.0, COLLECTIVES),
    (RANK_1, 552, "cpu_exec_us"): (313222.0, 313383.0, COLLECTIVES),
    (ABSOLUTE, 101, "kernel_us"): (93696.68, 93700.25, FLOATS),
    (ABSOLUTE, 101, "memcpy_us"): (756.573, 754.0, FLOATS),
    (ABSOLUTE, 101, "communication_us"): (127.476, 54.0, FLOATS),
    (ABSOLUTE, 101, "runtime_us"): (1246.715, 1262.75, FLOATS),
    (ABSOLUTE, 101, "cpu_exec_us"): (4341.889, 4398.75, FLOATS),
    (ABSOLUTE, 102, "kernel_us"): (93734.47, 93740.5, FLOATS),
    (ABSOLUTE, 102, "memcpy_us"): (739.07, 736.5, FLOATS),
    (ABSOLUTE, 102, "runtime_us"): (607.784, 606.0, FLOATS),
    (ABSOLUTE, 102, "cpu_exec_us"): (537.759, 536.0, FLOATS),
    (ABSOLUTE, 103, "kernel_us"): (93601.607, 93607.0, FLOATS),
    (ABSOLUTE, 103, "memcpy_us"): (740.027, 736.75, FLOATS),
    (ABSOLUTE, 103, "memset_us"): (117.728, 118.75, FLOATS),
    (ABSOLUTE, 103, "communication_us"): (2.432, 0.0, FLOATS),
    (ABSOLUTE, 104, "kernel_us"): (93705.249, 93708.75, FLOATS),
    (ABSOLUTE, 104, "memcpy_us"): (738.905, 735.0, FLOATS),
    (ABSOLUTE, 104, "runtime_us"): (577.156, 575.5, FLOATS),
    (ABSOLUTE, 104, "cpu_exec_us"): (524.732, 526.5, FLOATS),
    (ABSOLUTE, 105, "kernel_us"): (93415.596, 93416.75, FLOATS),
    (ABSOLUTE, 105, "memcpy_us"): (740.829, 739.0, FLOATS),
    (ABSOLUTE, 105, "runtime_us"): (1020.235, 1016.25, FLOATS),
    (ABSOLUTE, 105, "cpu_exec_us"): (100.842, 105.75, FLOATS),
}

#: Compared in full: nothing differs but what is listed above. Of diff_small_2022/test the plugin's
#: figures are those of another file.
TRACES = [
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143566756.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623213129365.pt.trace",
    "cpu_only_2024/rank-34.Jul_15_10_52_41.1074.pt.trace",
    "diff_small_2022/base/base",
    "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto",
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    *dict.fromkeys(trace for trace, _, _ in DIFFERENCES),
]

#: The plugin's word for each of our figures, in the order in which roles own time.
FIGURES = {
    "kernel_us": "Kernel",
    "memcpy_us": "Memcpy",
    "memset_us": "Memset",
    "communication_us": "Communication",
    "runtime_us": "Runtime",
    "dataloader_us": "DataLoader",
    "cpu_exec_us": "CpuOp",
    "other_us": "Other",
    "total_us": "Total",
}


@pytest.mark.parametrize("trace", TRACES)
def test_nothing_but_the_listed_figures_differs(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    ours = {step: row for step, is_tail, row in _rows(corpus, keys) if not is_tail}
    assert [str(step or 0) for step in ours] == [step["name"] for step in said["steps"]]
    found = {
        (trace, step, figure): pytest.approx((mine, other), abs=0.001)
        for (step, row), theirs in zip(ours.items(), said["steps"], strict=True)
        for figure, word in FIGURES.items()
        if abs((mine := row[figure]) - (other := theirs["costs"][word])) > 1
    }
    listed = {key: (a, b) for key, (a, b, _) in DIFFERENCES.items() if key[0] == trace}
    assert listed == found


@pytest.mark.parametrize("trace", TRACES[:8])
def test_means_are_those_of_the_plugin(trace: str, plugin: Peer, corpus: tracewh.Warehouse) -> None:
    said, keys = plugin(trace)
    rows = corpus.step_breakdown_summary(**keys).fetchall()
    ours = {f"{category}_us": mean or 0 for *_, category, mean, _ in rows}
    assert ours == {
        figure: pytest.approx(said["avg_costs"][word], abs=1) for figure, word in FIGURES.items()
    }


def _rows(
    corpus: tracewh.Warehouse, keys: dict[str, str]
) -> list[tuple[int | None, bool, dict[str, float]]]:
    """(step, is_tail, figures), NULL as the 0 that the plugin writes."""
    relation = corpus.step_breakdown(**keys)
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    return [
        (row["step"], row["is_tail"], {figure: row[figure] or 0.0 for figure in FIGURES})
        for row in rows
    ]
