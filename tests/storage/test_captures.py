"""`tracewh link-captures`: traces of a run as captures of another one."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.copied import CopiedWarehouse
from tracewh.cli.app import main
from tracewh.storage import checks, compaction, manifest
from tracewh.storage.captures import link_captures

Event = dict[str, Any]


def call(name: str, ts: int, **args: object) -> Event:
    where = {"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1, "dur": 1}
    return {**where, "name": name, "ts": ts, "args": args}


CAPTURE = [
    {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::mm",
        "pid": 1,
        "tid": 1,
        "ts": 2,
        "dur": 4,
        "args": {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]},
    },
    call("hipStreamBeginCapture", 1),
    call("hipLaunchKernel", 3, kernel="gemm", correlation=1),
    call("hipStreamEndCapture", 8),
]
REPLAY = [
    {**call("ProfilerStep#1", 0), "cat": "user_annotation", "dur": 9},
    call("hipGraphLaunch", 1, correlation=9),
    {
        "ph": "X",
        "cat": "kernel",
        "name": "gemm",
        "pid": 0,
        "tid": 7,
        "ts": 5,
        "dur": 3,
        "args": {"correlation": 9, "device": 0, "stream": 7},
    },
]


def ingested(folder: Path, replay: list[Event] = REPLAY) -> Path:
    for run, events in (("serve", replay), ("warmup", CAPTURE)):
        path = folder / run / "w.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"traceEvents": events}))
        tracewh.ingest([path], folder / "warehouse")
    return folder / "warehouse"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested(tmp_path_factory.mktemp("first"))


@pytest.fixture
def warehouse(first: Path, tmp_path: Path) -> Path:
    return shutil.copytree(first, tmp_path / "warehouse")


@pytest.fixture(scope="module")
def linked(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    path = shutil.copytree(first, tmp_path_factory.mktemp("linked") / "warehouse")
    assert main(["link-captures", "serve", "warmup", "-w", str(path)]) == 0
    with CopiedWarehouse(path) as warehouse:
        yield warehouse


def operators(warehouse: Path) -> list[tuple[Any, ...]]:
    with tracewh.open(warehouse) as opened:
        found = opened.operator_stats(run="serve").project("name, calls, replayed_us")
        rows: list[tuple[Any, ...]] = found.fetchall()
        return rows


def test_linked_captures_give_replays_their_operators(
    warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert operators(warehouse) == []
    for _ in range(2):  # a second link replaces the first
        assert main(["link-captures", "serve", "warmup", "-w", str(warehouse)]) == 0
        assert capsys.readouterr().err == (
            "1 trace of run 'warmup' copied to run 'serve/capture_traces': captures of 'serve'\n"
        )
        assert operators(warehouse) == [("aten::mm", 0, 3.0)]
    with tracewh.open(warehouse) as opened:
        runs = [run for run, _, _ in opened.names()]
        assert sorted(runs) == ["serve", "serve/capture_traces", "warmup"]
    assert [found.problems for found in checks.check(warehouse) if found.problems] == []


def test_the_verdict_counts_a_replay_once(tmp_path: Path) -> None:
    """The graph has 3 of 8 us of the device, by its launch and by the operators that it was captured with."""
    other = {**REPLAY[-1], "tid": 8, "ts": 0, "dur": 5, "args": {"device": 0, "stream": 8}}
    warehouse = ingested(tmp_path, [*REPLAY, other])
    assert main(["link-captures", "serve", "warmup", "-w", str(warehouse)]) == 0
    with tracewh.open(warehouse) as opened:
        card = opened.verdict(run="serve").filter("name = 'tensor_cores'").project("text, detail")
        assert card.fetchall() == [(None, "unknown: operators launched only 38 % of the GPU time")]


def test_traces_from_standard_input_are_all_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have the source `stdin`: one with the operator a, and one with b. A second link replaces each."""
    path = tmp_path / "warehouse"
    names = ("a", "b")
    for name in names:
        text = json.dumps({"traceEvents": [{**CAPTURE[0], "name": name}]})
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        tracewh.ingest(["-"], path, run="piped")
    (tmp_path / "w.json").write_text(json.dumps({"traceEvents": REPLAY}))
    tracewh.ingest([tmp_path / "w.json"], path, run="serve")
    for _ in range(2):
        assert len(link_captures(path, "serve", "piped")) == 2
        assert copied(path) == [("stdin", "2", "b"), ("stdin", "default", "a")]


def copied(warehouse: str | Path) -> list[tuple[str, str, str]]:
    """Worker, span and operators of each copy."""
    with tracewh.open(warehouse) as opened:
        return opened.sql(
            "SELECT worker, span, name FROM host_events WHERE run = 'serve/capture_traces' ORDER BY ALL"
        ).fetchall()


def test_links_outlive_compaction_and_the_linked_run(warehouse: Path) -> None:
    assert main(["link-captures", "serve", "warmup", "-w", str(warehouse)]) == 0
    compaction.compact(warehouse, "serve/capture_traces", True, lambda _: None)
    assert main(["drop", "warmup", "--yes", "-w", str(warehouse)]) == 0
    assert operators(warehouse) == [("aten::mm", 0, 3.0)]


def test_a_run_is_no_capture_of_itself(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["link-captures", "serve", "serve", "-w", str(warehouse)]) == 1
    assert capsys.readouterr().err == "tracewh: run 'serve' already belongs to run 'serve'\n"


@pytest.mark.parametrize("file", ["host_events", "traces"])
def test_a_damaged_trace_is_not_copied(
    warehouse: Path, capsys: pytest.CaptureFixture[str], file: str
) -> None:
    """Its copy would have a manifest of its own, and `check` would find it sound."""
    [folder] = warehouse.glob("data/run=warmup/*/*")
    (folder / f"{file}.parquet").write_bytes(b"PAR1")
    record = manifest.read(folder)
    assert record is not None
    source, written = record.origin.source_path, record.files[f"{file}.parquet"].bytes
    assert main(["link-captures", "serve", "warmup", "-w", str(warehouse)]) == 1
    assert capsys.readouterr().err == (
        f"tracewh: the trace warmup/w/default is damaged: {file}.parquet: it has 4 bytes, {written:,} were written;"
        f" to repair:\n  tracewh ingest --force --run warmup -w {warehouse} {source}\n"
    )
    assert not [*warehouse.glob("data/run=serve%2Fcapture_traces")]


def test_an_unknown_run_is_named(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["link-captures", "serve", "warmap", "-w", str(warehouse)]) == 2
    assert "warmap" in capsys.readouterr().err


def test_rows_are_those_of_the_run_alone_with_and_without_graphs(warehouse: Path) -> None:
    """Without launches the blocks that match replays are empty; they fill when a run needs them."""
    main(["link-captures", "serve", "warmup", "-w", str(warehouse)])
    with tracewh.open(warehouse) as opened:
        assert opened.operator_stats(run="warmup").project("name, calls").fetchall() == [
            ("aten::mm", 1)
        ]
        assert opened.graph_replays(run="warmup").fetchall() == []
        assert opened.operator_stats(run="serve").project("replayed_us").fetchall() == [(3.0,)]
        assert opened.operator_stats(run="warmup").project("replayed_us").fetchall() == [(0.0,)]


def test_blocks_that_fill_are_there_for_those_that_were_made_before(warehouse: Path) -> None:
    """The operators of steps are a block that diff_operators made, when no run that it asked launched a graph."""
    with tracewh.open(warehouse) as opened:
        assert opened.diff_operators(baseline="warmup", experiment="warmup").fetchall()
        assert opened.trend(figure="step_us").project("value").fetchall() == [(9.0,), (8.0,)]


@pytest.mark.parametrize(
    ("query", "replayed_us"),
    [
        ("operator_stats('serve')", "replayed_us"),
        ("operator_flops_summary('serve')", "replayed_us"),
        ("operator_flops_summary('serve')", "3.0 * replayed_calls"),
        ("flamegraph('serve', metric := 'device')", "replayed_us"),
        ("diff_operators('warmup', 'serve')", "experiment_replayed_us"),
        ("diff_operators('warmup', 'serve', block := '/')", "experiment_replayed_us"),
        ("diff_operators('serve', 'warmup')", "baseline_replayed_us"),
        ("diff_modules('serve', 'serve') WHERE path = '/'", "experiment_replayed_us"),
        ("diff_modules('serve', 'serve') WHERE path = '/'", "baseline_replayed_us"),
        ("diff_block_contents('serve', 'serve') WHERE kind = 'operator'", "baseline_replayed_us"),
        (
            "diff_block_contents('serve', 'serve') WHERE kind = 'operator'",
            "experiment_replayed_us",
        ),
    ],
)
def test_a_column_says_what_was_replayed(
    linked: tracewh.Warehouse, query: str, replayed_us: str
) -> None:
    """The kernel of the graph takes 3 us; a run that launches no graph has none."""
    found = linked.sql(f"SELECT sum({replayed_us}) FROM {query}").fetchall()
    assert found == [(3.0,)]
    swapped = query.replace("serve", "-").replace("warmup", "serve").replace("-", "warmup")
    found = linked.sql(f"SELECT coalesce(sum({replayed_us}), 0) FROM {swapped}").fetchall()
    assert found == [(0.0,)]


def test_notes_are_asked_once_until_a_capture_is_linked(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    held = tracewh.Warehouse._held

    def count(self: tracewh.Warehouse, sql: str, *more: Any) -> Any:
        asked.append(sql)
        return held(self, sql, *more)

    monkeypatch.setattr(tracewh.Warehouse, "_held", count)
    with tracewh.open(warehouse) as opened:
        view = opened.registry.get("operator_stats")
        [(trace, message)] = opened.notes(view, {"run": "serve"})
        assert trace == ("serve", "w", "default")
        assert message.startswith(
            "3.0 us of device time (100.0 %) in 1 graph launch has no operator"
        )
        assert opened.notes(opened.registry.get("flamegraph"), {"run": "serve"}) == [
            (trace, message)
        ]
        assert len(asked) == 1
        main(["link-captures", "serve", "warmup", "-w", str(warehouse)])
        assert opened.notes(view, {"run": "serve"}) == []
        assert len(asked) == 2


def test_captures_that_come_later_are_found(warehouse: Path) -> None:
    """Without captures, the blocks that look for them are empty."""
    with tracewh.open(warehouse) as opened:
        operators = "name, replayed_us"
        assert opened.operator_stats(run="serve").project(operators).fetchall() == []
        main(["link-captures", "serve", "warmup", "-w", str(warehouse)])
        assert opened.operator_stats(run="serve").project(operators).fetchall() == [
            ("aten::mm", 3.0)
        ]


def test_a_run_of_captures_that_replays_one_of_its_owner(tmp_path: Path) -> None:
    """Graphs that `serve` captured are candidates for the launches of serve/capture_traces."""
    for run, events in (("serve", CAPTURE), ("warmup", REPLAY)):
        path = tmp_path / run / "w.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"traceEvents": events}))
        tracewh.ingest([path], tmp_path / "warehouse")
    assert main(["link-captures", "serve", "warmup", "-w", str(tmp_path / "warehouse")]) == 0
    with tracewh.open(tmp_path / "warehouse") as opened:
        found = opened.operator_stats(run="serve/capture_traces").project("name, replayed_us")
        assert found.fetchall() == [("aten::mm", 3.0)]
