"""runtime_api_stats and memory_copy_stats against the raw files: no peer has these tables.

The figures are worked out again from the JSON, with no SQL: in whole nanoseconds, by the statistics
module.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

Events = list[dict[str, Any]]


def test_calls_of_the_runtime_are_those_of_the_raw_files(
    raw: dict[tuple[str, ...], Events], corpus: tracewh.Warehouse
) -> None:
    rows = corpus.runtime_api_stats(per_span=True).fetchall()
    found = {tuple(row[:4]): row[4:] for row in rows if tuple(row[:3]) in raw}
    expected = {}
    for key, events in raw.items():
        calls: dict[str, list[int]] = defaultdict(list)
        for event in events:
            if event["cat"] == "Runtime" or event["cat"].endswith(("_runtime", "_driver")):
                calls[event["name"]].append(int(event["dur"] * 1000))
        everything = sum(map(sum, calls.values()))
        so_far = 0
        for name, ns in sorted(calls.items(), key=lambda call: (-sum(call[1]), call[0])):
            so_far += sum(ns)
            shares = (100 * sum(ns) / everything, 100 * so_far / everything)
            expected[*key, name] = (*shares, *times(ns))
    assert len(expected) > 100
    assert_alike(found, expected)


def test_copies_and_fills_are_those_of_the_raw_files(
    raw: dict[tuple[str, ...], Events], corpus: tracewh.Warehouse
) -> None:
    rows = corpus.memory_copy_stats(per_span=True).fetchall()
    found = {tuple(row[:4]): row[4:] for row in rows if tuple(row[:3]) in raw}
    expected = {}
    for key, events in raw.items():
        copies: dict[str, Events] = defaultdict(list)
        for event in events:
            if moves(event):
                copies[event["name"]].append(event)
        everything = sum(event["dur"] for copy in copies.values() for event in copy)
        so_far = Decimal(0)
        for name, copy in sorted(copies.items(), key=costliest):
            total, calls, mean, median, low, high, deviation = times(
                [int(event["dur"] * 1000) for event in copy]
            )
            sized = [event for event in copy if event["args"].get("bytes") is not None]
            sizes = [int(event["args"]["bytes"]) for event in sized]
            so_far += sum(event["dur"] for event in copy)
            shares = (100 * total / float(everything), 100 * float(so_far / everything))
            expected[*key, name] = (
                *(calls, total, *shares, mean, median, low, high),
                sum(sizes) if sizes else None,
                statistics.mean(sizes) if sizes else None,
                sum(sizes) / 1000 / float(sum(event["dur"] for event in sized)) if sizes else None,
                deviation,
                statistics.median(sizes) if sizes else None,
                min(sizes) if sizes else None,
                max(sizes) if sizes else None,
                statistics.stdev(sizes) if len(sizes) > 1 else None,
            )
    assert len(expected) > 30
    assert_alike(found, expected)


def times(ns: list[int]) -> tuple[float, int, float, float, float, float, float | None]:
    """Total, number, mean, median, least, most and deviation of durations, in microseconds."""
    return (
        sum(ns) / 1000,
        len(ns),
        statistics.mean(ns) / 1000,
        statistics.median(ns) / 1000,
        min(ns) / 1000,
        max(ns) / 1000,
        statistics.stdev(ns) / 1000 if len(ns) > 1 else None,
    )


def costliest(copy: tuple[str, Events]) -> tuple[Decimal, str]:
    """By time, and by name where that ties."""
    return -sum((event["dur"] for event in copy[1]), Decimal(0)), copy[0]


def moves(event: dict[str, Any]) -> bool:
    """Whether it is a copy or a fill: by category, by AMD's kernels for it, or MTIA's engine."""
    category, name = event["cat"].lower(), event["name"]
    return (
        category in ("memcpy", "memset", "gpu_memcpy", "gpu_memset")
        or (category == "kernel" and name.startswith("__amd_rocclr_copyBuffer"))
        or (category == "mtia_ccp_events" and name.startswith("dma"))
    )


def assert_alike(
    found: dict[tuple[str, ...], Any], expected: Mapping[tuple[str, ...], tuple[float | None, ...]]
) -> None:
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        for ours, theirs in zip(found[key], row, strict=True):
            assert (ours is None) == (theirs is None), key
            assert ours is None or ours == pytest.approx(theirs, rel=1e-9), key
