"""Every figure of the TensorBoard plugin: ours is the same, or differences.txt says what and why."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.parity.conftest import ANOTHER_FILE, DIFFS, FILES, FOLDERS, TRACES, Peer, keys
from tests.parity.differences import listed, problems
from tests.parity.plugin import (
    diff,
    distributed,
    facts,
    kernels,
    memory,
    operators,
    overview,
    series,
    tree,
)
from tests.parity.plugin.said import Said, is_path, load, paths, unread
from tests.parity.plugin.trace import Trace

if TYPE_CHECKING:
    import tracewh
    from tests.parity.differences import Table

#: What compares the figures of one trace.
SECTIONS = [
    overview.steps,
    overview.gpus,
    overview.recommendations,
    series.series,
    operators.operators,
    operators.modules,
    operators.lightning,
    tree.trees,
    kernels.kernels,
    memory.memory,
    facts.file,
    facts.pages,
    facts.roles,
    facts.tensor_cores,
    distributed.communication,
]


@pytest.mark.parametrize("name", TRACES)
def test_of_a_trace_nothing_differs_but_what_is_listed(
    name: str, shared: Path, corpus: tracewh.Warehouse
) -> None:
    said = load(shared / "expected" / f"{name}.tb.json")
    [worker], [page] = said["workers"], said["distributed"].values()
    trace = Trace(name, corpus, keys(corpus, name), worker)
    tables = [table for section in SECTIONS for table in section(trace)]
    assert _unlisted(name, said, [*tables, *distributed.page([trace], page)]) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_of_a_folder_nothing_differs_but_what_is_listed(
    name: str, shared: Path, corpus: tracewh.Warehouse
) -> None:
    said = load(shared / "expected" / f"{name}.tb.json")
    folder = name.removesuffix("/RUNDIR")
    spans: dict[str, list[Trace]] = {span: [] for span in said["distributed"]}
    for worker in said.pop("workers"):
        alone = f"{folder}/{worker['file'].removesuffix('.json.gz')}"
        trace = Trace(name, corpus, keys(corpus, alone), worker)
        assert trace.keys["span"] == str(worker["span"] or "default")
        spans[trace.keys["span"]].append(trace)
        # Of each worker it says what it says of its file alone, which is compared there.
        [other] = load(shared / "expected" / f"{alone}.tb.json")["workers"]
        assert {**worker, "span": None} == {**other, "span": None}
    pages = said["distributed"].items()
    tables = [table for span, page in pages for table in distributed.page(spans[span], page)]
    assert _unlisted(name, said, tables) == []


@pytest.mark.parametrize("name", DIFFS)
def test_of_a_diff_nothing_differs_but_what_is_listed(
    name: str, shared: Path, corpus: tracewh.Warehouse
) -> None:
    said = load(shared / "expected" / f"{name}.tb.json")
    folder = shared / "traces" / name.partition("/")[0]
    sides = []
    for side in said["inputs"]:
        assert side["ok"]
        [path] = folder.rglob(side["file"])
        trace = str(path.relative_to(shared / "traces")).removesuffix(".json.gz")
        sides.append(Trace(trace, corpus, keys(corpus, trace), side))
        assert sides[-1].keys["worker"] == side["worker"]
    baseline, experiment = sides
    assert _unlisted(name, said, diff.diff((baseline, experiment), said["diff"])) == []


def test_the_trace_that_is_not_compared_is_another_than_the_plugin_read(
    plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, of_trace = plugin(ANOTHER_FILE)
    [row] = corpus.sql(
        "SELECT t.events FROM traces AS t"
        " WHERE t.run = $run AND t.worker = $worker AND t.span = $span",
        of_trace,
    ).fetchall()
    assert (row[0], said["n_trace_events"]) == (34, 105167)


def test_every_line_of_the_file_is_of_a_trace_and_has_a_reason(shared: Path) -> None:
    file = listed()
    traces = {
        name.removeprefix("hta ").removeprefix("tracelens ")
        for name in file.listed
        if name != "lightning run" and not name.startswith("nsys ")
    }
    assert traces <= {*TRACES, *FOLDERS, *DIFFS}
    lines = [line for of_trace in file.listed.values() for line in of_trace]
    reasons = {reason for line in lines for reason in line.reason.split(",")}
    assert reasons == file.reasons.keys()
    assert all(len(set(of_trace)) == len(of_trace) for of_trace in file.listed.values())


def test_every_path_that_is_not_compared_is_in_a_file(shared: Path) -> None:
    there = {
        path for name in FILES for path in paths(load(shared / "expected" / f"{name}.tb.json"))
    }
    patterns = listed().not_compared
    assert [each for each in patterns if not any(is_path(path, each) for path in there)] == []


def _unlisted(name: str, said: Said, tables: Iterable[Table]) -> list[str]:
    """Differences that are not listed or do not occur, and figures that nothing compares."""
    found = problems(name, tables)
    paths = {
        path for path in unread(said) if not any(is_path(path, x) for x in listed().not_compared)
    }
    return found + [f"nothing compares {path}" for path in sorted(paths)]
