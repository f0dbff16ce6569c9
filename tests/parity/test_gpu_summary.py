"""gpu_summary against the TensorBoard plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.parity.conftest import TRACES

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer


@pytest.mark.parametrize("trace", TRACES)
def test_devices_are_described_as_in_the_file(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    known = {device["id"]: device for device in said["device_props"] or []}
    for row in corpus.gpu_summary(**keys).fetchall():
        device = known.get(row[3], {})
        version = [str(device[part]) for part in ("computeMajor", "computeMinor") if part in device]
        assert row[4:8] == (
            device.get("name"),
            device.get("totalGlobalMem"),
            ".".join(version) or None,
            device.get("numSms"),
        )


def test_a_device_that_the_plugin_does_not_know(corpus: tracewh.Warehouse) -> None:
    """An MTIA, of which the file tells little: kernels in 414085.123 us of 459666.360."""
    [row] = corpus.gpu_summary(run="mtia_inference_2026").fetchall()
    busy = pytest.approx(90.084, abs=0.001)
    assert row[3:] == (17, "ARTEMIS", None, None, None, busy, None, None, None, None)
