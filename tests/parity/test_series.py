"""utilization_series and sm_efficiency_series against the TensorBoard plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

RESNET = "v100_resnet50_2021/resnet50_num_workers"
TRACES = [
    f"{RESNET}_0/worker0.1623143089861.pt.trace",
    f"{RESNET}_0/worker0.1623143566756.pt.trace",
    f"{RESNET}_4/worker0.1623212756351.pt.trace",
    f"{RESNET}_4/worker0.1623213129365.pt.trace",
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace",
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
    "two_ranks_nccl_2023/sampled_rank-0",
    "two_ranks_nccl_2023/sampled_rank-1",
    "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace",
]

#: How many pieces of the SM efficiency we have, and the plugin. Sums of floating-point numbers do not
#: come back to 0 where the last kernel ends, so it has pieces of 1e-15 between kernels.
PIECES = {
    f"{RESNET}_0/worker0.1623143089861.pt.trace": (8136, 8251),
    f"{RESNET}_0/worker0.1623143566756.pt.trace": (8133, 8183),
    f"{RESNET}_4/worker0.1623212756351.pt.trace": (8229, 8263),
    f"{RESNET}_4/worker0.1623213129365.pt.trace": (8225, 8260),
    "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace": (81, 83),
    "a100_nccl_2024/nccl_data": (2931, 3428),
    "two_ranks_nccl_2023/sampled_rank-0": (1407, 1409),
}


@pytest.mark.parametrize("trace", TRACES)
def test_utilization_is_the_plugin_s(trace: str, plugin: Peer, corpus: tracewh.Warehouse) -> None:
    said, keys = plugin(trace)
    ours = _by_device(corpus.utilization_series(**keys))
    theirs = _devices(said)
    zero = _zero(corpus, keys)
    assert ours.keys() == theirs.keys()
    for device, rows in ours.items():
        other = theirs[device]
        # It ends with a point that closes the curve.
        assert len(rows) == other["util_buckets_len"] - 1
        total = sum(row["value_pct"] for row in rows)
        assert total == pytest.approx(100 * other["util_buckets_value_sum"], abs=0.5)
        for row, (instant, value) in zip(rows, other["util_buckets_first20"], strict=False):
            assert (row["start_ns"] - zero) / 1000 == pytest.approx(instant, abs=0.3)
            assert row["value_pct"] == pytest.approx(100 * value, abs=0.02)


@pytest.mark.parametrize("trace", TRACES)
def test_sm_efficiency_is_the_plugin_s(trace: str, plugin: Peer, corpus: tracewh.Warehouse) -> None:
    said, keys = plugin(trace)
    ours = _by_device(corpus.sm_efficiency_series(**keys))
    theirs = {
        device: other
        for device, other in _devices(said).items()
        if other["sm_efficiency_ranges_len"]
    }
    zero = _zero(corpus, keys)
    assert ours.keys() == theirs.keys()
    for device, rows in ours.items():
        other = theirs[device]
        pieces = (len(rows), other["sm_efficiency_ranges_len"])
        assert pieces == PIECES.get(trace, (len(rows), len(rows)))
        weighted = sum(row["duration_us"] * row["value_pct"] / 100 for row in rows)
        assert weighted == pytest.approx(other["sm_efficiency_weighted_sum"], abs=0.2)
        first = [piece for piece in other["sm_efficiency_ranges_first20"] if piece[2] > 1e-9]
        for row, (start, end, value) in zip(rows, first, strict=False):
            assert (row["start_ns"] - zero) / 1000 == pytest.approx(start, abs=0.3)
            assert row["duration_us"] == pytest.approx(end - start, abs=0.5)
            assert row["value_pct"] == pytest.approx(100 * value, abs=1e-6)


def test_a_device_that_the_plugin_does_not_know(corpus: tracewh.Warehouse) -> None:
    """An MTIA. Its kernels run on after the profiler's last word: the series does, too."""
    rows = _by_device(corpus.utilization_series(run="mtia_inference_2026"))[17]
    assert len(rows) == 44
    busy_us = sum(row["duration_us"] * row["value_pct"] / 100 for row in rows)
    # What gpu_summary has for the same kernels.
    assert busy_us == pytest.approx(414085.123, abs=0.001)
    assert corpus.sm_efficiency_series(run="mtia_inference_2026").fetchall() == []


def _devices(said: dict[str, Any]) -> dict[int, dict[str, Any]]:
    gpu = said["gpu"] or {"gpus": {}}
    return {int(device): figures for device, figures in gpu["gpus"].items()}


def _by_device(relation: Any) -> dict[int, list[dict[str, Any]]]:
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    return {
        device: [row for row in rows if row["device_id"] == device]
        for device in {row["device_id"] for row in rows}
    }


def _zero(corpus: tracewh.Warehouse, keys: dict[str, str]) -> int:
    """What the plugin's times count from, in ns."""
    [[base]] = corpus.sql(
        "SELECT coalesce(t.base_time_ns, 0) FROM traces AS t"
        " WHERE t.run = ? AND t.worker = ? AND t.span = ?",
        list(keys.values()),
    ).fetchall()
    return int(base)
