"""ingest, demo, drop, relink, shell, views, runs: what each does, says and returns."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Done, Rows
from tests.cli.report.parts import panels_only
from tracewh.cli.output.progress import format_bytes
from tracewh.views.registry import installed
from tracewh.views.warehouse import Warehouse

SAMPLES = Path(__file__).parents[3] / "samples"
TRACE = {
    "schemaVersion": 1,
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10.0, "dur": 5.0}
    ],
}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two runs: one trace each, one of them compressed."""
    for run, name in (("base", "host_1.pt.trace.json"), ("tuned", "host_1.pt.trace.json.gz")):
        file = tmp_path / "logs" / run / name
        file.parent.mkdir(parents=True)
        text = json.dumps(TRACE).encode()
        file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return tmp_path / "logs"


def statuses(out: str) -> list[str]:
    return re.findall(r"\b(ingested|unchanged|refused)\b", out)


def test_ingest_takes_in_skips_and_refuses(tracewh: Command, logs: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "wh"
    as_json = ("--format", "json")
    done = tracewh("ingest", logs, "-w", warehouse)
    assert done.code == 0
    table = [line.split() for line in done.out.splitlines()]
    assert table[0] == ["run", "traces", "ingested", "events", "source_mb", "stored_mb"]
    assert [row[:4] for row in table[2:]] == [["base", "1", "1", "1"], ["tuned", "1", "1", "1"]]
    *lines, total = done.err.splitlines()
    assert sorted(line.split(": ")[0] for line in lines) == [
        str(logs / "base/host_1.pt.trace.json"),
        str(logs / "tuned/host_1.pt.trace.json.gz"),
    ]
    assert all(
        re.search(r": ingested 1 event, [\d.]+ k?B stored as [\d.]+ kB, in [\d.]+ s$", line)
        for line in lines
    )
    assert re.match(r"tracewh: 2 ingested; 2 events in [\d.]+ s \([\d,]+/s\), ", total)

    done = tracewh("ingest", logs, "-w", warehouse, *as_json)
    assert (done.code, statuses(done.out)) == (0, ["unchanged", "unchanged"])
    assert done.err == "tracewh: 2 unchanged\n"  # and no line per file, which may be thousands
    done = tracewh("ingest", logs, "-w", warehouse, "--step-range", "batch [0-9]+", *as_json)
    assert done.err.endswith(
        "tracewh: 2 unchanged\n"
        "tracewh: traces that were ingested before keep their steps; --force ingests them again, with --step-range\n"
    )

    done = tracewh("ingest", logs, "-w", warehouse, "--force", "--jobs", "1", *as_json)
    assert (done.code, statuses(done.out)) == (0, ["ingested", "ingested"])

    bad = logs / "base" / "notes.json"
    bad.write_text('{"hello": "world"}')
    done = tracewh("ingest", logs, "-w", warehouse, *as_json)
    assert (done.code, sorted(statuses(done.out))) == (3, ["refused", "unchanged", "unchanged"])
    assert [row["file"] for row in done.json if row["reason"]] == [str(bad)]
    assert re.search(rf"^{bad}: refused: not a Kineto trace", done.err, flags=re.MULTILINE)
    assert done.err.endswith("tracewh: 2 unchanged, 1 refused\n")

    shutil.copy(logs / "base/host_1.pt.trace.json", logs / "base/host_1.123.pt.trace.json")
    bad.rename(tmp_path / "notes.json")
    done = tracewh("ingest", logs, "-w", warehouse)
    assert done.err.endswith("tracewh: 3 unchanged\n")
    table = [line.split() for line in done.out.splitlines()]
    assert [row[:4] for row in table[2:]] == [["base", "1", "0", "1"], ["tuned", "1", "0", "1"]]

    bad = tmp_path / "notes.json"
    done = tracewh("ingest", bad, "-w", warehouse)
    assert (done.code, statuses(done.out)) == (1, ["refused"])
    assert done.out.splitlines()[2].startswith("notes.json  refused: not a Kineto trace")
    assert [row["run"] for row in tracewh("runs", "-w", warehouse, "--sort", "run", "--format", "json").json] == ["base", "tuned"]  # fmt: skip


def test_ingest_writes_a_line_per_file_whatever_its_name(tracewh: Command, tmp_path: Path) -> None:
    names = ("a\nb.json", "c\x1b[2J.json")
    for name in names:
        (tmp_path / name).write_text('{"hello": "world"}')
    done = tracewh("ingest", *(tmp_path / name for name in names), "-w", tmp_path / "wh")
    *lines, _ = done.err.splitlines()
    refused = "refused: not a Kineto trace: a JSON object without traceEvents"
    assert sorted(lines) == [
        rf"{tmp_path}/a\nb.json: {refused}",
        rf"{tmp_path}/c\x1b[2J.json: {refused}",
    ]


def test_ingest_lists_problems_first_and_each_file_once(
    tracewh: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / "logs"
    event = (
        '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2}'
    )
    start = f'{{"traceEvents": [{event}'
    files = {f"run{n:02}/w.pt.trace.json": start + "]}" for n in range(12)}
    files["run07/w.pt.trace.json"] = f"{start}, {event[:40]}"
    files["run09/w.pt.trace.json"] = "no trace"
    for name, text in files.items():
        (logs / name).parent.mkdir(parents=True)
        (logs / name).write_text(text)
    done = tracewh("ingest", logs, "-w", tmp_path / "wh")
    assert done.code == 3
    _, _, refused, repaired, *_ = done.out.splitlines()
    assert refused.startswith("run09/w.pt.trace.json  refused: ")
    assert repaired == "run07/w.pt.trace.json  repaired or left out: truncated bytes (40)"
    *lines, total = done.err.splitlines()
    assert len(lines) == len({line.split(": ")[0] for line in lines}) == 12
    assert total.startswith("tracewh: 11 ingested, 1 refused; 11 events in ")
    done = tracewh(
        "ingest", logs, "-w", tmp_path / "wh", "--format", "csv", "-o", tmp_path / "all.csv"
    )
    assert (done.out, len((tmp_path / "all.csv").read_text().splitlines())) == ("", 13)
    monkeypatch.setattr("tracewh.cli.commands.ingest.MOST_RUNS", 10)
    done = tracewh("ingest", logs, "-w", tmp_path / "wh")
    assert done.out.endswith("\n\n11 runs; `tracewh runs` lists them\n")


def test_ingest_says_how_to_merge_the_files_of_many_traces(
    tracewh: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are new, of each run alone."""
    for run, traces in (("my job", 100), ("few", 99)):
        (tmp_path / run).mkdir()
        for rank in range(traces):
            (tmp_path / run / f"rank{rank}.pt.trace.json").write_text(json.dumps(TRACE))
    warehouse = tmp_path / "wh"
    done = tracewh("ingest", tmp_path / "my job", tmp_path / "few", "-w", warehouse)
    total, hint = done.err.splitlines()[-2:]
    assert total.startswith("tracewh: 199 ingested; ")
    command = f"tracewh compact 'my job' -w {warehouse}"
    assert hint == f"tracewh: 100 new traces in run my job; to make its queries faster: {command}"
    assert tracewh("compact", "my job", "-w", warehouse).code == 0
    done = tracewh("ingest", tmp_path / "my job", "-w", warehouse)
    assert done.err.splitlines()[-1] == "tracewh: 100 unchanged"
    monkeypatch.chdir(tmp_path)
    done = tracewh("ingest", "my job")
    assert done.err.endswith(" faster: tracewh compact 'my job'\n")


def test_ingest_does_not_list_how_profilers_write_as_a_problem(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tracewh.cli.commands.ingest import summarize
    from tracewh.ingest.result import FileResult

    usual = {"lost_frame_ends": 24, "recordings_of_other_times": 1}
    found = {"a.json": usual, "b.csv": {"no_times": 1, "no_epoch": 1, "damaged_rows": 2}}
    summarize([FileResult(Path(n), "ingested", repairs=r) for n, r in found.items()], 1.0)
    out = capsys.readouterr().out
    assert "b.csv  repaired or left out: damaged rows (2)\n" in out
    assert "a.json" not in out


def test_ingest_counts_the_size_of_a_file_with_several_processes_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tracewh.cli.commands.ingest import summarize
    from tracewh.ingest.result import FileResult

    file = Path("report.sqlite")
    traces = [
        FileResult(file, "ingested", "", "job", worker, source_bytes=2_000_000, stored_bytes=500)
        for worker in ("report_pid1", "report_pid2")
    ]
    summarize([*traces, FileResult(Path("a.json"), "ingested", run="job", source_bytes=10**6)], 1.0)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1].split() == ["job", "3", "3", "0", "3", "0.001"]
    assert printed.err.endswith(", 3.0 MB stored as 1.0 kB\n")


def test_ingest_lists_a_screenful_of_problems_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tracewh.cli.commands.ingest import summarize
    from tracewh.ingest.result import FileResult

    monkeypatch.setenv("COLUMNS", "80")
    refused = [FileResult(Path(f"logs/{n}.json"), "refused", "not a trace") for n in range(1000)]
    summarize(refused, 1.0)
    piped = capsys.readouterr()
    assert len(piped.out.splitlines()) == 1002
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    summarize(refused, 1.0)
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[-1]) == (43, "and 960 more; --format json lists every file")


def test_ingest_may_name_the_run(tracewh: Command, logs: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "wh"
    assert tracewh("ingest", logs / "base", "--run", "mine", "-w", warehouse).code == 0
    assert [r["run"] for r in tracewh("runs", "-w", warehouse, "--format", "json").json] == ["mine"]


def test_the_default_warehouse_is_beside_you_or_in_the_environment(
    tracewh: Command, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRACEWH_WAREHOUSE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert tracewh("ingest", logs).code == 0
    assert (tmp_path / "tracewh-warehouse" / "tracewh.duckdb").is_file()
    monkeypatch.setenv("TRACEWH_WAREHOUSE", str(tmp_path / "other"))
    assert tracewh("runs").code == 1
    assert tracewh("ingest", logs).code == 0
    assert tracewh("runs").code == 0


def test_a_terminal_gets_a_bar_and_the_refused_files(logs: Path, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="needs a Unix terminal")
    (logs / "base" / "notes.json").write_text('{"hello": "world"}')
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from tracewh.cli.app import run; run()",
         "ingest", str(logs), "-w", str(tmp_path / "wh")],
        stdout=subprocess.PIPE, stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
    )  # fmt: skip
    os.close(theirs)
    sent = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:
            break
        if not block:
            break
        sent += block
    os.close(ours)
    out, _ = process.communicate()
    assert process.returncode == 3
    assert out.decode().splitlines()[2].startswith("base/notes.json  refused: not a Kineto trace")
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent.decode())
    assert "3/3 files" in shown
    assert "notes.json: refused: not a Kineto trace" in shown
    assert "ingested 1" not in shown, "what went well is in the summary, not above the bar"


def test_drop_removes_what_is_named(
    tracewh: Command,
    tmp_path: Path,
    write_trace: Callable[..., Path],
    make_trace: Callable[..., Rows],
) -> None:
    for run, worker in (("base", "w0"), ("base", "w1"), ("tuned", "w0")):
        write_trace(tmp_path, make_trace(run), run, worker)
    where = ("-w", tmp_path)

    def left() -> list[tuple[str, str]]:
        rows = tracewh(
            "query", "FROM traces SELECT run, worker ORDER BY ALL", "--format", "json", *where
        ).json
        return [(row["run"], row["worker"]) for row in rows]

    done = tracewh("drop", "base", *where)
    assert done.code == 2
    assert (
        done.err
        == "tracewh: this removes 2 traces of run 'base'; without a terminal, confirm with --yes\n"
    )
    assert len(left()) == 3
    done = tracewh("drop", "base", "--worker", "w1", "--yes", *where)
    assert (done.code, done.out, done.err) == (0, "", "removed 1 trace of run 'base'\n")
    assert left() == [("base", "w0"), ("tuned", "w0")]
    assert tracewh("drop", "base", "-y", *where).err == "removed 1 trace of run 'base'\n"
    assert left() == [("tuned", "w0")]


def test_relink_after_a_move(tracewh: Command, tmp_path: Path, warehouse: Path) -> None:
    """The views in tracewh.duckdb hold absolute paths."""
    import duckdb

    old, new = tmp_path / "old", tmp_path / "new"
    shutil.copytree(warehouse, old)
    assert tracewh("relink", "-w", old).err == f"wrote {old / 'tracewh.duckdb'}\n"
    old.rename(new)
    assert tracewh("relink", "-w", new).code == 0
    with duckdb.connect(str(new / "tracewh.duckdb"), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM step_breakdown()").fetchall() == [(2,)]


def test_runs_and_views_are_tables_like_any_other(tracewh: Command, warehouse: Path) -> None:
    rows = tracewh("runs", "--format", "json", "--sort", "run").json
    assert [(row["run"], row["traces"]) for row in rows] == [("base", 1), ("tuned", 1)]
    assert tracewh("views", "--format", "csv").out.startswith(
        "name,object_name,version,latest,view_group,"
    )
    listed = tracewh("views")
    for word in ("overview", "step_breakdown", "Where the time of each step went"):
        assert word in listed.out


def test_views_needs_no_warehouse(
    tracewh: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tracewh("views").code == 0
    page = tracewh("views", "step_breakdown").out
    assert page == tracewh("show", "step_breakdown", "--help").out
    sql = tracewh("views", "step_breakdown", "--sql").out
    assert sql == (SAMPLES.parent / "views/overview/step_breakdown_v1.sql").read_text("utf-8")
    [row] = tracewh("views", "step_breakdown", "--format", "json").json
    assert (row["name"], row["columns"][0]["name"]) == ("step_breakdown", "run")


def test_views_lists_every_view_on_a_terminal(
    tracewh: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a table, 80 columns would show names and summaries in two blocks of 13 rows."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    page = tracewh("views").out
    assert re.findall(r"^  (\w+)  ", page, flags=re.MULTILINE) == [
        view.name for view in installed().newest()
    ]
    assert page.endswith("\n\nDescribe a view: tracewh views VIEW. Run it: tracewh show VIEW\n")
    assert max(map(len, page.splitlines())) <= 80
    assert "version" in tracewh("views", "--limit", "3").out  # a table, as all other options say


def test_query_from_stdin(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(content: bytes) -> Done:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return tracewh("query", "-", "--format", "csv")

    assert given("\ufeffSELECT 'größer' AS answer\r\n".encode()).out == "answer\ngrößer\n"
    done = given("SELECT 'größer'".encode("latin-1"))
    said = "tracewh: the SQL on standard input is not UTF-8 at byte 10; convert it to UTF-8\n"
    assert (done.code, done.err, done.out) == (2, said, "")


def test_a_query_begins_with_a_comment(tracewh: Command, warehouse: Path) -> None:
    for sql in ("-- all\nSELECT 1 AS n", "--\nSELECT 1 AS n", "--\tall\nSELECT 1 AS n"):
        for words in (("query", sql, "--format", "csv"), ("query", "--format", "csv", sql)):
            assert tracewh(*words).out == "n\n1\n"
    assert tracewh("query", "-- all").err == "tracewh: the SQL has no statement\n"


def test_a_query_is_no_file(
    tracewh: Command, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my query.sql").write_text("SELECT 1")
    done = tracewh("query", "my query.sql")
    said = "tracewh: my query.sql is a file; run the SQL in it with `tracewh query - < 'my query.sql'`\n"
    assert (done.code, done.err) == (2, said)
    assert tracewh("query", f"SELECT '{'x' * 5000}' AS n").code == 0


def test_a_query_keeps_to_its_memory_limit(tracewh: Command, warehouse: Path) -> None:
    limited = ("--memory-limit", "100", "-w", warehouse)
    done = tracewh("query", "SELECT current_setting('memory_limit') AS value", *limited)
    assert done.out.split()[-2:] == ["95.3", "MiB"]
    done = tracewh("query", "SELECT list(r.range) FROM range(50_000_000) AS r", *limited)
    said = "the query needs more memory than its limit of 95.3 MiB; raise it with --memory-limit MB or TRACEWH_MEMORY_LIMIT=MB, or name a run and a worker"
    assert (done.code, done.err) == (1, f"tracewh: {said}\n")


def test_a_view_keeps_to_its_memory_limit(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tracewh.views.warehouse import Warehouse

    limits: list[int] = []
    monkeypatch.setattr(Warehouse, "limit_memory", lambda _, megabytes: limits.append(megabytes))
    rows = tracewh("show", "kernel_stats", "--memory-limit", "100", "-w", warehouse)
    assert (rows.code, limits) == (0, [100])
    done = tracewh("show", "kernel_stats", "--memory-limit", "99")
    said = "--memory-limit takes a whole number of at least 100, not '99'"
    assert (done.code, done.err) == (2, f"tracewh: {said}\n")
    done = tracewh("show", "kernel_stats", "--memory-limit", "100", "--engine", "spark")
    said = "--memory-limit is for this machine; Spark has its own settings"
    assert (done.code, done.err) == (2, f"tracewh: {said}\n")


def start(*words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "from tracewh.cli.app import run; run()",
    ]
    environment = {**os.environ} | ({} if path is None else {"PATH": path})
    return subprocess.run(
        [*command, *words], input="SELECT count(*) AS n FROM step_breakdown();\nDROP VIEW kernels;\nSELECT current_setting('disabled_optimizers');\n",
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip


def test_shell_opens_the_warehouse_to_read(warehouse: Path) -> None:
    if not shutil.which(
        "duckdb", path=str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    ):
        pytest.skip("needs the DuckDB shell: pip install duckdb-cli")
    done = start("shell")
    assert re.search(r"\b2\b", done.stdout)
    assert "read-only" in done.stderr + done.stdout
    assert "statistics_propagation" in done.stdout


def test_shell_opens_a_warehouse_that_cannot_be_written(warehouse: Path, tmp_path: Path) -> None:
    """tracewh.duckdb is missing, and the link leads to itself: as on a disk that is read-only, nobody can write it."""
    if not shutil.which(
        "duckdb", path=str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    ):
        pytest.skip("needs the DuckDB shell: pip install duckdb-cli")
    root = shutil.copytree(warehouse, tmp_path / "wh")
    for name in ("tracewh.duckdb", ".tracewh.duckdb.origin"):
        (root / name).unlink(missing_ok=True)
    (root / ".tracewh.duckdb.origin").symlink_to(".tracewh.duckdb.origin")
    done = start("shell", "-w", str(root))
    assert re.search(r"\b2\b", done.stdout)
    assert "read-only" in done.stderr + done.stdout
    assert not (root / "tracewh.duckdb").exists()


def test_shell_says_where_to_get_it(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    done = tracewh("shell")
    assert done.err == "tracewh: the DuckDB shell is not installed: pip install duckdb-cli\n"
    assert done.code == 1


def test_demo_shows_the_way_and_what_it_names_works(
    tracewh: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    warehouse = tmp_path / "demo"
    done = tracewh("demo", "-w", warehouse)
    assert done.code == 0
    for text in ("stored_mb", "The GPU waits for the host", "faster per step, significant"):
        assert text in done.out
    lines = [line.strip() for line in done.err.splitlines()]
    offered = [line for line in lines if line.startswith("tracewh ") and str(warehouse) in line]
    assert len(offered) == 4
    for line in offered:
        if "shell" not in line:
            import shlex

            with panels_only("steps"):
                again = tracewh(*shlex.split(line)[1:])
            assert again.code == 0
            if "report" in line:
                assert again.err.startswith("tracewh: wrote report.html, ")
                assert (tmp_path / "report.html").stat().st_size > 1_000_000
            else:
                assert again.err == ""
                assert len(again.out.splitlines()) > 3


def test_demo_keeps_its_temporary_warehouse(
    tracewh: Command,
    all_samples: Warehouse,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the report cannot be drawn yet, what it needs comes first.

    The commands of the pages look into ./tracewh-warehouse: the last lines say how the samples come there.
    """

    def copy(given: list[str], warehouse: str) -> int:
        """What the test above ingests."""
        assert [Path(path).resolve() for path in given] == [SAMPLES]
        shutil.copytree(all_samples.path, warehouse)
        return 0

    monkeypatch.setattr("tracewh.cli.commands.demo.run_ingest", copy)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("tracewh.cli.report.libraries.find_spec", lambda module: None)
    done = tracewh("demo")
    [folder] = tmp_path.iterdir()
    assert done.code == 0
    there = "For the commands of README.md and docs/: tracewh demo -w tracewh-warehouse"
    assert there in done.err.splitlines()
    assert "  pip install 'tracewh[report]' && tracewh report gpt_cuda_graphs --" in done.err
    assert f"-w {folder / 'tracewh-warehouse'}" in done.err
    assert tracewh("runs", "-w", folder / "tracewh-warehouse").code == 0
    done = tracewh(*there.split()[-3:])
    assert done.code == 0
    assert there not in done.err
    assert tracewh("show", "step_breakdown", "--run", "gpt_eager").code == 0


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (5e12, "5000.0 GB")],
)
def test_sizes(count: float, text: str) -> None:
    assert format_bytes(count) == text
