"""device_advice against the raw files: gaps of devices and pageable copies, with no SQL."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

Key = tuple[str, str, str]
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")


@pytest.fixture(scope="module")
def raw(corpus: tracewh.Warehouse) -> dict[Key, list[dict[str, Any]]]:
    """The work of devices in every trace but MTIA's, in order."""
    files = {}
    for run, worker, span, path in corpus.sql(
        "SELECT run, worker, span, source_path FROM traces WHERE run <> 'mtia_inference_2026'"
    ).fetchall():
        if path.endswith(".gz"):  # another tool's list of events is not compressed
            with gzip.open(path) as file:
                events = json.load(file, parse_float=Decimal, parse_int=Decimal)["traceEvents"]
            work = [event for event in events if event.get("cat", "").lower() in WORK]
            files[run, worker, span] = sorted(work, key=lambda event: event["ts"])
    return files


def test_gaps_are_those_of_the_raw_files(
    raw: dict[Key, list[dict[str, Any]]], corpus: tracewh.Warehouse
) -> None:
    expected = {}
    for key, work in raw.items():
        assert len({event["args"].get("device") for event in work}) <= 1
        gaps = Decimal(0)
        end = work[0]["ts"] if work else Decimal(0)
        for event in work:
            if event["ts"] - end > 500:
                gaps += event["ts"] - end
            end = max(end, event["ts"] + event["dur"])
        if work and 10 * gaps > end - work[0]["ts"]:
            expected[key] = pytest.approx(float(100 * gaps / (end - work[0]["ts"])))
    assert len(expected) == 11
    assert _values(corpus, "device_gaps", raw) == expected


def test_pageable_copies_are_those_of_the_raw_files(
    raw: dict[Key, list[dict[str, Any]]], corpus: tracewh.Warehouse
) -> None:
    """Of the traces in which all copies are of steps that are not tail."""
    sums: dict[Key, Decimal] = defaultdict(Decimal)
    for key, work in raw.items():
        for event in work:
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
    assert _values(corpus, "pageable_copies", raw) == expected


def _values(
    corpus: tracewh.Warehouse, rule: str, keys: dict[Key, list[dict[str, Any]]]
) -> dict[Key, float]:
    rows = corpus.recommendations().fetchall()
    return {
        (run, worker, span): value
        for run, worker, span, found, _, value, *_ in rows
        if found == rule and (run, worker, span) in keys
    }
