"""utilization_series and sm_efficiency_series of a device that the TensorBoard plugin does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh


def test_a_device_that_the_plugin_does_not_know(corpus: tracewh.Warehouse) -> None:
    """An MTIA. Its kernels run on after the profiler's last word: the series does, too."""
    rows = _by_device(corpus.utilization_series(run="mtia_inference_2026"))[17]
    assert len(rows) == 44
    busy_us = sum(row["duration_us"] * row["value_pct"] / 100 for row in rows)
    # What gpu_summary has for the same kernels.
    assert busy_us == pytest.approx(414085.123, abs=0.001)
    assert corpus.sm_efficiency_series(run="mtia_inference_2026").fetchall() == []


def _by_device(relation: Any) -> dict[int, list[dict[str, Any]]]:
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    return {
        device: [row for row in rows if row["device_id"] == device]
        for device in {row["device_id"] for row in rows}
    }
