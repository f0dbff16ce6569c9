"""memory_events and memory_curve against the TensorBoard plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

MI300X = "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
QWEN = "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
TRACES = [
    QWEN,
    MI300X,
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002",
]
OLD = [
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace",
]

#: The plugin's devices. It knows no others, and drops their records.
DEVICES = {"CPU": "cpu", "GPU0": "cuda:0"}

#: Of a trace and device: how many allocations the plugin calls '<unknown>', and our word. Nothing
#: but the step is around them.
UNKNOWN = {(QWEN, "CPU"): (51, "ProfilerStep#6"), (MI300X, "CPU"): (51, "ProfilerStep#6")}


@pytest.mark.parametrize("trace", TRACES)
def test_every_block_is_the_plugin_s(trace: str, plugin: Peer, corpus: tracewh.Warehouse) -> None:
    said, keys = plugin(trace)
    theirs = said["memory_events"] or said["memory_events_known_devices"]
    zero = _zero(corpus, said, keys)
    for device in DEVICES.keys() & theirs.keys():
        rows = _rows(corpus.memory_events(device=DEVICES[device], **keys))
        rows.sort(key=lambda row: row["allocated_ns"])
        other = theirs[device]
        assert len(rows) == other["count"] == other["paired"]
        assert sum(row["size_bytes"] for row in rows) == other["sum_size"]
        lifetimes = sum(row["lifetime_us"] for row in rows)
        assert lifetimes == pytest.approx(other["sum_duration"], abs=1)
        unknown, word = UNKNOWN.get((trace, device), (0, ""))
        shown = other["first200"]
        assert sum(event["op"] == "<unknown>" for event in shown) == unknown
        for row, event in zip(rows, shown, strict=False):
            assert row["size_bytes"] == event["size"]
            assert row["operator"] == (word if event["op"] == "<unknown>" else event["op"])
            for side, word_of_side in (("allocated", "alloc_ts"), ("released", "release_ts")):
                instant = (row[f"{side}_ns"] - zero) / 1000
                assert instant == pytest.approx(event[word_of_side], abs=0.001)


@pytest.mark.parametrize("trace", TRACES)
def test_every_point_and_peak_is_the_plugin_s(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    theirs = said["memory_curve"] or said["memory_curve_known_devices"]
    zero = _zero(corpus, said, keys)
    for device in DEVICES.keys() & theirs.keys():
        rows = _rows(corpus.memory_curve(device=DEVICES[device], **keys))
        other = theirs[device]
        assert len(rows) == other["points"]
        assert max(row["allocated_bytes"] for row in rows) == other["peak_allocated"]
        assert max(row["reserved_bytes"] for row in rows) == other["peak_reserved"]
        for row, (instant, allocated, reserved) in zip(rows, other["first20"], strict=False):
            assert (row["time_ns"] - zero) / 1000 == pytest.approx(instant, abs=0.001)
            assert (row["allocated_bytes"], row["reserved_bytes"]) == (allocated, reserved)
        assert rows[-1]["allocated_bytes"] == other["last_allocated"]


def test_a_device_that_the_plugin_drops(plugin: Peer, corpus: tracewh.Warehouse) -> None:
    """It reads device type 6 (HIP) as none, and then fails; its raw records hold the same peak."""
    said, keys = plugin(MI300X)
    records = said["memory_records"]
    assert said["memory_events"] is None
    curve = _rows(corpus.memory_curve(device="hip:0", **keys))
    assert len(curve) == records["by_device"]["None"] == 2588
    assert max(row["allocated_bytes"] for row in curve) == records["peak"]["None:0"] == 2219047936
    blocks = _rows(corpus.memory_events(device="hip:0", **keys))
    assert len(blocks) == 2588 / 2
    assert all(row["lifetime_us"] is not None for row in blocks)


@pytest.mark.parametrize("trace", OLD)
def test_records_without_address_and_totals_give_no_rows(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    assert said["memory_records"]["count"] > 10_000
    assert said["memory_events"] == {}
    assert corpus.memory_events(**keys).fetchall() == []
    assert corpus.memory_curve(**keys).fetchall() == []


def _rows(relation: Any) -> list[dict[str, Any]]:
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def _zero(corpus: tracewh.Warehouse, said: dict[str, Any], keys: dict[str, str]) -> int:
    """What the plugin's times count from, in ns: the first event it parsed."""
    [[base]] = corpus.sql(
        "SELECT t.base_time_ns FROM traces AS t WHERE t.run = ?", [keys["run"]]
    ).fetchall()
    curve = said["memory_curve"] or said["memory_curve_known_devices"]
    return int(base) + round(curve["metadata"]["first_ts"] * 1000)
