"""device_advice against the raw files: gaps of devices and pageable copies, with no SQL."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

Key = tuple[str, str, str]
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")


@pytest.fixture(scope="module")
def work(raw: dict[Key, list[dict[str, Any]]]) -> dict[Key, list[dict[str, Any]]]:
    """The work of devices in every trace but MTIA's, in order."""
    return {
        key: sorted(
            (event for event in events if event["cat"].lower() in WORK),
            key=lambda event: event["ts"],
        )
        for key, events in raw.items()
        if key[0] != "mtia_inference_2026"
    }


def test_gaps_are_those_of_the_raw_files(
    work: dict[Key, list[dict[str, Any]]], corpus: tracewh.Warehouse
) -> None:
    expected = {}
    for key, events in work.items():
        assert len({event["args"].get("device") for event in events}) <= 1
        gaps = Decimal(0)
        end = events[0]["ts"] if events else Decimal(0)
        for event in events:
            if event["ts"] - end > 500:
                gaps += event["ts"] - end
            end = max(end, event["ts"] + event["dur"])
        if events and 10 * gaps > end - events[0]["ts"]:
            expected[key] = pytest.approx(float(100 * gaps / (end - events[0]["ts"])))
    assert len(expected) == 11
    # Its device ran a step that lies in another file: trace_quality says so, and nobody calls it idle.
    del expected["mi300x_sglang_decode_2026", "sglang_Qwen3-8B_decode", "default"]
    assert _values(corpus, "device_gaps", work) == expected


def test_pageable_copies_are_those_of_the_raw_files(
    work: dict[Key, list[dict[str, Any]]], corpus: tracewh.Warehouse
) -> None:
    """Of the traces in which all copies are of steps that are not tail."""
    sums: dict[Key, Decimal] = defaultdict(Decimal)
    for key, events in work.items():
        for event in events:
            if "Pageable" in event["name"]:
                sums[key] += event["dur"]
    lengths = {
        tuple(key): length
        for *key, length in corpus.sql(
            "SELECT run, worker, span, sum(total_us) FROM step_breakdown() WHERE NOT is_tail"
            " GROUP BY ALL"
        ).fetchall()
    }
    expected = {
        key: pytest.approx(100 * float(copied) / lengths[key])
        for key, copied in sums.items()
        if 100 * float(copied) > lengths[key]
    }
    assert len(expected) == 4
    assert _values(corpus, "pageable_copies", work) == expected


def _values(
    corpus: tracewh.Warehouse, rule: str, keys: dict[Key, list[dict[str, Any]]]
) -> dict[Key, float]:
    rows = corpus.recommendations(every_rule=True, per_span=True).fetchall()
    return {
        (run, worker, span): value
        for run, worker, span, found, _, value, *_ in rows
        if found == rule and (run, worker, span) in keys
    }
