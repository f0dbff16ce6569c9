"""tracewh diff: a page for a person, one for a pull request, all rows for a program, and an exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh as library
from tests.cli.conftest import Command, Done
from tracewh.cli.diff.comparison import Comparison
from tracewh.cli.diff.page import amount
from tracewh.sql_files import create_function

#: What each of four steps takes in us: loading data, then aten::mm with the kernel that it launches.
BEFORE = [(100, 50, 30), (101, 51, 31), (102, 52, 32), (103, 53, 33)]
AFTER = [(300, 50, 40), (301, 51, 41), (302, 52, 42), (303, 53, 43)]


def trace(steps: list[tuple[int, int, int]]) -> list[dict[str, Any]]:
    """Steps behind each other: the loader, then the operator, which launches the kernel."""
    events: list[dict[str, Any]] = []
    at = 1000
    for number, (loader, host, device) in enumerate(steps, start=1):

        def add(cat: str, name: str, start: int, length: int, **args: int) -> None:
            pid = 0 if cat == "kernel" else 7
            events.append(
                {
                    "ph": "X",
                    "cat": cat,
                    "name": name,
                    "pid": pid,
                    "tid": 7,
                    "ts": start,
                    "dur": length,
                    "args": args,
                }
            )

        add("user_annotation", f"ProfilerStep#{number}", at, loader + host + 50)
        add("user_annotation", "enumerate(DataLoader)#it.__next__", at, loader)
        add("cpu_op", "aten::mm", at + loader, host, **{"External id": number})
        add("cuda_runtime", "cudaLaunchKernel", at + loader + 5, 5, correlation=number)
        add("kernel", "gemm", at + loader + 10, device, correlation=number, device=0, stream=7)
        at += loader + host + 100
    return events


#: By warehouse, arguments, level and block.
_KNOWN: dict[str, Comparison] = {}


@pytest.fixture(autouse=True)
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same comparison is asked once, and printed many times: no test changes a warehouse."""
    query = Comparison.query

    def known(
        warehouse: library.Warehouse, arguments: dict[str, Any], alpha: float, block: str | None
    ) -> Comparison:
        key = repr((str(warehouse.path), sorted(arguments.items()), alpha, block))
        if key not in _KNOWN:
            _KNOWN[key] = query(warehouse, arguments, alpha, block)
        return _KNOWN[key]

    monkeypatch.setattr(Comparison, "query", known)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    for run, steps in (("before", BEFORE), ("after", AFTER), ("short", AFTER[:2])):
        path = folder / "logs" / run / "w.1.pt.trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": trace(steps)}), "utf-8")
    library.ingest(folder / "logs", folder / "wh")
    return folder


@pytest.fixture
def pair(ingested: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRACEWH_WAREHOUSE", str(ingested / "wh"))
    return ingested


def test_memory_has_the_units_of_the_summary() -> None:
    values = [
        0,
        1,
        1023,
        1024,
        102_348,
        102_350,
        -5_534_823,
        2**20,
        1_404_172_800,
        10**11,
        -(2**40),
    ]
    with duckdb.connect() as con:
        create_function(con, "as_bytes")
        texts = con.execute("SELECT as_bytes(v) FROM (SELECT unnest(?) AS v)", [values]).fetchall()
    assert [amount(value, "bytes") for value in values] == [text for (text,) in texts]


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (999.4, "999 us"),
        (-999.7, "-1 ms"),
        (999_400, "999 ms"),
        (999_700, "1 s"),
        (999.7e6, "1,000 s"),
        (12_345e6, "12,345 s"),
    ],
)
def test_a_time_has_the_unit_that_it_is_rounded_to(us: float, text: str) -> None:
    assert amount(us, "us") == text


def test_a_page_for_a_person(tracewh: Command, pair: Path) -> None:
    done = tracewh("diff", "before", "after")
    assert (done.code, done.err) == (0, "")
    assert done.out == PAGE


#: A step is 203 us on average before, and 403 after. Of the 51.5 us of mm the kernel has 31.5 and 41.5,
#: and the launch 5. The trace before is 962 us long, with 126 us of kernels and 406 us of loading in it;
#: after, 166 and 1206 of 1762 us.
PAGE = """\
99 % slower per step, significant; the data loader explains all of it.
after against before: 203 us to 403 us per step, 4 and 4 steps, p = 0.029

                                            baseline  experiment   difference
Step time                                     203 us      403 us      +200 us   +98.5 %  significant
  data loader                                 102 us      302 us      +200 us  +197.0 %  significant
  operators                                    15 us        5 us       -10 us   -66.7 %  significant
  kernels                                    31.5 us     41.5 us       +10 us   +31.7 %  significant
GPU utilization                               13.1 %       9.4 %  -3.7 points
time per aligned block (one trace per run)    962 us     1.76 ms      +800 us   +83.2 %
  DataLoader                                  406 us     1.21 ms      +800 us  +197.0 %
operators, whole recording (4 and 4 steps)
  aten::mm (device)                           126 us      166 us       +40 us   +31.7 %  significant
kernels, whole recording (4 and 4 steps)
  gemm                                        126 us      166 us       +40 us   +31.7 %  significant
"""


@pytest.mark.parametrize("experiment", ["after", "short"])
def test_a_page_is_no_wider_than_the_terminal(
    tracewh: Command, pair: Path, monkeypatch: pytest.MonkeyPatch, experiment: str
) -> None:
    """All figures are there at any width, and all words from 60 columns on."""
    piped = tracewh("diff", "before", experiment).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for columns in (40, 44, 48, 60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        page = tracewh("diff", "before", experiment).out
        assert max(map(len, page.splitlines())) <= columns
        table, of_file = (out.split("\n\n")[1] for out in (page, piped))
        assert (table == of_file) == (columns == 120), columns
        wanted = r"\S+" if columns >= 60 else r"[-+]?\d[\d.,]*"
        found, expected = (sorted(re.findall(wanted, out)) for out in (page, piped))
        assert found == expected, columns


def test_what_is_written_is_what_the_views_say(tracewh: Command, pair: Path) -> None:
    found = tracewh("diff", "before", "after", "--format", "json").json
    with library.open(pair / "wh") as warehouse:
        for key, view in (
            ("verdict", "diff_verdict"),
            ("steps", "diff_steps"),
            ("operators", "diff_operators"),
            ("kernels", "diff_kernels"),
        ):
            relation = warehouse.view(view, baseline="before", experiment="after")
            rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
            assert found[key] == rows
        relation = warehouse.diff_overview(baseline="before", experiment="after")
        [row] = relation.fetchall()
        assert found["overview"] == dict(zip(relation.columns, row, strict=True))
    assert [(row["name"], row["delta_us"]) for row in found["blocks"]] == [
        ("/", 800),
        ("DataLoader", 800),
        ("unknown", 0),
    ]
    assert (found["baseline"], found["experiment"], found["failed"]) == ("before", "after", [])


def test_markdown_is_a_table_and_more_to_unfold(tracewh: Command, pair: Path) -> None:
    done = tracewh("diff", "before", "after", "--format", "markdown", "--fail-if", "step_us > 5%")
    lines = done.out.splitlines()
    assert done.code == 4
    assert lines[0] == f"**{PAGE.splitlines()[0]}**"
    assert lines[2] == PAGE.splitlines()[1]
    assert lines[4].startswith("- :x: `step_us > 5%: ")
    tables = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in tables} == {7}
    assert sum(line.startswith("<details>") for line in lines) == lines.count("</details>") == 3


def test_two_kernels_never_look_alike_and_long_blocks_are_shortened(
    tracewh: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run, steps in (("before", BEFORE), ("after", AFTER)):
        events = trace(steps)
        for number, kernel in enumerate(event for event in events if event["cat"] == "kernel"):
            tile = "64x64" if number % 2 else "32x64"
            kernel["name"] = f"void cutlass::{'Kernel<' * 12}gemm_{tile}_32x6_tn_align8>(Params)"
        for block in (event for event in events if event["name"].startswith("enumerate")):
            block["name"] = f"## Call {'graph' * 20} ##"
        path = tmp_path / "logs" / run / "w.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": events}), "utf-8")
    library.ingest(tmp_path / "logs", tmp_path / "wh")
    diff = ("diff", "before", "after", "-w", tmp_path / "wh")
    pages = [tracewh(*diff, "--format", format).out for format in ("text", "markdown")]
    assert re.search(r"^  ## Call (graph)+\w*…\w*graph ##  ", pages[0], re.MULTILINE), pages[0]
    assert max(map(len, pages[0].splitlines())) <= 120
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for columns in ("60", "80"):
        monkeypatch.setenv("COLUMNS", columns)
        pages.append(tracewh(*diff).out)
    for page in pages:
        names = re.findall(r"^(?:  |\| `)(void\S*(?: \S*…)?\S*)", page, re.MULTILINE)
        assert len(names) == len(set(names)) == 2, page


def test_wide_characters_take_two_cells(
    tracewh: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run, steps in (("before", BEFORE), ("after", AFTER)):
        events = trace(steps)
        for kernel in (event for event in events if event["cat"] == "kernel"):
            kernel["name"] = "核" * 20
        path = tmp_path / "logs" / run / "w.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": events}), "utf-8")
    library.ingest(tmp_path / "logs", tmp_path / "wh")

    def lines() -> list[str]:
        # As wide as on a terminal.
        out = tracewh("diff", "before", "after", "-w", tmp_path / "wh").out
        return out.replace("核", "核 ").splitlines()

    heading, *rows = lines()[3:]
    end = heading.index("baseline") + len("baseline")
    assert [row for row in rows if "核" in row]
    assert {row[end - 1 : end + 2].strip() for row in rows if row[end:].strip()} <= {"s", "%"}
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for columns in (60, 80, 110):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert max(map(len, lines())) <= columns


def test_a_longer_recording_with_faster_steps(tracewh: Command, tmp_path: Path) -> None:
    """Ten steps with kernels of 20 us take longer than four with kernels of 30 us."""
    for run, steps in (("before", BEFORE), ("long", [(100 + n, 50, 20) for n in range(10)])):
        path = tmp_path / "logs" / run / "w.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": trace(steps)}), "utf-8")
    library.ingest(tmp_path / "logs", tmp_path / "wh")
    for runs, word in ((("before", "long"), "less"), (("long", "before"), "more")):
        page = tracewh("diff", *runs, "-w", tmp_path / "wh").out
        [gemm] = [line for line in page.splitlines() if line.startswith("  gemm")]
        assert gemm.endswith(f" %  significant, but {word} per step")
        assert re.search(r"^  outside of blocks  ", page, re.MULTILINE)
        assert "unknown" not in page
        # The last six steps take 204, 205, 206, 207, 208 and 209 us.
        [left] = [line for line in page.splitlines() if "steps that only one run has" in line]
        assert left.split()[6:10] == (
            ["0", "us", "1.24", "ms"] if word == "less" else ["1.24", "ms", "0", "us"]
        )
    # 126 us of kernels in 4 steps, and 200 us in 10.
    condition = "kernel_total_us[gemm] > 5%"
    judged = ("diff", "before", "long", "-w", tmp_path / "wh", "--fail-if", condition)
    done = tracewh(*judged)
    assert done.code == 4
    assert done.err == f"tracewh: {condition}: 126 us to 200 us, +58.7 % (4 and 10 steps)\n"
    assert tracewh(*judged, "--only-significant").code == 0  # significant is that a step has less


def test_a_run_does_not_differ_from_itself(tracewh: Command, pair: Path) -> None:
    done = tracewh(
        "diff", "before", "before", "--fail-if", "step_us > 0", "--fail-if", "kernel_us >= 0.1%"
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "A step takes as long as in the baseline."
    assert len(done.out.splitlines()) == 5  # and the lengths of a step


@pytest.mark.usefixtures("pair")
def test_what_was_chosen_of_a_run_is_named(tracewh: Command) -> None:
    done = tracewh("diff", "before", "after", "--experiment-worker", "w", "--baseline-span", "1")
    assert done.out.splitlines()[1].startswith(
        "after w against before 1: 203 us to 403 us per step"
    )


def test_one_block(tracewh: Command, pair: Path) -> None:
    """The third step: 102 us of loading before and 302 after, then 100 of which the kernel has 42."""
    page = tracewh("diff", "before", "after", "--block", "/ProfilerStep[3]").out
    rows = [re.split(r" {2,}", line.strip()) for line in page.splitlines()[-6:]]
    assert rows == [
        ["/ProfilerStep[3]", "204 us", "404 us", "+200 us", "+98.0 %"],
        ["DataLoader", "102 us", "302 us", "+200 us", "+196.1 %"],
        ["operators, /ProfilerStep[3]"],
        ["aten::mm (device)", "32 us", "42 us", "+10 us", "+31.2 %"],
        ["kernels, /ProfilerStep[3]"],
        ["gemm", "32 us", "42 us", "+10 us", "+31.2 %"],
    ]
    done = tracewh("diff", "before", "after", "--block", "/DataLoader")
    assert (done.code, done.out) == (2, "")
    assert (
        done.err == "tracewh: there is no block '/DataLoader'; diff_modules shows which there are\n"
    )


def test_only_what_is_significant(tracewh: Command, pair: Path) -> None:
    page = tracewh("diff", "before", "after", "--only-significant").out
    assert "data loader" in page and "aten::mm" in page and "not significant" not in page
    fail = ("--fail-if", "step_us > 5%")
    assert tracewh("diff", "before", "short", *fail).code == 4
    done = tracewh("diff", "before", "short", *fail, "--only-significant")
    assert done.code == 0
    assert "4 and 2 steps are too few to tell whether" in " ".join(done.out.split())
    # A figure that nothing tests is not let off.
    assert (
        tracewh(
            "diff", "before", "after", "--fail-if", "gpu_utilization_pct < 0", "--only-significant"
        ).code
        == 4
    )


def test_conditions(tracewh: Command, pair: Path) -> None:
    """Each is judged by itself; those that hold are named in the order in which they are given."""
    hold = [
        "step_us > 5%",
        "step_us > 199us",
        "step_us > 0.199 ms",
        "dataloader_us >= 200",
        "gpu_utilization_pct < -1 points",
        "kernel_total_us[gemm] > 30%",
        "operator_device_self_us[aten::mm] > 39us",
    ]
    do_not = [
        "step_us>201",
        "step_us > 99.9%",
        "kernel_us < 0",
        "operator_host_self_us[aten::mm] > 0",
        "operator_calls[aten::mm] > 0",
    ]

    def judge(*conditions: str) -> Done:
        return tracewh("diff", "before", "after", *(f"--fail-if={each}" for each in conditions))

    done = judge(*do_not)
    assert (done.code, done.err) == (0, "")
    done = judge(*do_not, *hold)
    assert done.code == 4
    said = [line.removeprefix("tracewh: ") for line in done.err.splitlines()]
    assert [line.partition(": ")[0] for line in said] == hold
    # The change is in what the limit is in.
    assert [line.partition(": ")[2] for line in said] == [
        "203 us to 403 us, +98.5 %",
        "203 us to 403 us, +200 us",
        "203 us to 403 us, +200 us",
        "102 us to 302 us, +200 us",
        "13.1 % to 9.4 %, -3.7 points",
        "126 us to 166 us, +31.7 % (4 and 4 steps)",
        "126 us to 166 us, +40 us (4 and 4 steps)",
    ]
    assert judge(hold[0]).code == 4


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["--fail-if", "step_us"],
            2,
            "--fail-if 'step_us': write a figure, a comparison and a limit, e.g. 'step_us > 5%'",
        ),
        (
            ["--fail-if", "steps_us > 5%"],
            2,
            "--fail-if 'steps_us > 5%': unknown figure 'steps_us'; did you mean 'step_us'?",
        ),
        (
            ["--fail-if", "step_us > 5MB"],
            2,
            "--fail-if 'step_us > 5MB': step_us is in us; a limit is in us, ms, s, %",
        ),
        (
            ["--fail-if", "kernel_calls > 1ms"],
            2,
            "--fail-if 'kernel_calls > 1ms': kernel_calls needs a name, e.g. 'kernel_calls[NAME] > 5%'",
        ),
        (
            ["--fail-if", "kernel_calls[gemm] > 1ms"],
            2,
            "--fail-if 'kernel_calls[gemm] > 1ms': kernel_calls is in calls; a limit is in %",
        ),
        (
            ["--fail-if", "step_us[gemm] > 1"],
            2,
            "--fail-if 'step_us[gemm] > 1': step_us takes no name",
        ),
        (
            ["--fail-if", "peak_memory_bytes > 1MiB"],
            1,
            "--fail-if 'peak_memory_bytes > 1MiB': the baseline does not record it",
        ),
        (
            ["--fail-if", "kernel_calls[relu] > 1"],
            1,
            "neither run has a kernel named 'relu'",
        ),
        (["--alpha", "2"], 2, "--alpha takes a number between 0 and 1, not '2'"),
        (["--alpha", "x"], 2, "--alpha takes a number between 0 and 1, not 'x'"),
        (["--format", "html"], 2, "--format: unknown format 'html'; choose one of text, markdown, json"),
        (["--experiment-span", "2"], 2, "no span named '2'; the only span is 1"),
    ],
)  # fmt: skip
def test_mistakes(tracewh: Command, pair: Path, words: list[str], code: int, message: str) -> None:
    done = tracewh("diff", "before", "after", *words)
    assert (done.code, done.out, done.err) == (code, "", f"tracewh: {message}\n")


def test_a_run_without_steps_is_not_judged(tracewh: Command, tmp_path: Path) -> None:
    for run, steps in (("before", BEFORE), ("whole", AFTER), ("again", BEFORE)):
        events = [e for e in trace(steps) if run == "before" or e["cat"] != "user_annotation"]
        path = tmp_path / "logs" / run / "w.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": events}), "utf-8")
    (tmp_path / "logs" / "still").mkdir()
    (tmp_path / "logs" / "still" / "w.json").write_text(
        '{"traceEvents": [{"ph": "i", "name": "a", "pid": 7, "tid": 7, "ts": 5}]}', "utf-8"
    )
    library.ingest(tmp_path / "logs", tmp_path / "wh")
    diff = ("diff", "-w", tmp_path / "wh")
    said = "Not comparable: neither run has an event that takes time."
    done = tracewh(*diff, "still", "still")
    assert (done.code, done.out.splitlines()[0], done.err) == (0, said, "")
    for condition in ("step_us > 5%", "kernel_us < 1us"):
        done = tracewh(*diff, "still", "still", "--fail-if", condition)
        assert done.code == 1
        assert done.err == f"tracewh: --fail-if {condition!r}: n{said[1:-1]}\n"
    done = tracewh(*diff, "still", "still", "--fail-if", "peak_memory_bytes > 1MB")
    assert done.err.endswith("the baseline does not record it\n")
    why = "not comparable: the experiment has no steps. Record with a schedule, and call prof.step() after each iteration"
    for condition in ("step_us > 5%", "kernel_us < 1us"):
        done = tracewh(*diff, "before", "whole", "--fail-if", condition)
        assert (done.code, done.out) == (1, "")
        assert done.err == f"tracewh: --fail-if {condition!r}: {why}\n"
    # Figures of the recording, and those of operators, can be judged all the same.
    conditions = ("--fail-if", "gpu_utilization_pct < -5", "--fail-if", "kernel_calls[gemm] > 0")
    assert tracewh(*diff, "before", "whole", *conditions).code == 0
    # Recordings as a whole are compared, and are not counted as steps.
    assert tracewh(*diff, "whole", "again", "--fail-if", "step_us > 5%").code == 0
    for runs in (("before", "whole"), ("whole", "again")):
        page = tracewh(*diff, *runs, "--format", "markdown").out
        assert "<summary>Kernels that changed most, whole recording</summary>" in page


def test_an_unknown_figure_is_answered_with_all_there_are(tracewh: Command, pair: Path) -> None:
    done = tracewh("diff", "before", "after", "--fail-if", "zz > 1")
    [figures] = re.findall(r"unknown figure 'zz'; choose one of (.*)", done.err)
    assert {"step_us", "dataloader_us", "other_us", "operator_host_self_us", "kernel_total_us"} <= set(figures.split(", "))  # fmt: skip
    assert "total_us" not in figures.split(", ")


def test_a_share_of_nothing_is_no_answer(tracewh: Command, pair: Path) -> None:
    done = tracewh("diff", "before", "after", "--fail-if", "memcpy_us > 5%")
    assert (done.code, done.err) == (0, "")  # 0 in both
