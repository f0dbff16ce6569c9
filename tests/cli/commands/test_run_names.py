"""Every command that takes a run takes a part of its name that no other run has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tracewh as python
from tests.cli.conftest import Command, Done, Rows
from tests.cli.report.parts import panels_only
from tracewh.views import ViewError
from tracewh.views.listing import Listing
from tracewh.views.warehouse import Warehouse

RUNS = ("v100_2021/workers_0", "v100_2021/workers_4")
AMBIGUOUS = f"'*workers*' matches 2 runs; name one:\n  {RUNS[0]}\n  {RUNS[1]}"
UNKNOWN = "no run named 'wrkers_4'; did you mean 'v100_2021/workers_4' or 'v100_2021/workers_0'?"


@pytest.fixture
def two(
    tmp_path: Path,
    write_trace: Callable[..., Path],
    make_trace: Callable[..., Rows],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A warehouse of two runs, whose names are long."""
    for run in RUNS:
        write_trace(tmp_path / "wh", make_trace(run), run.replace("/", "%2F"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRACEWH_WAREHOUSE", "wh")
    return tmp_path / "wh"


COMMANDS = [
    "show step_breakdown --run {}",
    "show step_breakdown --engine spark --run {}",
    "show diff_kernels --baseline {} --experiment workers_0",
    "show diff_kernels --baseline workers_0 --experiment {}",
    "diff {} workers_0",
    "diff workers_0 {}",
    "report {} -o page.html",
    "report workers_0 --baseline {} -o page.html",
    "export {} -o trace.json",
    "check {}",
    "compact {}",
    "drop {} --yes",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("name", "message"), [("*workers*", AMBIGUOUS), ("wrkers_4", UNKNOWN)])
def test_a_name_that_is_none_is_refused(
    tracewh: Command, two: Path, command: str, name: str, message: str
) -> None:
    words = [word.format(name) for word in command.split()]
    assert tracewh(*words) == Done(2, "", f"tracewh: {message}\n")
    assert {path.name for path in two.parent.iterdir()} == {"wh"}
    assert len(list(two.glob("data/*/*/*/traces.parquet"))) == 2


@pytest.mark.parametrize("name", ["workers_4", "_4", "*_4", RUNS[1]])
def test_show(tracewh: Command, two: Path, name: str) -> None:
    done = tracewh("show", "step_breakdown", "--run", name, "--format", "json")
    assert [row["run"] for row in done.json] == [RUNS[1]]


def test_diff(tracewh: Command, two: Path) -> None:
    page = tracewh("diff", "workers_4", "workers_0", "--format", "json").json
    assert (page["baseline"], page["experiment"]) == (RUNS[1], RUNS[0])


def test_report(tracewh: Command, two: Path) -> None:
    words = ["workers_4", "--baseline", "workers_0", "--worker", "*", "--span", "*"]
    with panels_only("steps"):
        done = tracewh("report", *words)
    assert done.code == 0
    assert f"run {RUNS[1]}, worker host_1, span default" in done.err
    assert RUNS[0] in Path("report.html").read_text()


def test_export(tracewh: Command, two: Path) -> None:
    done = tracewh("export", "workers_4", "-o", "trace.json", "--worker", "host_*")
    assert "worker host_1, span default" in done.err


def test_check(tracewh: Command, two: Path) -> None:
    assert tracewh("check", "workers_4").err.startswith("tracewh: 1 trace, ")


def test_compact(tracewh: Command, two: Path) -> None:
    assert tracewh("compact", "workers_4").err == (
        f"tracewh: nothing to compact in run {RUNS[1]!r} (1 trace): it has one trace\n"
    )


def test_drop(tracewh: Command, two: Path) -> None:
    done = tracewh("drop", "workers_4", "--worker", "*", "--yes")
    assert done.err == f"removed 1 trace of run {RUNS[1]!r}\n"
    assert [folder.name for folder in two.glob("data/*/*")] == ["worker=host_1"]


@pytest.mark.parametrize("as_listing", [False, True])
def test_python(two: Path, as_listing: bool) -> None:
    with Warehouse(Listing.of(two)) if as_listing else python.open(two) as warehouse:
        for rows in (
            warehouse.view("step_breakdown", run="workers_4"),
            warehouse.step_breakdown(run="workers_4", worker="_1"),
            warehouse.step_breakdown(run=RUNS[1]),
        ):
            assert rows.project("run").fetchall() == [(RUNS[1],)]
        for name, message in (("*workers*", AMBIGUOUS), ("wrkers_4", UNKNOWN)):
            with pytest.raises(ViewError) as caught:
                warehouse.step_breakdown(run=name)
            assert str(caught.value) == message


def test_sql_compares_whole_names(tracewh: Command, two: Path) -> None:
    rows = "SELECT run FROM step_breakdown(run := '{}')"
    assert tracewh("query", rows.format("workers_4"), "--format", "json").json == []
    assert len(tracewh("query", rows.format(RUNS[1]), "--format", "json").json) == 1
