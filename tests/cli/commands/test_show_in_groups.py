"""`tracewh show` of many traces: the view runs on some after the others, and the rows are those of one query."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.conftest import Command, Rows
from tests.cli.report.conftest import data_of
from tests.cli.report.parts import panels_only
from tests.storage.test_captures import ingested
from tracewh.views import trace_groups
from tracewh.views.warehouse import Warehouse

Write = Callable[..., Path]
Tasks = list[frozenset[tuple[str, str, str]]]

EVENTS = ("TASK_EVENTS", "UNSORTED_TASK_EVENTS")


def write(path: Path, make_trace: Callable[..., Rows], write_trace: Write) -> Path:
    lengths = iter((300, 700, 100, 500, 900, 200, 800, 400))
    for run in ("b", "a"):
        for worker, span in (("2", "1"), ("10", "1"), ("1", "2"), ("1", "1")):
            rows = make_trace(run, kernel_ns=next(lengths), memory=True)
            rows["traces"][0]["hostname"] = "host"
            if (run, worker) == ("b", "2"):
                del rows["traces"][0]["events"]  # then it counts as empty
            write_trace(path, rows, run, worker, span)
    return path


@pytest.fixture(scope="module")
def many(
    tmp_path_factory: pytest.TempPathFactory,
    make_trace: Callable[..., Rows],
    write_trace: Write,
) -> Path:
    """Two runs of three workers, of which one was recorded twice. Each has a kernel of another length.

    Tests must not change it.
    """
    return write(tmp_path_factory.mktemp("many") / "wh", make_trace, write_trace)


@pytest.fixture(scope="module")
def two(many: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workers of a run, for views that take long to plan. Tests must not change it."""
    warehouse = tmp_path_factory.mktemp("two") / "wh"
    for worker in ("2", "10"):
        part = f"data/run=a/worker={worker}"
        shutil.copytree(many / part, warehouse / part)
    return warehouse


@pytest.fixture
def copied(many: Path, tmp_path: Path) -> Path:
    """A copy, of which tests damage a trace."""
    return shutil.copytree(many, tmp_path / "wh")


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that replays a graph, and one that captured it. Tests must not change it."""
    return ingested(tmp_path_factory.mktemp("captured"))


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Tasks:
    """The traces of the tasks of the last call; each group is a task of its own."""
    for name in EVENTS:
        monkeypatch.setattr(trace_groups, name, 1)
    last: Tasks = []
    divided = trace_groups._divided

    def note(*arguments: Any) -> Tasks:
        last[:] = divided(*arguments)
        return last

    monkeypatch.setattr(trace_groups, "_divided", note)
    return last


@contextmanager
def one_query() -> Iterator[None]:
    """Within the context, all traces are one task."""
    with pytest.MonkeyPatch.context() as patch:
        for name in EVENTS:
            patch.setattr(trace_groups, name, 1_000)
        yield


@pytest.mark.parametrize(
    ("view", "groups"),
    [
        ("gpu_time", 8),  # in the order of the traces
        ("kernel_type_breakdown", 8),  # in another order
        ("operator_calls", 8),  # has JSON
        ("memory_events", 8),
        ("queue_length", 8),
        ("kernel_stats", 6),  # one row for both recordings of a worker
        ("topology", 6),
        ("workers", 2),
        ("runs", 8),  # combines rows of each trace
        ("trend --figure step_us", 8),
        ("diff_overview --baseline a --experiment b", 8),
        ("diff_kernels --baseline a --experiment a", 4),
    ],
)
def test_the_rows_are_those_of_one_query(
    tracewh: Command, many: Path, tasks: Tasks, view: str, groups: int
) -> None:
    compare(tracewh, many, tasks, view, groups)


@pytest.mark.parametrize("view", ["recommendations", "trace_quality", "verdict", "what_if"])
def test_the_rows_of_a_large_view_are_those_of_one_query(
    tracewh: Command, two: Path, tasks: Tasks, view: str
) -> None:
    """All combine rows of each trace but what_if, which has a map."""
    compare(tracewh, two, tasks, view, 2)


def compare(tracewh: Command, warehouse: Path, tasks: Tasks, view: str, groups: int) -> None:
    options = (*view.split(), "--format", "json", "-w", warehouse)
    found = tracewh("show", *options)
    assert (found.code, found.err, len(tasks)) == (0, "", groups)
    with one_query():
        whole = tracewh("show", *options)
    assert tasks == []
    assert found.out == whole.out
    assert found.out.count("\n") > 2


def test_a_table_shows_the_first_rows_and_counts_all(
    tracewh: Command, many: Path, tasks: Tasks
) -> None:
    for options in ((), ("--sort", "busy_us")):
        found = tracewh("show", "gpu_time", "--limit", "3", *options, "-w", many)
        assert len(tasks) == 8
        assert found.err == "tracewh: 3 of 8 rows; --limit 0 shows all, --limit N more\n"
        with one_query():
            assert (
                found.out == tracewh("show", "gpu_time", "--limit", "3", *options, "-w", many).out
            )


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        (("gpu_time", "--run", "a"), 4),
        (("gpu_time", "--worker", "1"), 4),
        (("gpu_time", "--run", "a", "--worker", "10"), 0),
        (("kernel_stats", "--run", "a", "--worker", "1"), 0),
        (("kernel_stats", "--worker", "1"), 2),
        (("kernel_stats", "--span", "2"), 2),
        (("kernel_stats", "--combine-workers"), 2),
        (("kernel_stats", "--combine-workers", "--run", "a"), 0),
        (("diff_modules", "--baseline", "a", "--experiment", "b"), 0),
        (("diff_kernels", "--baseline", "a", "--experiment", "b", "--block", "/"), 0),
        (("step_breakdown",), 0),  # reads no events
        (("recommendations", "--run", "a", "--worker", "10"), 0),
        (("diff_kernels", "--baseline", "a", "--experiment", "b", "--baseline-worker", "1"), 0),
    ],
)
def test_one_group_is_one_query(
    tracewh: Command, many: Path, tasks: Tasks, options: tuple[str, ...], groups: int
) -> None:
    assert tracewh("show", *options, "-w", many).code == 0
    assert len(tasks) == groups


def test_why_there_are_no_rows_is_found_in_groups_too(
    tracewh: Command, many: Path, tasks: Tasks
) -> None:
    """What the traces lack is what trace_quality says, which combines the rows of each trace."""
    found = tracewh("show", "graph_replays", "--run", "a", "-w", many)
    assert (found.out, len(tasks)) == ("", 4)
    assert "a/1/1, a/1/2, a/10/1 and 1 more: No graph was launched" in found.err
    with one_query():
        assert found == tracewh("show", "graph_replays", "--run", "a", "-w", many)


def test_a_task_has_several_groups_in_order(
    tracewh: Command, many: Path, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_groups, "TASK_EVENTS", 10)  # each trace has 4
    found = tracewh("show", "gpu_time", "--format", "csv", "-w", many)
    keys = [tuple(line.split(",")[:3]) for line in found.out.splitlines()[1:]]
    assert keys == sorted(keys) and len(keys) == 8
    assert [sorted(each) for each in tasks] == [keys[:2], keys[2:5], keys[5:]]


@pytest.mark.parametrize(("view", "groups"), [("gpu_time", 8), ("kernel_stats", 0)])
def test_a_view_that_sorts_no_events_has_larger_tasks(
    tracewh: Command,
    many: Path,
    tasks: Tasks,
    monkeypatch: pytest.MonkeyPatch,
    view: str,
    groups: int,
) -> None:
    monkeypatch.setattr(trace_groups, "UNSORTED_TASK_EVENTS", 1_000)
    assert tracewh("show", view, "-w", many).code == 0
    assert len(tasks) == groups


def test_parts_share_the_memory_and_what_is_cached_stays(many: Path) -> None:
    with Warehouse(many) as warehouse:
        warehouse.limit_memory(2_500)
        threads, memory = warehouse.limits()
        assert warehouse.most_parts(1_000) == min(threads, 2)
        assert warehouse.most_parts(5_000) == 1
        with warehouse.part(2) as part:
            half_threads, half_memory = part.limits()
        assert half_threads == max(threads // 2, 1)
        assert half_memory == pytest.approx(
            memory / 2, rel=0.1
        )  # DuckDB reports one decimal of GiB
        cleared: list[object] = []
        warehouse._block_cache.clear = lambda: cleared.append(1)  # type: ignore[method-assign]
        names = warehouse.names()
        assert sum(warehouse.events(names).values()) == 4 * 7
        warehouse.select(lambda keys: keys[0] == "a")
        assert set(warehouse.events(names[:4])) == set(names[:4])
        assert len(cleared) == 1  # by the selection
        assert set(warehouse.events(names[:2])) == set(names[:2])
        assert set(warehouse.events(names[:4])) == set(names[:4])


def test_of_many_traces_some_are_counted(
    tracewh: Command, many: Path, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third of 8: a/1/1 and a/2 have 4 events, b/10 too. Then all have 4, and a task of 10 holds two."""
    monkeypatch.setattr(trace_groups, "MOST_COUNTED", 3)
    monkeypatch.setattr(trace_groups, "TASK_EVENTS", 10)
    counted: list[list[tuple[str, str, str]]] = []
    events = Warehouse.events

    def note(self: Warehouse, traces: Any) -> Any:
        counted.append(list(traces))
        return events(self, counted[-1])

    monkeypatch.setattr(Warehouse, "events", note)
    found = tracewh("show", "gpu_time", "--format", "csv", "-w", many)
    assert counted == [[("a", "1", "1"), ("a", "2", "1"), ("b", "10", "1")]]
    assert [len(each) for each in tasks] == [2, 2, 2, 2]
    assert found.out.count("\n") == 9


def test_without_memory_for_several_tasks_they_run_one_by_one(
    tracewh: Command, many: Path, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that fails beside another for want of memory runs again, alone."""
    parts: list[int] = []
    part, view = Warehouse.part, Warehouse.view

    def counted(self: Warehouse, number: int) -> Warehouse:
        parts.append(number)
        return part(self, number)

    def fails(self: Warehouse, *names: Any, **arguments: Any) -> Any:
        if parts[-1] > 1:
            raise duckdb.OutOfMemoryException("too large")
        return view(self, *names, **arguments)

    monkeypatch.setattr(Warehouse, "part", counted)
    monkeypatch.setattr(Warehouse, "most_parts", lambda self, least: 3)
    monkeypatch.setattr(Warehouse, "view", fails)
    found = tracewh("show", "gpu_time", "--format", "csv", "-w", many)
    assert (found.code, found.out.count("\n"), parts) == (0, 9, [3, 3, 3, 1])


def test_a_task_that_fails_ends_all(
    tracewh: Command, copied: Path, tasks: Tasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    [damaged] = copied.glob("data/run=a/worker=10/*/device_events.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-9])
    found = tracewh("show", "gpu_time", "-w", copied)
    with one_query():
        assert found == tracewh("show", "gpu_time", "-w", copied)
    assert found.code == 1 and "a/10/1 is damaged: device_events.parquet" in found.err
    assert [*folder.iterdir()] == []
    # Whoever asks for others is not told.
    assert tracewh("show", "gpu_time", "--run", "b", "-w", copied).code == 0
    assert len(tasks) == 4


def test_a_view_that_rejects_an_argument(tracewh: Command, many: Path, tasks: Tasks) -> None:
    found = tracewh("show", "kernel_stats", "--group-by", "colour", "-w", many)
    assert len(tasks) == 6
    with one_query():
        assert found == tracewh("show", "kernel_stats", "--group-by", "colour", "-w", many)
    assert found.code == 2


def test_a_damaged_list_of_events_is_not_needed(
    tracewh: Command, copied: Path, tasks: Tasks
) -> None:
    """How many events a trace has is in traces.parquet, which gpu_time does not read."""
    [damaged] = copied.glob("data/run=a/worker=10/*/traces.parquet")
    damaged.write_bytes(b"PAR1")
    assert tracewh("show", "gpu_time", "-w", copied).code == 0


def test_a_run_and_the_captures_of_its_graphs_are_one_group(
    tracewh: Command, captured: Path, tmp_path: Path, tasks: Tasks
) -> None:
    """Their names are not next to each other: 'serve' < 'serve-2' < 'serve/capture_traces'."""
    warehouse = shutil.copytree(captured, tmp_path / "wh")
    assert tracewh("link-captures", "serve", "warmup", "-w", warehouse).code == 0
    shutil.copytree(warehouse / "data/run=warmup", warehouse / "data/run=serve-2")
    for view in ("operator_stats", "graph_replays"):
        found = tracewh("show", view, "--format", "csv", "-w", warehouse)
        assert [{run for run, _, _ in each} for each in tasks] == [
            {"serve", "serve/capture_traces"},
            {"serve-2"},
            {"warmup"},
        ]
        with one_query():
            assert found == tracewh("show", view, "--format", "csv", "-w", warehouse)
    assert tasks == []


def test_notes_are_those_of_all_traces(
    tracewh: Command, captured: Path, tmp_path: Path, tasks: Tasks
) -> None:
    """Graphs that were captured before the recording began."""
    warehouse = shutil.copytree(captured, tmp_path / "wh")
    shutil.copytree(warehouse / "data/run=serve", warehouse / "data/run=serve-2")
    found = tracewh("show", "operator_stats", "-w", warehouse)
    assert len(tasks) == 3
    assert [line.split(": ")[1] for line in found.err.splitlines()] == [
        "serve/w/default",
        "serve-2/w/default",
    ]
    with one_query():
        assert found == tracewh("show", "operator_stats", "-w", warehouse)


def test_a_report_holds_the_verdicts_of_groups(
    tracewh: Command, two: Path, tasks: Tasks, tmp_path: Path
) -> None:
    """Its queries are confined to the warehouse, and these rows lie in a temporary folder."""
    page = tmp_path / "report.html"
    with panels_only():
        assert tracewh("report", "a", "-o", page, "-w", two).code == 0
    assert len(tasks) == 2
    of_page, other = data_of(page)["screens"]
    assert (of_page["worker"], other["worker"]) == ("10", "2")
    with one_query():
        rows = tracewh("show", "verdict", "--run", "a", "--format", "json", "-w", two).json
    found = [[*row.values()][3:] for row in rows if row["worker"] == "2"]
    assert found and other["verdict"] == [list(column) for column in zip(*found, strict=True)]
