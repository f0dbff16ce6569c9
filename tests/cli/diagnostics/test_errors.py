"""Every mistake is one line that says what is wrong and what would be right, and an exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import EXIT_CODES

READS = (
    "a query is read-only. Use SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE, VALUES or EXPLAIN; "
    "`tracewh shell` opens a session with all of SQL"
)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("show step_breakdwn", 2, "no view named 'step_breakdwn'; did you mean 'step_breakdown'?"),
        ("show zzz", 2, "no view named 'zzz'; `tracewh views` lists the views"),
        ("show step_breakdown --version 99", 2, "step_breakdown has no v99; there is v1"),
        ("show step_breakdown --version x", 2, "--version takes a whole number of at least 1, not 'x'"),
        ("show step_breakdown --step x", 2, "step_breakdown_v1: step takes a whole number (BIGINT), got 'x'"),
        ("show kernel_stats --group-by x", 2, "group_by must be one of 'name', 'launch', not 'x'"),
        ("show diff_kernels --baseline base", 2, "diff_kernels_v1 needs experiment: Run to compare."),
        ("show step_breakdown --run bas", 2, "no run named 'bas'; did you mean 'base'?"),
        ("show step_breakdown --run zz", 2, "no run named 'zz'; the runs are base, tuned"),
        ("show step_breakdown --worker host_2", 2, "no worker named 'host_2'; did you mean 'host_1'?"),
        ("show step_breakdown --span 1", 2, "no span named '1'; the only span is default"),
        (
            "show diff_kernels --baseline base --experiment tund",
            2,
            "no run named 'tund'; did you mean 'tuned'?",
        ),
        (
            "show step_breakdown --sort kernelus",
            2,
            "--sort: no column named 'kernelus'; did you mean 'kernel_us'?",
        ),
        (
            "show step_breakdown --sort step:up",
            2,
            "--sort: the direction must be asc or desc, not 'up'",
        ),
        ("show step_breakdown --limit -1", 2, "--limit takes a whole number of at least 0, not '-1'"),
        ("show step_breakdown --format cvs", 2, "--format: unknown format 'cvs'; did you mean 'csv'?"),
        (
            "show step_breakdown --format x",
            2,
            "--format: unknown format 'x'; choose one of table, csv, json, markdown, parquet, xlsx",
        ),
        (
            "show step_breakdown --stp 1",
            2,
            (
                "no such option: --stp (Possible options: --sort, --span, --step)\n"
                "Try 'tracewh show step_breakdown --help'."
            ),
        ),
        (
            "summary --run base",
            2,
            (
                "no such option: --run; it is an argument: tracewh summary RUN\n"
                "Try 'tracewh summary --help'."
            ),
        ),
        (
            "diff --baseline base tuned",
            2,
            (
                "no such option: --baseline (Possible options: --baseline-span, --baseline-worker);"
                " it is an argument: tracewh diff BASELINE EXPERIMENT\n"
                "Try 'tracewh diff --help'."
            ),
        ),
        (
            "show step_breakdown more",
            2,
            "got unexpected extra argument(s) (more)\nTry 'tracewh show step_breakdown --help'.",
        ),
        ("ingst", 2, "no such command 'ingst'. Did you mean 'ingest'?\nTry 'tracewh --help'."),
        ("-w wh runs", 2, "no such option: -w; options follow the command: tracewh COMMAND -w ...\nTry 'tracewh --help'."),
        ("--what runs", 2, "no such option: --what\nTry 'tracewh --help'."),
        ("verdict", 2, "no such command 'verdict'; it is a view: tracewh show verdict\nTry 'tracewh --help'."),
        ("ingest", 2, "missing argument 'PATH'\nTry 'tracewh ingest --help'."),
        ("drop", 2, "missing argument 'RUN'; `tracewh runs` lists the runs\nTry 'tracewh drop --help'."),
        ("diff base", 2, "missing argument 'EXPERIMENT'; `tracewh runs` lists the runs\nTry 'tracewh diff --help'."),
        ("ingest x --jobs 0", 2, "--jobs takes a whole number of at least 1, not '0'"),
        (f"runs --limit {'9' * 13}", 2, "--limit takes a whole number of at most 12 digits"),
        (f"runs --limit {'9' * 5000}", 2, "--limit takes a whole number of at most 12 digits"),
        (f"query FROM(traces) --memory-limit {10**12}", 2, "--memory-limit takes a whole number of at most 12 digits"),
        ("watch x --interval 86401", 2, "--interval takes at most 86400 seconds (a day)"),
        ("views step_breakdwn", 2, "no view named 'step_breakdwn'; did you mean 'step_breakdown'?"),
        ("drop bse --yes", 2, "no run named 'bse'; did you mean 'base'?"),
        ("drop base --worker x --yes", 2, "no worker named 'x'; the only worker is host_1"),
        (
            "runs -w nowhere",
            1,
            "nowhere does not exist; create a warehouse with `tracewh ingest LOGDIR -w nowhere`",
        ),
        ("relink -w nowhere", 1, "nowhere does not exist; create a warehouse with `tracewh ingest LOGDIR -w nowhere`"),
        ("shell -w nowhere", 1, "nowhere does not exist; create a warehouse with `tracewh ingest LOGDIR -w nowhere`"),
        ("show step_breakdown -o no/such/file", 1, "no/such/file: the parent folder does not exist"),
        ("show step_breakdown -o .", 1, ". is a folder; -o takes a file"),
        ("ingest nowhere.json", 1, "no such file or folder: nowhere.json"),
    ],
)  # fmt: skip
def test_wording(
    tracewh: Command,
    warehouse: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = tracewh(*words.split())
    assert done.err == f"tracewh: {message}\n"
    assert (done.code, done.out) == (code, "")


def test_a_name_with_an_escape_sequence_does_not_reach_the_terminal(
    tracewh: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "a\x1b]0;title\x07\u202eb\r"
    shown = f"{tmp_path}/a\\x1b]0;title\\x07\\u202eb\\r"
    done = tracewh("runs", "-w", folder)
    said = "does not exist; create a warehouse with `tracewh ingest LOGDIR -w"
    assert done.err.startswith(f"tracewh: {shown} {said}")
    assert done.err.count("\n") == 1 and done.err.strip().isprintable()
    folder.mkdir()
    (folder / "rank0.json").write_text("no trace")
    done = tracewh("ingest", folder, "-w", tmp_path / "w")
    assert f"{shown}/rank0.json" in done.err
    assert done.err.replace("\n", "").isprintable()


def test_not_a_warehouse(tracewh: Command, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    done = tracewh("runs", "-w", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "holds no traces; ingest some with `tracewh ingest LOGDIR" in done.err
    done = tracewh("runs", "-w", tmp_path / "data")
    assert "is not a warehouse: it has no data/ folder" in done.err
    (tmp_path / "file").touch()
    assert "is a file; a warehouse is a folder" in tracewh("runs", "-w", tmp_path / "file").err


@pytest.mark.parametrize("format", ["table", "csv", "json", "markdown", "parquet"])
def test_a_disk_that_is_full(
    tracewh: Command, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)  # the last thing that can go wrong
    done = tracewh("runs", "-o", tmp_path / "x", "--format", format)
    assert (done.code, done.err) == (1, f"tracewh: {tmp_path / 'x'}: No space left on device\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sql", "code", "message"),
    [
        ("DROP VIEW kernels", 2, f"DROP is not allowed: {READS}"),
        ("CREATE TABLE x (i INT)", 2, f"CREATE is not allowed: {READS}"),
        ("COPY kernels TO 'x.csv'", 2, f"COPY is not allowed: {READS}"),
        ("EXPLAIN ANALYZE COPY kernels TO 'x.csv'", 2, f"COPY is not allowed: {READS}"),
        ("EXPLAIN (ANALYZE) DROP VIEW kernels", 2, f"DROP is not allowed: {READS}"),
        (
            ";/* c */EXPLAIN/**/ANALYZE -- x\n COPY kernels TO 'x.csv';",
            2,
            f"COPY is not allowed: {READS}",
        ),
        (
            "/* ä */ EXPLAIN (ANALYZE, FORMAT json) DROP VIEW kernels",
            2,
            f"DROP is not allowed: {READS}",
        ),
        (
            "WITH w AS (COPY traces TO 'x.csv') SELECT 1",
            2,
            f"COPY is not allowed: {READS}",
        ),
        (
            "WITH w AS (WITH v AS (SELECT 1) DELETE FROM x RETURNING 1) FROM w UNION ALL SELECT 1",
            2,
            f"DELETE is not allowed: {READS}",
        ),
        (
            "EXPLAIN ANALYZE WITH w AS (UPDATE x SET i = 1 RETURNING i) FROM w",
            2,
            f"UPDATE is not allowed: {READS}",
        ),
        ("EXPLAIN SELECT 1; SELECT 2", 2, "found 2 statements; a query is one statement"),
        (
            "EXPLAIN EXPLAIN SELECT 1",
            1,
            (
                'Parser Error: syntax error at or near "EXPLAIN"\n\n'
                "LINE 1: EXPLAIN EXPLAIN SELECT 1\n                ^^^^^^^"
            ),
        ),
        # DuckDB finds this one when it runs the query, which is then a part of another one: it says LINE 4.
        (
            "SELECT 1,\n 'x'::INT FROM kernels",
            1,
            (
                "Conversion Error: Could not convert string 'x' to INT32\n\n"
                "LINE 2:  'x'::INT FROM kernels\n            ^^^^^"
            ),
        ),
        # This one it finds before, and says the right line. The first line has the same text, too.
        (
            "SELECT 'a b c',\n 1,\na b c",
            1,
            ('Parser Error: syntax error at or near "c"\n\nLINE 3: a b c\n            ^'),
        ),
        ("INSTALL httpfs", 2, f"INSTALL is not allowed: {READS}"),
        ("ATTACH 'x.duckdb'", 2, f"ATTACH is not allowed: {READS}"),
        ("SET enable_external_access = true", 2, f"SET is not allowed: {READS}"),
        # DuckDB's names of these types are CALL and MERGE_INTO, and its Python has none for the last.
        ("/* c */ checkpoint", 2, f"CHECKPOINT is not allowed: {READS}"),
        ("EXPLAIN CHECKPOINT", 2, f"CHECKPOINT is not allowed: {READS}"),
        (
            "MERGE INTO x USING y ON true WHEN MATCHED THEN DELETE",
            2,
            f"MERGE is not allowed: {READS}",
        ),
        ("WITH w AS (SELECT 1) INSERT INTO x FROM w", 2, f"INSERT is not allowed: {READS}"),
        (
            "FROM (WITH w AS (DELETE FROM x RETURNING 1) FROM w)",
            2,
            f"DELETE is not allowed: {READS}",
        ),
        ("UPDATE EXTENSIONS", 2, f"UPDATE is not allowed: {READS}"),
        ("SELECT 1; DROP VIEW kernels", 2, "found 2 statements; a query is one statement"),
        ("", 2, "the SQL has no statement"),
        ("/* nothing */", 2, "the SQL has no statement"),
        (
            "PIVOT kernels ON name USING count(*)",
            2,
            "a PIVOT without a list of values needs a second query; write PIVOT t ON x IN (...)",
        ),
        (
            "SELECT * FROM read_csv('/etc/passwd')",
            1,
            (
                'Permission Error: Cannot access file "/etc/passwd" - file system operations are '
                "disabled by configuration"
            ),
        ),
        (
            "FROM nosuch",
            1,
            'Catalog Error: Table with name nosuch does not exist!\nDid you mean "counter_samples"?',
        ),
    ],
)
def test_query_only_reads(
    tracewh: Command,
    warehouse: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = tracewh("query", sql)
    assert done.err == f"tracewh: {message}\n"
    assert (done.code, done.out) == (code, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "FROM kernels",
        "DESCRIBE kernels",
        "SHOW TABLES",
        "SUMMARIZE kernels",
        "VALUES (1)",
        "WITH k AS (FROM kernels) FROM k",
        "EXPLAIN FROM kernels",
        "EXPLAIN ANALYZE SELECT count(*) FROM kernels",
        "PIVOT kernels ON kind IN ('compute') USING count(*)",
        "FROM views()",
        "FROM step_breakdown(run := 'base')",
    ],
)
def test_query_reads(tracewh: Command, warehouse: Path, sql: str) -> None:
    done = tracewh("query", sql)
    assert (done.code, done.err) == (0, "")
    assert done.out


@pytest.mark.parametrize(
    "sql",
    [
        "/* c */ EXPLAIN SELECT 6 * 7 AS answer",
        ";EXPLAIN SELECT 6 * 7 AS answer",
        "\n-- é\n;; /* a /* nested */ one */ EXPLAIN/**/(FORMAT json) /* ü */ SELECT 6 * 7 AS answer;;",
        "EXPLAIN -- how\nANALYZE\n(FORMAT json) (SELECT 6 * 7 AS answer) ; -- done",
        "explain (analyze, format json) WITH a AS (SELECT 6 * 7 AS answer) FROM a",
        "EXPLAIN (SELECT 6 * 7 AS answer)",
    ],
)
def test_explain_may_stand_among_comments_and_semicolons(
    tracewh: Command, warehouse: Path, sql: str
) -> None:
    done = tracewh("query", sql)
    assert (done.code, done.err) == (0, "")
    assert "answer" in done.out or "42" in done.out


def test_query_cannot_write_into_the_warehouse_by_a_cte(tracewh: Command, warehouse: Path) -> None:
    written = warehouse / "data" / "x.parquet"
    done = tracewh("query", f"WITH x AS (COPY kernels TO '{written}') SELECT 1")
    assert (done.code, done.out) == (2, "")
    assert not written.exists()
    done = tracewh("query", "WITH x AS (DELETE FROM kernels RETURNING *) FROM x")
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) < 5


def test_query_does_not_see_our_variables(tracewh: Command, warehouse: Path) -> None:
    """DuckDB in Python finds data frames by the names of variables, in any frame of the stack."""
    import pyarrow

    ours = pyarrow.table({"secret": [1]})
    done = tracewh("query", "FROM ours")
    assert "Table with name ours does not exist" in done.err
    assert (done.code, done.out, ours.num_rows) == (1, "", 1)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("step_breakdown --step 99", ["There are rows without --step 99."]),
        ("step_breakdown --run base --step 99", ["There are rows without --step 99."]),
        ("kernel_stats --step 7 --group-by launch --run base --step 8", ["There are rows without --step 8."]),
        ("memory_curve --device cpu", ["base/host_1/default, tuned/host_1/default: No allocations: record with profile_memory=True."]),
        ("gpu_gaps", ["base/host_1/default, tuned/host_1/default: No device was idle for 500 us or longer between its first work and its last. A lower min_us lists shorter gaps, if there are any."]),
        ("gpu_gaps --min-us 7 --run tuned", ["tuned/host_1/default: No device was idle for 7 us or longer between its first work and its last. A lower min_us lists shorter gaps, if there are any."]),
        (
            "operator_stats --group-by call_stack",
            [
                "There are rows without --group-by call_stack.",
                "No operator has a call stack of its own, which group_by 'call_stack' needs: only the PyTorch profiler before torch 1.12 recorded them; source_lines has the lines of later traces.",
            ],
        ),
        ("kernel_counters --run base --worker host_1", ["base/host_1/default: No counters of kernels: on an NVIDIA GPU, record them with Nsight Compute, or, with torch 2.13 or older, in a separate recording with experimental_config=torch.profiler._ExperimentalConfig(profiler_metrics=[\"dram__bytes_read.sum\", ...], profiler_measure_per_kernel=True)."]),
        ("kernel_stats --step 8 --group-by launch", ["There are rows without --step 8."]),
        ("memory_stats --device cpu --from-ns 5", ["base/host_1/default, tuned/host_1/default: No allocations: record with profile_memory=True."]),
        ("flamegraph --metric bytes --run base", ["There are rows without --metric bytes.", "Nothing was recorded for metric 'bytes'; recording_advice says how to record operators (metric 'host'), device work ('device') and memory ('bytes')."]),
        ("diff_operators --baseline base --experiment tuned --only-significant", ["There are rows without --only-significant."]),
        ("pipeline_actions", ["base/host_1/default, tuned/host_1/default: No trace has an annotation such as PP:2F0 or PP:2RECV_F0: torch.distributed.pipelining writes them for schedules with several stages per rank, such as Interleaved1F1B. A schedule with one stage per rank, such as 1F1B, writes none, and the annotations of GPipe, such as Forward 0, do not name the stage."]),
        ("pipeline_operation_table", ["base/host_1/default, tuned/host_1/default: No trace has an annotation such as PP:2F0 or PP:2RECV_F0: torch.distributed.pipelining writes them for schedules with several stages per rank, such as Interleaved1F1B. If a trace has one, a line below says why the view refuses the job."]),
        ("straggler_what_if", ["base/host_1/default, tuned/host_1/default: No trace of the run has pipeline operations: ingest a table of them, for example from the timers of Megatron-LM. If all ranks were traced on GPUs and have annotations such as PP:0F0, which torch.distributed.pipelining writes for schedules with several stages per rank, the view pipeline_operation_table gives the table."]),
    ],
)  # fmt: skip
def test_an_empty_view_says_what_to_change(
    tracewh: Command, warehouse: Path, words: str, why: list[str]
) -> None:
    done = tracewh("show", *words.split())
    assert (done.code, done.out) == (0, "")
    first, *lines = done.err.splitlines()
    assert first == f"tracewh: {words.split()[0]} has no rows for these parameters"
    assert lines == [f"  {line}" for line in why]


def test_an_empty_view_says_why(
    tracewh: Command, tmp_path: Path, write_trace: Callable[..., Path]
) -> None:
    """gpu_summary needs device events; trace_quality says that there are none."""
    write_trace(tmp_path, {"traces": [{"events": 1}]}, "cpu", "w", "1")
    done = tracewh("show", "gpu_summary", "-w", tmp_path)
    assert (done.code, done.out) == (0, "")
    first, second = done.err.splitlines()
    assert first == "tracewh: gpu_summary has no rows for these parameters"
    checks = tracewh("show", "trace_quality", "-w", tmp_path, "--format", "json").json
    [message] = [row["message"] for row in checks if row["check"] == "no_device_events"]
    assert second == f"  cpu/w/1: {message}"
    assert tracewh("show", "gpu_summary", "-w", tmp_path, "--format", "json").out == "[]\n"


def test_views_of_counters_say_how_to_record_them(tracewh: Command, warehouse: Path) -> None:
    done = tracewh("show", "kernel_counters", "--run", "base")
    assert done.err == (
        "tracewh: kernel_counters has no rows for these parameters\n"
        "  base/host_1/default: No counters of kernels: on an NVIDIA GPU, record them with Nsight Compute, or, with torch"
        " 2.13 or older, in a separate recording with experimental_config=torch.profiler._ExperimentalConfig("
        'profiler_metrics=["dram__bytes_read.sum", ...], profiler_measure_per_kernel=True).\n'
    )


def test_a_deprecated_view_warns(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from tracewh.cli.commands import show

    view = replace(show.registry().get("step_breakdown"), deprecated="it is slow; use step_times")
    monkeypatch.setattr(type(show.registry()), "get", lambda *_: view)
    done = tracewh("show", "step_breakdown", "--format", "json")
    assert (
        done.err
        == "tracewh: warning: step_breakdown_v1 is deprecated: it is slow; use step_times\n"
    )
    assert len(done.json) == 2


def test_exit_codes_are_on_the_front_page(tracewh: Command) -> None:
    page = tracewh("--help").out
    for code, text in EXIT_CODES:
        assert f"{code:>3}  {text}\n" in page
    assert [code for code, _ in EXIT_CODES] == [0, 1, 2, 3, 4, 130, 143]


def test_a_bug_keeps_its_traceback(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tracewh.cli.output.output import Output

    def broken(*_: object) -> int:
        raise ZeroDivisionError("bug")

    monkeypatch.setattr(Output, "write", broken)
    with pytest.raises(ZeroDivisionError):
        tracewh("runs")


def test_only_diagnostics_writes_to_stderr() -> None:
    """One module owns stderr. progress.py draws its bar there, with a console of its own."""
    cli = Path(diagnostics.__file__).parents[1]
    modules = {
        path.relative_to(cli).as_posix(): path.read_text("utf-8") for path in cli.rglob("*.py")
    }
    writers = {name for name, text in modules.items() if "sys.stderr" in text}
    assert writers == {"diagnostics/__init__.py", "output/progress.py"}
