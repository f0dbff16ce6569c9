"""memory_events and memory_curve of a device on which the TensorBoard plugin fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

MI300X = "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"


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


def _rows(relation: Any) -> list[dict[str, Any]]:
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
