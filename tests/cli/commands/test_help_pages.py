"""Help pages and completion come from the headers and name everything in them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.conftest import Command
from tracewh.cli.app import app
from tracewh.cli.commands.conversion import CONVERTERS
from tracewh.cli.commands.show import TITLES, view_command
from tracewh.ingest.sources.readers import READERS
from tracewh.views import GROUPS
from tracewh.views.registry import installed
from tracewh.views.spec import Spec

VIEWS = list(installed())


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_the_front_page_lists_every_command_with_its_text(tracewh: Command) -> None:
    done = tracewh()
    assert (done.code, done.err) == (0, "")
    assert tracewh("--help").out == tracewh("-h").out == done.out
    for command in (
        "ingest",
        "demo",
        "summary",
        "show",
        "diff",
        "runs",
        "views",
        "query",
        "shell",
        "export",
        "check",
        "drop",
        "relink",
    ):
        assert re.search(rf"^  {command} +[A-Z]", done.out, flags=re.MULTILINE)
        assert tracewh(command, "--help").code == 0


def test_views_are_listed_by_group(tracewh: Command) -> None:
    page = tracewh("show", "--help").out
    assert tracewh("show").out == page
    assert tuple(TITLES) == GROUPS
    found = re.findall(r"^(?:  (\w+)  |(\S.*):$)", page, flags=re.MULTILINE)
    listed = [name or title for name, title in found]
    wanted: list[str] = []
    for view in installed().newest():
        if TITLES[view.group] not in wanted:
            wanted.append(TITLES[view.group])
        wanted.append(view.name)
        assert view.summary in squeezed(page)
    assert [name for name in listed if name in wanted] == wanted


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.object_name)
def test_the_page_of_a_view_says_all_that_its_header_says(tracewh: Command, view: Spec) -> None:
    done = tracewh("show", view.object_name, "--help")
    assert (done.code, done.err) == (0, "")
    page = squeezed(re.sub(r"(?<=\w)-\n\s+", "-", done.out))  # a word that goes on in the next line
    assert view.summary in page
    for paragraph in re.split(r"\n\s*\n", view.doc):
        assert squeezed(paragraph) in page
    for param in view.params:
        option = param.name.replace("_", "-")
        is_flag = (param.type, param.default) == ("BOOLEAN", "FALSE")
        value = "" if is_flag else f"{param.type} "
        assert f"--{option} {value}{squeezed(param.meaning)}" in page
        if param.default not in ("NULL", "-", "FALSE"):
            assert f"default: {param.default}" in page
    for column in view.columns:
        assert re.search(
            rf"\b{column.name} {re.escape(squeezed(column.meaning))} \[{re.escape(column.type)}",
            page,
        )


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.object_name)
def test_no_parameter_is_hidden_by_an_option_of_ours(view: Spec) -> None:
    """Each option must be there once: ours are --version, --format, --limit and so on."""
    options = [opt for param in view_command(view).params for opt in param.opts]
    assert len(options) == len(set(options))
    assert {f"--{param.name.replace('_', '-')}" for param in view.params} <= set(options)


def test_options_may_be_written_with_underscores(tracewh: Command, warehouse: Path) -> None:
    words = ("show", "kernel_stats", "--format", "csv")
    dashed = tracewh(*words, "--group-by", "launch").out
    assert tracewh(*words, "--group_by", "launch").out == dashed
    assert tracewh("show", "kernel_stats_v1", "--group-by=launch", "--format=csv").out == dashed


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ingest", "PATH..."),
        ("summary", "[RUN]"),
        ("what-if", "RUN CHANGE..."),
        ("spark-sql", "[VIEW]..."),
    ],
)
def test_the_usage_line_has_the_arguments(tracewh: Command, command: str, words: str) -> None:
    usage, *_ = tracewh(command, "--help").out.splitlines()
    assert usage == f"Usage: tracewh {command} [OPTIONS] {words}"


def test_commands_that_refuse_a_url_do_not_offer_one(tracewh: Command) -> None:
    for command in ("relink", "shell"):
        page = tracewh(command, "--help").out
        assert "s3://" not in page
        assert "-w, --warehouse FOLDER" in squeezed(page)
        assert tracewh(command, "-w", "s3://bucket/wh").code == 1
    assert "s3://" in tracewh("check", "--help").out


def test_the_page_of_ingest_names_every_source(tracewh: Command) -> None:
    sources = {
        "ascend": "Ascend",
        "kineto": "PyTorch profiler",
        "mindspore": "MindSpore",
        "ncu": "Nsight Compute",
        "nsys": "Nsight Systems",
        "pipeline": "pipeline operations",
    }
    assert sources.keys() == {reader.name for reader in READERS}
    page = squeezed(tracewh("ingest", "--help").out)
    assert [name for name in sources.values() if name not in page] == []


def test_the_page_of_diff_names_the_views_whose_rows_it_prints(tracewh: Command) -> None:
    # The rows of diff_block_contents are for the page of a report.
    views = {view.name for view in VIEWS if view.name.startswith("diff_")} - {"diff_block_contents"}
    assert set(re.findall(r"diff_\w+", tracewh("diff", "--help").out)) == views


def test_version_picks_the_options_of_that_version(
    tracewh: Command, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second version with another parameter: its option exists there and only there."""
    from dataclasses import replace

    from tracewh.cli.commands import show

    real = show.registry()
    one = real.get("step_breakdown")
    two = replace(one, version=2, params=tuple(p for p in one.params if p.name != "step"))
    registry = type("Both", (), {
        "get": lambda self, name, version=None: one if version == 1 else two,
        "newest": lambda self: [two],
    })()  # fmt: skip
    monkeypatch.setattr(show, "registry", lambda: registry)
    assert "no such option: --step" in tracewh("show", "step_breakdown", "--step", "7").err
    for pin in (["--version", "1"], ["--version=1"], ["--version", "v1"]):
        done = tracewh("show", "step_breakdown", *pin, "--step", "7", "--format", "json")
        assert len(done.json) == 2, done.err


def complete(words: str) -> list[str]:
    """What bash would offer after a line of words; the last one is being typed."""
    parts = words.split(" ")
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'tracewh'; from tracewh.cli.app import main; main()"],
        env={
            **os.environ,
            "_TRACEWH_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(parts) - 1),
        },
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("tracewh sho", ["show"]),
        ("tracewh show step_br", ["step_breakdown", "step_breakdown_summary"]),
        ("tracewh show kernel_stats --gro", ["--group-by"]),
        ("tracewh show kernel_stats --format js", ["json"]),
    ],
)
def test_completion(words: str, offered: list[str]) -> None:
    assert [word for word in complete(words) if word in offered] == offered


def test_the_front_page_and_the_version_load_neither_duckdb_nor_arrow() -> None:
    heavy = "'duckdb', 'pyarrow', 'numpy', 'pydantic', 'rich', 'orjson', 'sqlglot'"
    assert loaded(heavy, ["--version"], ["--help"], ["ingest", "--help"]) == ""


def test_commands_do_not_load_what_typer_converts_values_with(
    warehouse: Path, tmp_path: Path
) -> None:
    """It would take a quarter of the time of a short command."""
    commands = [
        ["query", "SELECT 1", "--format", "csv", "--output", str(tmp_path / "rows.csv")],
        ["show", "step_breakdown", "--run", "base"],
        ["summary", "base", "-w", str(warehouse)],
        ["runs"],
    ]
    assert loaded("'pydantic'", *commands) == ""


def test_all_options_are_of_types_that_we_convert() -> None:
    app_command: Any = typer.main.get_command(app)
    commands = [app_command, *app_command.commands.values()]
    commands += [view_command(view) for view in VIEWS]
    params = [param for command in commands for param in command.params]
    kinds = {str(param.type_descriptor.annotation) for param in params}
    assert kinds == set(map(str, [bool, *CONVERTERS]))


def loaded(modules: str, *commands: list[str]) -> str:
    """The modules of a list that a process has loaded after some commands, which succeed."""
    script = (
        "import sys\nfrom tracewh.cli.app import main\n"
        f"for command in {commands!r}:\n    assert main(command) == 0\n"
        f"heavy = {{{modules}}} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stderr


def test_version(tracewh: Command) -> None:
    from importlib.metadata import version

    assert tracewh("--version").out == f"tracewh {version('tracewh')}\n"
