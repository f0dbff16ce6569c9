"""kernel_stats against the TensorBoard plugin, and its median and deviation against Python's."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

ABSOLUTE = "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace"

#: By name nothing but NEWER differs on any trace that has kernels.
TRACES = [
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143566756.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623213129365.pt.trace",
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace",
    "a100_event_sync_2024/event_sync_trace",
    "a100_nccl_2024/nccl_data",
    "a100_triton_2024/triton_example",
    "diff_small_2022/base/base",
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001",
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002",
    "mi210_gpu_only_2025/gpu_only_trace",
    "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto",
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
    "mi300x_triton_2026/trace",
    "two_ranks_nccl_2023/sampled_rank-0",
    "two_ranks_nccl_2023/sampled_rank-1",
    ABSOLUTE,
]

#: Names of kernels that use tensor cores, or AMD's matrix cores, and are not on the plugin's list,
#: which is of 2021: FlashAttention, cuDNN's TF32 convolutions, WMMA, Tensile, MIOpen, AOTriton.
NEWER = {
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace": 1,
    "a100_nccl_2024/nccl_data": 10,
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001": 2,
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005": 1,
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002": 1,
    "mi210_gpu_only_2025/gpu_only_trace": 19,
    "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto": 2,
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005": 4,
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode": 6,
    "mi300x_triton_2026/trace": 4,
}

DRIVER = "launched by the driver call cuLaunchKernel[Ex], which the plugin does not know"
NO_LAUNCH = "the file has no row of the launch, so nobody can know the operator"
FALSE_LINK = "the launch's External id is its own correlation, so that it belongs to no operator"
NO_ID = "the plugin gives launches without an id to the first node without one"
DROPPED = "the plugin drops the operator: in its floats it seems to end after its parent"
NO_HOST = "the file has no host rows at all"
CUT = "the file is a cutting: 4 launch rows are missing, and 2 calls have ids without an operator"

#: By launch: of a trace, how many kernels we have where the plugin has them not, how many it shows
#: under an operator that did not launch them ('CallTreeRoot' twice where the device has steps of
#: its own), and why.
MISPLACED = {
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace": (79, 1, FALSE_LINK),
    "a100_triton_2024/triton_example": (1, 1, DRIVER),
    "diff_small_2022/base/base": (6, 4, CUT),
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001": (22, 44, DRIVER),
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005": (437, 874, f"436: {NO_LAUNCH}; 1: {DRIVER}"),
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002": (49, 98, DRIVER),
    "mi210_gpu_only_2025/gpu_only_trace": (562, 0, NO_HOST),
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005": (463, 926, NO_LAUNCH),
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode": (547, 547, NO_ID),
    "two_ranks_nccl_2023/sampled_rank-0": (1154, 0, FALSE_LINK),
    "two_ranks_nccl_2023/sampled_rank-1": (1104, 0, FALSE_LINK),
    ABSOLUTE: (1, 0, DROPPED),
}


@pytest.mark.parametrize("trace", TRACES)
def test_by_name_every_figure_is_the_plugin_s(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    ours = {row["name"]: row for row in _rows(corpus, keys)}
    theirs = {row["name"]: row for row in said["kernels_by_name"]}
    assert ours.keys() == theirs.keys()
    newer = 0
    for name, row in ours.items():
        other = theirs[name]
        assert row["calls"] == other["count"]
        assert row["uses_tensor_cores"] or not other["tc_used"], name
        newer += bool(row["uses_tensor_cores"]) != other["tc_used"]
        for figure, word in (("total", "sum"), ("mean", "mean"), ("min", "min"), ("max", "max")):
            assert row[f"{figure}_us"] == pytest.approx(other[word], abs=1), (name, figure)
        for figure, word in (
            ("mean_blocks_per_sm", "mean_blocks_per_sm"),
            ("mean_est_achieved_occupancy_pct", "mean_est_occupancy"),
        ):  # the plugin writes 0 where nothing is recorded, and where nothing took any time
            assert (row[figure] or 0) == pytest.approx(other.get(word) or 0, rel=0.001), name
    assert newer == NEWER.get(trace, 0)


@pytest.mark.parametrize("trace", TRACES)
def test_by_launch_nothing_but_the_listed_kernels_differs(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    ours = {_launch(row, "operator"): row for row in _rows(corpus, keys, group_by="launch")}
    theirs = {_launch(row, "op"): row for row in said["kernels_by_name_op"]}
    calls = Counter({key: row["calls"] for key, row in ours.items()})
    said_calls = Counter({key: row["calls"] for key, row in theirs.items()})
    have, lack, _ = MISPLACED.get(trace, (0, 0, ""))
    assert ((calls - said_calls).total(), (said_calls - calls).total()) == (have, lack)
    for key in ours.keys() & theirs.keys():
        row, other = ours[key], theirs[key]
        if row["calls"] == other["calls"]:
            tolerance = max(1.0, 0.25 * row["calls"] if trace == ABSOLUTE else 0)
            assert row["total_us"] == pytest.approx(other["sum"], abs=tolerance), key
            assert row["min_us"] == pytest.approx(other["min"], abs=1), key
            assert row["max_us"] == pytest.approx(other["max"], abs=1), key


def test_median_deviation_and_share_are_those_of_the_durations(corpus: tracewh.Warehouse) -> None:
    run = "a100_nccl_2024"
    durations: dict[str, list[int]] = {}
    for name, duration in corpus.sql(
        "SELECT k.name, k.duration_ns FROM kernels AS k WHERE k.run = ?", [run]
    ).fetchall():
        durations.setdefault(name, []).append(duration)
    total = sum(map(sum, durations.values()))
    rows = list(_rows(corpus, {"run": run}))
    assert len(rows) == len(durations) == 70
    for row in rows:
        values = durations[row["name"]]
        assert row["median_us"] == statistics.median(values) / 1000
        assert row["share_pct"] == pytest.approx(100 * sum(values) / total)
        if len(values) == 1:
            assert row["stddev_us"] is None
        else:
            assert row["stddev_us"] == pytest.approx(statistics.stdev(values) / 1000)


def test_the_kernels_of_a_step_are_those_its_calls_launched(corpus: tracewh.Warehouse) -> None:
    """Six whole steps, the last of which is the last thing recorded: nothing is in none of them."""
    keys = {"run": "v100_resnet50_2021/resnet50_num_workers_0", "span": "1"}
    [[whole]] = corpus.kernel_stats(**keys).aggregate("sum(calls)").fetchall()
    steps = [
        corpus.kernel_stats(step=step, **keys).aggregate("sum(calls)").fetchall()[0][0]
        for step in range(5, 11)
    ]
    assert sum(steps) == whole == 8772
    assert set(steps) == {1462}


def _rows(corpus: tracewh.Warehouse, keys: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    relation = corpus.kernel_stats(**keys, **more)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def _launch(row: dict[str, Any], operator: str) -> tuple[Any, ...]:
    """What tells launches apart, in the words of either; the plugin writes 0 for what is missing."""
    registers = row.get("registers_per_thread") or int(row.get("regs") or 0)
    shared = row.get("shared_memory_bytes") or int(row.get("smem") or 0)
    return (row["name"], row[operator], str(row["grid"]), str(row["block"]), registers, shared)
