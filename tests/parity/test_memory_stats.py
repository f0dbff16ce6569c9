"""memory_stats against the TensorBoard plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

MI300X = "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
TRACES = [
    MI300X,
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001",
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143566756.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623213129365.pt.trace",
]

#: The plugin's devices. It knows no others, and drops their records.
DEVICES = {"CPU": "cpu", "GPU0": "cuda:0"}

#: The plugin's word for each of our figures, in the order of the view.
WORDS = (
    "calls",
    "increase",
    "self_increase",
    "alloc_count",
    "self_alloc_count",
    "alloc_size",
    "self_alloc_size",
)


@pytest.mark.parametrize("trace", TRACES)
def test_every_figure_of_every_operator_is_the_plugin_s(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    """But for the row of what lies in no operator, which the plugin leaves out."""
    said, keys = plugin(trace)
    theirs = {
        (DEVICES[device], row["op"]): tuple(row[word] for word in WORDS)
        for device, rows in said["memory_stats"].items()
        for row in rows
    }
    ours = {
        (device, operator): tuple(figures)
        for _, _, _, device, operator, *figures in corpus.memory_stats(**keys).fetchall()
        if device in DEVICES.values() and operator is not None
    }
    assert ours == theirs != {}


@pytest.mark.parametrize("trace", TRACES)
def test_nothing_that_was_recorded_is_left_out(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    """On HIP neither, which the plugin drops. What lies in no operator makes up the difference."""
    _, keys = plugin(trace)
    recorded = corpus.sql(
        "SELECT concat_ws(':', m.device_type, m.device_id), sum(m.bytes),"
        " count(*) FILTER (WHERE m.bytes > 0), sum(m.bytes) FILTER (WHERE m.bytes > 0)"
        " FROM memory_records AS m WHERE m.run = ? AND m.worker = ? AND m.span = ? GROUP BY ALL",
        list(keys.values()),
    ).fetchall()
    summed = (
        corpus.memory_stats(**keys)
        .aggregate(
            "device, sum(self_size_increase_bytes), sum(self_allocations),"
            " sum(self_allocated_bytes)"
        )
        .fetchall()
    )
    assert sorted(summed) == sorted(recorded) != []
    devices = {device for device, *_ in summed}
    assert devices == ({"cpu", "hip:0"} if trace == MI300X else {"cpu", "cuda:0"})
