"""Real traces, exported with their critical paths and taken in again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tracewh.cli.app import main
from tracewh.ingest.api import ingest
from tracewh.ingest.reconstruct import events
from tracewh.storage.local_store import LocalStore

if TYPE_CHECKING:
    import tracewh

#: Small ones of all generations, and those with several streams and synchronisations.
TRACES = [
    ("a100_alexnet_sync_2023", "default"),
    ("a100_event_sync_2024", "default"),
    ("cpu_only_2022", "default"),
    ("mi250_train_2025", "default"),
    ("two_ranks_nccl_2023", "default"),
    ("v100_resnet50_2021/resnet50_num_workers_0", "1"),
]
#: A double holds a time of today in us so well.
EXACT_US = 0.26


@pytest.mark.parametrize(("run", "span"), TRACES)
def test_an_exported_trace_is_the_same_with_marks_and_arrows(
    run: str, span: str, corpus: tracewh.Warehouse, tmp_path: Path
) -> None:
    worker = min(key[1] for key in _keys(corpus) if (key[0], key[2]) == (run, span))
    path = tmp_path / f"{worker}.json.gz"
    words = ["--worker", worker, "--span", span, "--critical-path", "all", "-w", str(corpus.path)]
    assert main(["export", run, "-o", str(path), *words]) == 0
    [outcome] = ingest([path], tmp_path / "warehouse", run=run)
    assert outcome.status == "ingested"
    assert outcome.worker and outcome.span
    again = _events(LocalStore(tmp_path / "warehouse").folder(run, outcome.worker, outcome.span))
    ours = _events(LocalStore(Path(corpus.path)).folder(run, worker, span))
    arrows = again[len(ours) :]
    critical = [each for each in again[: len(ours)] if each.get("args", {}).pop("critical", 0) == 1]
    assert again[: len(ours)] == ours
    rows = corpus.sql(
        "SELECT count(DISTINCT event_id) FROM critical_path(run := ?, worker := ?, span := ?)",
        [run, worker, span],
    ).fetchall()
    assert [(len(critical),)] == rows
    assert len(arrows) % 2 == 0
    lanes: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for each in critical:
        lanes[_lane(each)].append((each["ts"], each["ts"] + each["dur"]))
    for start, end in zip(arrows[::2], arrows[1::2], strict=True):
        assert (start["ph"], end["ph"], start["id"]) == ("s", "f", end["id"])
        assert _lane(start) != _lane(end)
        assert start["ts"] <= end["ts"] + EXACT_US
        for each in (start, end):
            spans = lanes[_lane(each)]
            assert any(a - EXACT_US <= each["ts"] < b + EXACT_US for a, b in spans)


def _lane(event: dict[str, Any]) -> tuple[str, str]:
    """In 2021 the number of a thread is a text on some rows; viewers take both for the same."""
    return str(event["pid"]), str(event["tid"])


def _keys(corpus: tracewh.Warehouse) -> Iterable[tuple[str, str, str]]:
    return corpus.sql("SELECT run, worker, span FROM traces").fetchall()


def _events(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(f"[{','.join(events(folder))}]")
    return found
