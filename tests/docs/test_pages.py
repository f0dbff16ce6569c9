"""Commands, SQL, Python and names on the pages that people write: all of them work and exist."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from docs.transcripts import WRITTEN
from tests.cli.report.parts import panels_only
from tests.copied import OpenWarehouse
from tests.docs.test_readme import fenced
from tracewh.cli.app import main
from tracewh.views import Spec
from tracewh.views.registry import installed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN_BY_PEOPLE = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if WRITTEN not in path.read_text("utf-8") and path.name != "adding-a-view.md"
]
#: Its Python needs other libraries: tests/live/test_trainers.py.
TRAINERS = DOCS / "howto" / "trainers.md"
COMING_FROM = sorted((DOCS / "coming-from").glob("*.md"))
#: What stands for a name of the reader's own.
PLACEHOLDERS = {"my_run": "resnet_workers_0", "/traces/run1": "traces/run1"}
#: What the pages take for granted of the reader's program.
READERS = """
import torch
loader, train, model = range(12), lambda batch: None, torch.nn.Linear(2, 2)
prompt, dataset = "a lighthouse", range(12)

def pipe(prompt, num_inference_steps, callback_on_step_end=lambda pipe, step, time, tensors: tensors):
    for step in range(num_inference_steps):
        callback_on_step_end(pipe, step, step, {})
"""


@pytest.fixture(scope="module")
def folder(samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the samples as logdir/, into which a page may record, and ingested."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "samples", folder / "logdir")
    shutil.copytree(samples.path, folder / "tracewh-warehouse")
    return folder


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("TRACEWH_WAREHOUSE", raising=False)


def with_blocks(language: str, without: Collection[Path] = ()) -> list[Any]:
    """The pages with blocks of a language, and these."""
    return [
        pytest.param([text for name, text in fenced(page) if name == language], id=page.stem)
        for page in WRITTEN_BY_PEOPLE
        if page not in without and any(name == language for name, _ in fenced(page))
    ]


#: The warehouse that views are shown of; `tracewh query` locks the settings of its own.
opened = functools.cache(OpenWarehouse)


def check_command(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A question is asked; of any other command the name and the options have to be there."""
    for placeholder, name in PLACEHOLDERS.items():
        line = line.replace(placeholder, name)
    program, *words = shlex.split(line, comments=True)
    if program != "tracewh":
        return
    if words[0] in ("show", "query", "runs", "views") and "s3://" not in line:
        with pytest.MonkeyPatch.context() as patch:
            if words[0] == "show":
                patch.setattr("tracewh.open", opened)
            code = main(words)
        assert code == 0, f"{line}\n{capsys.readouterr().err}"
        return
    command = words[:2] if words[0] == "show" else words[:1]
    assert main([*command, "--help"]) == 0, line
    page = capsys.readouterr().out
    for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", line):
        assert re.search(rf"(?<!\S){option}\b", page), f"{line}: no {option}"


@pytest.mark.parametrize("blocks", with_blocks("sh"))
def test_commands(blocks: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for line in "".join(blocks).replace("\\\n", "").splitlines():
        check_command(line, capsys)


@pytest.mark.parametrize("blocks", with_blocks("sql"))
def test_sql(blocks: list[str]) -> None:
    with tracewh.open("tracewh-warehouse") as warehouse:
        for statement in "".join(blocks).split(";\n"):
            if statement.strip():
                warehouse.sql(statement).fetchall()


@pytest.mark.filterwarnings("ignore::UserWarning:torch.profiler")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torch.compile imports
@pytest.mark.parametrize("blocks", with_blocks("python", without=[TRAINERS]))
def test_python(blocks: list[str]) -> None:
    # Slow to import, and every process of a test run collects this file.
    import torch

    names: dict[str, Any] = {}
    exec(f"{READERS}from torch.utils.data import DataLoader", names)  # noqa: S102
    for text in blocks:
        for placeholder, name in PLACEHOLDERS.items():
            text = text.replace(placeholder, name)
        code = compile(text, "page", "exec")
        # torch built without CUDA raises an error at the first NVTX range.
        if "torch.cuda.nvtx" not in text or torch.cuda.is_available():
            with panels_only("steps"):
                exec(code, names)  # noqa: S102


def test_the_page_of_the_warehouse_has_every_table() -> None:
    page = (DOCS / "warehouse.md").read_text("utf-8")
    listed = re.findall(r"^ {10}(\w+)\.parquet ", page, re.MULTILINE)
    tables = [table.name for table in installed().tables()]
    assert sorted(listed) == sorted(tables)
    # "Every engine can read the types"; JSON is text, and there is one TIMESTAMP.
    columns = [column for table in installed().tables() for column in table.columns]
    types = {column.type.removesuffix("[]") for column in columns}
    instants = [column.name for column in columns if column.type == "TIMESTAMP WITH TIME ZONE"]
    assert instants == ["ingested_at"]
    assert types - {"TIMESTAMP WITH TIME ZONE"} == {
        *("BIGINT", "INTEGER", "DOUBLE", "VARCHAR", "BOOLEAN", "JSON"),
    }
    # A trace is written as an object per table, and the manifest.
    objects = len(tables) + 1
    [written] = re.findall(r"^\| write a trace,.*? \| (\d+) \|", page, re.MULTILINE)
    [traces] = re.findall(r"1,000 objects are (\d+) traces", page)
    assert (int(written), int(traces)) == (objects, 1000 // objects)
    plan = (DOCS / "howto" / "thousands-of-ranks.md").read_text("utf-8")
    [(one, all_ranks)] = re.findall(r"^\| writes \| (\d+) \| ([\d,]+):", plan, re.MULTILINE)
    assert (one, all_ranks) == (f"{objects}", f"{4096 * objects:,}")


def test_the_home_page_links_to_every_page() -> None:
    home = (DOCS / "index.md").read_text("utf-8")
    linked = {DOCS / link for link in re.findall(r"\]\(([^)#]+\.md)\)", home)}
    pages = {path for path in DOCS.rglob("*.md") if path.parent.name not in ("tables", "views")}
    assert sorted(pages - linked - {DOCS / "index.md"}) == []


def ours(page: Path) -> Iterator[str]:
    """The lines of a page, without the blocks, and without what tables say of the other tool."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for line in text.splitlines():
        yield re.sub(r"^\|.*?(?<!\\)\|", "|", line)


def names(spec: Spec) -> set[str]:
    return {column.name for column in spec.columns} | {param.name for param in spec.params}


#: Spans of code that name something else than views, tables and what these have.
OTHERS = {
    *("tensorboard_trace_handler", "record_function", "torch.profiler", "cuLaunchKernel"),
    *(
        ".df()",
        "nsys stats",
        "nsys analyze",
        "emit_nvtx",
        "nvtx_kern_sum",
        "step 12",
        "iteration 12",
    ),
    *("cudaLaunchKernel", "cudaLaunchKernel_v7000", "cudaMemcpy"),
}


@pytest.mark.parametrize("page", COMING_FROM, ids=lambda page: page.stem)
def test_every_name_on_the_pages_for_newcomers_exists(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = installed()
    specs = {spec.name: spec for spec in [*registry.tables(), *registry.slices()]}
    specs |= {view.name: view for view in registry.newest()}
    everywhere = set[str]().union(*map(names, specs.values()))
    rules = set(re.findall(r"^    (\w+) {2,}", specs["recommendations"].doc, re.MULTILINE))
    mentioned = 0
    for line in ours(page):
        links = re.findall(r"\[(\w+)\]\(\.\./(?:views|tables)/|`tracewh show (\w+)", line)
        linked = [specs[name or shown] for name, shown in links if (name or shown) in specs]
        has = set[str]().union(*map(names, linked))
        for span in re.findall(r"`([^`]+)`", line):
            mentioned += 1
            if span.startswith("tracewh "):
                check_command(span, capsys)
            elif span not in specs and span not in OTHERS:
                # In a line that links to views, of one of these.
                assert span in (has or everywhere), f"{page.name}: {span} in: {line}"
        if "recommendations.md" in line:
            assert set(re.findall(r"\b[a-z]+_[a-z_]+(?= in \[)", line)) <= rules, line
        mentioned += len(linked)
    assert mentioned > 20, "the spans are found"


def test_a_name_that_does_not_exist_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "a.md"
    for line in (
        "| `x` | [kernel_stats](../views/kernel_stats.md) | `lateness_us` |",  # of another view
        "| `x` | `step_brekdown` | |",
        "| `x` | `tracewh show kernel_stats --grup-by name` | |",
    ):
        page.write_text("\n".join(["`kernel_stats`"] * 30 + [line]))
        with pytest.raises(AssertionError):
            test_every_name_on_the_pages_for_newcomers_exists(page, capsys)


def test_a_command_with_an_unknown_option_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    check_command("tracewh watch logdir/ --interval 1", capsys)
    with pytest.raises(AssertionError):
        check_command("tracewh watch logdir/ --intervall 1", capsys)
