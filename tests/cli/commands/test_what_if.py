"""what-if: one screen with what steps would take, for people; the rows of the view, for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tracewh.cli.commands import what_if

# The host takes half: the launch is 100 ns in, the kernel starts 200 ns later, as recorded, and ends at 800.
PAGE = """\
run base  worker host_1  span default

With 'host x0.5' a step takes 0.8 us instead of 1.0 us (-20 %), limited by the device.
The trace explains all of the step: nothing unexplained was kept.

Steps
step    host  new_host  drained  new_drained  change  unexplained  limited_by
----  ------  --------  -------  -----------  ------  -----------  ----------
   7  1.0 us    0.5 us   1.0 us       0.8 us   -20 %            0  device
mean  1.0 us    0.5 us   1.0 us       0.8 us   -20 %            0  device

host: length of the step on its thread. drained: time until the work of the step is done, on its
thread and on the device, from when that of the step before was.
"""


def test_a_page(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("what-if", "base", "host x0.5")
    assert (done.code, done.err) == (0, "")
    assert done.out.replace("─", "-") == PAGE


def test_steps_that_do_not_fit_are_counted(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(what_if, "MOST_STEPS", 0)
    lines = tracewh("what-if", "base", "host x0.5").out.splitlines()
    assert "1 more step; --format csv prints every step" in lines


def test_a_change_of_devices_names_nothing_on_the_host(tracewh: Command, warehouse: Path) -> None:
    """A trace may be full of the collectives of Gloo, which run on the host: that none is found needs a reason."""
    done = tracewh("what-if", "base", "collectives free")
    assert done.err == (
        "tracewh: warning: 'collectives free' names nothing in this trace; those on the host are not replayed\n"
    )


def test_what_names_nothing_names_the_view_that_lists_the_names(
    tracewh: Command, warehouse: Path
) -> None:
    views = {
        'kernels LIKE "no such" free': "kernel_stats",
        'operators LIKE "no such" free': "operator_stats",
        "module /encoder x0.5": "module_stats",
        "line train.py:1 x0.5": "source_lines",
    }
    assert tracewh("what-if", "base", *views).err == "".join(
        f"tracewh: warning: '{change}' names nothing in this trace; `tracewh show {view}` lists the names\n"
        for change, view in views.items()
    )


def test_several_changes(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("what-if", "base", 'kernels LIKE "%gemm%" x2', "host x0.5", "loader free")
    assert done.err == "tracewh: warning: 'loader free' names nothing in this trace\n"
    lines = done.out.splitlines()
    assert lines[2] == (
        "With all 3 changes a step takes 1.3 us instead of 1.0 us (+30 %), limited by the device."
    )
    start = lines.index("Each change alone")
    # A shorter step has a minus, so it is no gain.
    assert lines[start + 1].split() == ["change", "step", "effect", "unexplained", "limited_by"]
    assert [line.split() for line in lines[start + 3 : start + 7]] == [
        ["kernels", "LIKE", '"%gemm%"', "x2", "1.4", "us", "+40", "%", "0", "device"],
        ["host", "x0.5", "0.8", "us", "-20", "%", "0", "device"],
        ["loader", "free", "1.0", "us", "0", "%", "0", "host"],
        ["all", "together", "1.3", "us", "+30", "%", "0", "device"],
    ]


def test_nothing_changes(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("what-if", "base", "collectives free")
    assert done.out.splitlines()[2] == ("With 'collectives free' a step takes 1.0 us, as recorded.")


def test_without_steps_it_is_about_the_recording(tracewh: Command, tmp_path: Path) -> None:
    mm = {"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 1, "tid": 1, "ts": 0, "dur": 2}
    logs = tmp_path / "logs" / "run" / "a.json"
    logs.parent.mkdir(parents=True)
    logs.write_text(json.dumps({"traceEvents": [mm]}))
    assert tracewh("ingest", tmp_path / "logs", "-w", tmp_path / "wh").code == 0
    done = tracewh("what-if", "run", "host x0.5", "-w", tmp_path / "wh")
    assert done.out.splitlines()[2:] == [
        "With 'host x0.5' the recording takes 1.0 us instead of 2.0 us (-50 %), limited by the host.",
        "The trace explains all of the recording: nothing unexplained was kept.",
    ]


def test_a_later_step_makes_up_for_what_is_unexplained(tracewh: Command, tmp_path: Path) -> None:
    """The second kernel starts 0.5 us late, and no call waits for it: the thread works on for 20 us."""
    host = [
        ("user_annotation", "ProfilerStep#1", 0, 6, 0),
        ("cuda_runtime", "cudaLaunchKernel", 1, 1, 1),
        ("cuda_runtime", "cudaLaunchKernel", 2, 1, 2),
        ("user_annotation", "ProfilerStep#2", 6, 34, 0),
        ("cuda_runtime", "cudaLaunchKernel", 6, 1, 3),
        ("cuda_runtime", "cudaLaunchKernel", 7, 1, 4),
        ("cpu_op", "aten::mm", 8, 32, 0),
    ]
    device = [
        ("kernel", "a", 4, 10, 1),
        ("kernel", "b", 14.5, 5.5, 2),
        ("kernel", "c", 20, 1, 3),
        ("kernel", "d", 21, 1, 4),
    ]
    events = [
        {
            "ph": "X",
            "cat": category,
            "name": name,
            "pid": pid,
            "tid": 7,
            "ts": 1000 + start,
            "dur": duration,
            "args": {"correlation": call} | ({"device": 0, "stream": 7} if pid == 0 else {}),
        }
        for pid, rows in ((1, host), (0, device))
        for category, name, start, duration, call in rows
    ]
    file = tmp_path / "logs" / "late" / "w.pt.trace.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"traceEvents": events}))
    at = tmp_path / "warehouse"
    assert tracewh("ingest", tmp_path / "logs", "-w", at).code == 0
    lines = tracewh("what-if", "late", "loader x0.5", "-w", at).out.splitlines()
    assert lines[2:5] == [
        "With 'loader x0.5' a step takes 20 us, as recorded.",
        "The trace does not explain all of one step; this is kept as recorded. Without it the mean step would",
        "take as long.",
    ]
    assert [line.split()[-3:-1] for line in lines[-6:-3]] == [["0.5", "us"], ["%", "0"], ["%", "0"]]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_page_is_as_wide_as_the_terminal(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = tracewh("what-if", "base", 'operators LIKE "aten::%" x0.5', "host x0.5", "device free")
    assert max(map(len, done.out.splitlines())) <= columns
    assert ("new_host" in done.out.replace("\n", " ")) == (columns > 60)
    assert done.out.count("limited_") == 2


def test_rows_for_programs(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("what-if", "base", "host x0.5", "device free", "--format", "json")
    assert [(row["number"], row["changed"], row["is_mean"]) for row in done.json] == [
        (0, "host x0.5, device free", False),
        (1, "host x0.5", False),
        (2, "device free", False),
        (0, "host x0.5, device free", True),
        (1, "host x0.5", True),
        (2, "device free", True),
    ]
    assert tracewh("what-if", "base", "device free", "--format", "csv").out.count("\n") == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["base"], "missing argument 'CHANGE'\nTry 'tracewh what-if --help'.\n"),
        (["bas", "host free"], "no run named 'bas'; did you mean 'base'?\n"),
        (
            ["base", "loader free", "host 2"],
            "cannot read the change 'host 2': it must end with free, or with x and a factor, such as x0.5\n",
        ),
    ],
)
def test_errors(tracewh: Command, warehouse: Path, words: list[str], message: str) -> None:
    for more in ([], ["--format", "csv"]):
        done = tracewh("what-if", *words, *more)
        assert (done.code, done.out, done.err) == (2, "", f"tracewh: {message}")
