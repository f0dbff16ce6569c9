"""summary: one screen with the verdict of a trace, for people; the rows of the view, for programs."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Rows
from tests.cli.report.parts import panels_only
from tests.conftest import made_once
from tests.copied import OpenWarehouse
from tests.views.drawn_jobs import Drawing, write_csv
from tracewh import ingest

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
#: The page of the run 'base' in a file, 100 columns wide.
PAGE = """\
run base  worker host_1  span default  2023-11-14  1 x NVIDIA A100, 1 step

1.0 us per step, GPU 50 % busy. No check found lost time.
With launches that take no time a step would take 0.95 us instead of 1.0 us (-5.0 %).

Step time              1.0 us  one step, 1000000 steps per second
GPU busy                 50 %  SM efficiency 50 %
Host alone             0.3 us  30 % of the step, with the GPU idle
Tensor cores            100 %  of kernel time
Exposed communication    none  no collective was recorded
Peak memory                 -  record with profile_memory=True

Average step, 1.0 us
{bar}
K kernels 0.5 us   R runtime calls 0.05 us   O operators 0.25 us   . nothing recorded 0.2 us

Next
  tracewh show step_breakdown_summary --run base
  tracewh show recommendations --run base
  tracewh report base -o report.html
""".format(bar="K" * 50 + "R" * 5 + "O" * 25 + "." * 20)


def bare(text: str) -> str:
    """A text without its escape sequences."""
    return ESCAPE.sub("", text)


@pytest.fixture
def runs(tmp_path: Path, write_trace: Callable[..., Path], make_trace: Callable[..., Rows]) -> Path:
    """A warehouse of its own: two ranks with two recordings each, and a newer run with a blank in its name.

    Its device has a name with control characters.
    """
    folder = tmp_path / "wh"
    for worker in ("host_1", "host_2"):
        for span in ("1", "2"):
            write_trace(folder, make_trace("pair"), "pair", worker, span)
    newest = make_trace("newest run", memory=True)
    newest["traces"][0]["start_ns"] += 10**9
    newest["traces"][0]["end_ns"] += 10**9
    newest["devices"][0]["name"] = "GPU \x1b[31m"
    write_trace(folder, newest, "newest run")
    return folder


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of two recordings of a training run on a GPU."""

    def fill(folder: Path) -> None:
        run = shared / "traces" / "v100_resnet50_2021" / "resnet50_num_workers_0"
        ingest([run], folder / "warehouse")

    return made_once(tmp_path_factory, "summary", fill) / "warehouse"


@pytest.fixture
def open_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands of a test share a warehouse: they write the same rows in several ways."""
    monkeypatch.setattr("tracewh.open", functools.cache(OpenWarehouse))


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard output a terminal with colors; the test calls it, since pytest replaces the output then."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_page_in_a_pipe(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("summary", "base")
    assert (done.code, done.err) == (0, "")
    assert done.out == PAGE
    assert done.out.isascii()


def test_the_newest_run_is_the_default(tracewh: Command, runs: Path) -> None:
    done = tracewh("summary", "-w", runs)
    assert done.out.startswith("run newest run  worker host_1  span default  2023-11-14  ")
    assert "more trace" not in done.out
    assert "\x1b" not in done.out
    assert f"\n  tracewh report 'newest run' -w {runs} -o report.html\n" in done.out


def test_the_newest_run_is_the_default_of_a_report(
    tracewh: Command, runs: Path, tmp_path: Path
) -> None:
    with panels_only("steps", has_verdict=False):
        done = tracewh("report", "-w", runs, "-o", tmp_path / "page.html")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(" MB: run newest run, worker host_1, span default\n")


def test_one_of_several_traces(tracewh: Command, runs: Path) -> None:
    done = tracewh("summary", "pair", "-w", runs)
    first, more, *_ = done.out.splitlines()
    assert first.startswith("run pair  worker host_1  span 1  ")
    assert more == "3 more traces in this run: choose with --worker and --span"
    assert f"--run pair --worker host_1 --span 1 -w {runs}\n" in done.out
    done = tracewh("summary", "pair", "--worker", "host_2", "--span", "2", "-w", runs)
    assert done.out.startswith("run pair  worker host_2  span 2  ")


@pytest.mark.usefixtures("open_once")
def test_a_page_on_a_terminal(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_terminal(monkeypatch)
    done = tracewh("summary", "base")
    lines, piped = done.out.splitlines(), PAGE.splitlines()
    assert lines[0] == f"\x1b[2m{piped[0]}\x1b[0m"
    assert lines[2] == f"\x1b[1m{piped[2]}\x1b[0m"
    assert lines[5] == (
        "Step time              \x1b[1m1.0 us\x1b[0m  one step, 1000000 steps per second"
    )
    parts = {33: 50, 244: 5, 35: 25, 250: 20}
    assert lines[13] == "".join(f"\x1b[38;5;{c}m{'█' * n}\x1b[0m" for c, n in parts.items())
    assert lines[14].startswith("\x1b[38;5;33m■\x1b[0m kernels 0.5 us   \x1b[38;5;244m■\x1b[0m ")
    same = [*range(13), *range(15, len(piped))]
    assert [bare(lines[n]) for n in same] == [piped[n] for n in same]
    monkeypatch.setenv("NO_COLOR", "1")
    assert tracewh("summary", "base").out == PAGE


@pytest.fixture(scope="module")
def opened(real: Path) -> OpenWarehouse:
    return OpenWarehouse(real)


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_page_is_as_wide_as_the_terminal(
    tracewh: Command,
    real: Path,
    opened: OpenWarehouse,
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
) -> None:
    monkeypatch.setattr("tracewh.open", {str(real): opened}.__getitem__)
    use_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    done = tracewh("summary", "-w", real)
    page, commands = bare(done.out).split("\nNext\n")
    # Each finding names a command that works as it is. It is not broken, and may be wider.
    seen = re.findall(r"\n *see: (.*)", page)
    trace = re.escape(f"--run resnet50_num_workers_0 --span 1 -w {real}")
    assert seen
    assert all(re.fullmatch(rf"tracewh show \w+ {trace}", command) for command in seen), seen
    page = re.sub(r"\n *see: .*", "", page)
    widest = max(map(len, page.splitlines()))
    assert columns - 10 <= widest <= columns or (columns, widest) == (120, 110)
    assert not re.search(r"[0-9]\n *(%|us|ms|s|steps)\b", page)
    assert all(line.startswith("  tracewh ") for line in commands.splitlines())
    assert "The data loader costs 59 ms of every step (33 %): it has no workers." in re.sub(
        r"\s+", " ", page
    )
    # The gain of a replay.
    sentence = re.sub(r"\s+", " ", page.split("\n\n")[1])
    assert sentence.endswith(
        ". With a free data loader a step would take 119 ms instead of 178 ms (-33 %); the trace leaves "
        "<0.1 % of the step unexplained."
    )
    assert "Without it, " not in page


@pytest.mark.usefixtures("open_once")
def test_rows_for_programs(tracewh: Command, warehouse: Path, tmp_path: Path) -> None:
    done = tracewh("summary", "base", "--format", "json")
    shown = tracewh("show", "verdict", "--run", "base", "--format", "json")
    assert done.json == shown.json
    assert [row["part"] for row in done.json] == ["headline", *["card"] * 6]
    done = tracewh("summary", "base", "-o", tmp_path / "page.txt")
    assert (done.out, (tmp_path / "page.txt").read_text()) == ("", PAGE)


def test_a_trace_without_anything(
    tracewh: Command, tmp_path: Path, write_trace: Callable[..., Path]
) -> None:
    write_trace(tmp_path / "wh", {"traces": [{"events": 0}]}, "void")
    done = tracewh("summary", "-w", tmp_path / "wh")
    assert done.code == 0
    assert done.out.splitlines()[:5] == [
        "run void  worker host_1  span default",
        "",
        "Nothing was recorded that takes time.",
        "",
        "Recording         -  no steps; record with a schedule, and call prof.step() after each iteration",
    ]
    assert "Whole recording" not in done.out


def test_a_trace_of_another_program(tracewh: Command, tmp_path: Path) -> None:
    """It has no bar, which would be of one color, and no advice."""
    events = [
        {"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur}
        for name, tid, ts, dur in [
            ("serve", 1, 0, 1000),
            ("infer", 1, 100, 700),
            ("log", 2, 0, 200),
        ]
    ]
    (tmp_path / "job.json").write_text(json.dumps({"traceEvents": events}))
    ingest([tmp_path / "job.json"], tmp_path / "wh", run="job")
    done = tracewh("summary", "-w", tmp_path / "wh")
    assert done.out.splitlines() == [
        "run job  worker job  span default",
        "",
        "1.0 ms recorded. Another program than the PyTorch profiler seems to have written this trace; infer",
        "takes the most time, 58 % of all events.",
        "",
        "Recording       1.0 ms  no steps",
        "Busiest thread   100 %  of the recording, thread 1, of 2 threads",
        "Busiest event     58 %  infer, of 3 events",
        "",
        "Next",
        f"  tracewh show range_stats --run job -w {tmp_path / 'wh'}",
        f"  tracewh show flamegraph --run job -w {tmp_path / 'wh'}",
        f"  tracewh report job -w {tmp_path / 'wh'} -o report.html",
    ]


@pytest.mark.usefixtures("open_once")
def test_a_table_without_events_has_no_cards(tracewh: Command, tmp_path: Path) -> None:
    ingest([write_csv(Drawing(), tmp_path / "job.csv")], tmp_path / "wh", run="job")
    done = tracewh("summary", "-w", tmp_path / "wh")
    about, sentence, commands = re.split("\n\n", done.out)
    assert about == "run job  worker job  span default"
    assert " per step. " in sentence
    assert commands.startswith("Next\n  tracewh show straggler_what_if --run job -w ")
    done = tracewh("summary", "-w", tmp_path / "wh", "--format", "json")
    assert [row["part"] for row in done.json] == ["headline"]


@pytest.mark.usefixtures("open_once")
def test_a_straggler_is_compared_with_a_worker_that_waits(
    tracewh: Command, tmp_path: Path, write_trace: Callable[..., Path]
) -> None:
    """The one that waits longest, or the one that is shown. Of two recordings, only the first has a straggler."""

    def write(worker: str, span: str, reduces_ns: int) -> None:
        step = {"step": 1, "event_id": 0, "start_ns": 0, "end_ns": 1000, "is_tail": False}
        step |= {"extended_start_ns": 0, "extended_end_ns": 1000}
        reduction = {"event_id": 1, "category": "user_annotation", "name": "gloo:all_reduce"}
        reduction |= {"pid": "1", "tid": "1", "start_ns": 0, "duration_ns": reduces_ns}
        rows = {"traces": [{"events": 2}], "steps": [step], "host_events": [reduction]}
        write_trace(tmp_path / "wh", rows, "job", worker, span)

    for worker, reduces_ns in (("a", 500), ("b", 900), ("the late", 100)):
        write(worker, "1", reduces_ns)
        write(worker, "2", 500)
    for worker, waiting in (("a", "a"), ("b", "b"), ("the late", "b")):
        words = ("summary", "job", "--worker", worker, "--span", "1", "-w", tmp_path / "wh")
        done = tracewh(*words)
        assert (
            f"\nNext\n  tracewh diff job job --baseline-worker {waiting} --experiment-worker 'the late'"
            f" --baseline-span 1 --experiment-span 1 -w {tmp_path / 'wh'}\n  tracewh show comm_wait "
        ) in done.out
    done = tracewh("summary", "job", "--span", "2", "-w", tmp_path / "wh")
    assert done.out.partition("\nNext\n")[2].startswith("  tracewh show ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bas"], "no run named 'bas'; did you mean 'base'?"),
        (["base", "--worker", "host_9"], "no worker named 'host_9'"),
        (["base", "--format", "html"], "--format: unknown format 'html'"),
    ],
)
def test_what_does_not_exist(
    tracewh: Command, warehouse: Path, words: list[str], message: str
) -> None:
    done = tracewh("summary", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
