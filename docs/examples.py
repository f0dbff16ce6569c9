"""Run the examples on the pages of views.

The `example:` line of a header names traces, and the options of `tracewh show` for them:

    samples     the bundled samples
    lightning   a run of PyTorch Lightning, recorded for tests
    drawn       the tables of the view's own test, up to its first query: for what none of these traces
                shows
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import re
import shlex
import tempfile
import textwrap
from pathlib import Path
from unittest.mock import patch

import duckdb

import tracewh
from tests.given import Tables, paragraphs
from tracewh.cli.app import main
from tracewh.views import Spec

ROOT = Path(__file__).parents[1]
#: As wide as a page shows without scrolling.
WIDTH = "100"
#: Traces that pages may show because our own script recorded them: the introduction, and the folder.
RECORDED = {
    "samples": ("On the [bundled samples](../../samples/README.md):", "samples"),
    "lightning": (
        "On [a recorded run](../../tests/parity/lightning/record.py) of PyTorch Lightning:",
        "tests/parity/lightning",
    ),
}
_DRAWN = """\
No bundled sample shows this. It is the output for the tables of [its test](../../{test}):

```text
{drawing}
```"""


class ExampleError(Exception):
    """An `example:` line that cannot be shown."""


def command(view: Spec) -> str:
    """The command line of a view's example."""
    return shlex.join(["tracewh", "show", view.name, *shlex.split(view.example)[1:]])


def path_of_test(view: Spec) -> str:
    """The .test file of a view, from the root."""
    return f"tests/views/{view.object_name}.test"


def drawn_case(view: Spec) -> str:
    """What the test of a view draws, and computes by hand; '' if nothing is drawn, or it is the example."""
    test = ROOT / path_of_test(view)
    if is_drawn(view) or not test.exists():
        return ""
    drawing = _drawing(test.read_text("utf-8"))
    return f"```text\n{drawing}\n```" if "\n  " in f"\n{drawing}" else ""


def is_drawn(view: Spec) -> bool:
    """Whether the example of a view shows the tables of its test."""
    return view.example.partition(" ")[0] == "drawn"


class Examples:
    """Runs the examples of views, on warehouses that it creates when they are first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def show(self, view: Spec) -> str:
        """The example of a view: where it comes from, the command, and its output.

        Raises:
            ExampleError: The header has none, or one that does not work.
        """
        traces = view.example.partition(" ")[0]
        if is_drawn(view):
            text = (ROOT / path_of_test(view)).read_text("utf-8")
            warehouse = _drawn(text, view, self._folder / view.object_name)
            source = _DRAWN.format(test=path_of_test(view), drawing=_drawing(text))
        elif traces in RECORDED:
            source = RECORDED[traces][0]
            warehouse = self.warehouse(traces)
        else:
            known = ", ".join([*RECORDED, "drawn"])
            raise ExampleError(
                f"{view.path}: the header needs an 'example:' line that starts with one of {known}"
            )
        code, printed = in_terminal([*shlex.split(command(view))[1:], "-w", str(warehouse)])
        if code or f"{view.name} has no rows" in printed:
            raise ExampleError(f"{view.path}: {command(view)}: {printed.rstrip()}")
        return f"{source}\n\n```console\n$ {command(view)}\n{printed}```"

    def warehouse(self, traces: str) -> Path:
        """A warehouse of recorded traces, by their name in RECORDED."""
        warehouse = self._folder / traces
        if not warehouse.exists():
            tracewh.ingest([ROOT / RECORDED[traces][1]], warehouse)
        return warehouse


def _drawing(text: str) -> str:
    """The comments of a .test file before the first table, without the first line."""
    lines = re.findall(r"^#(?: (.*))?$", text[: text.index("\ngiven ")], re.MULTILINE)
    return "\n".join(lines[1:]).strip("\n")


@functools.cache
def _tables() -> Tables:
    return Tables()


def _drawn(text: str, view: Spec, warehouse: Path) -> Path:
    """A warehouse with the tables of the .test file of a view before its first query."""
    tables = _tables()
    given = itertools.takewhile(
        lambda part: part.startswith("given "), dict(paragraphs(text)).values()
    )
    tables.fill(tuple(given), view.sql)
    con = tables.con
    keys = {
        table.name: con.execute(f"SELECT DISTINCT run, worker, span FROM {table.name}").fetchall()
        for table in tables.registry.tables()
    }
    for key in {*itertools.chain(*keys.values())}:
        run, worker, span = key
        folder = warehouse / "data" / f"run={run}" / f"worker={worker}" / f"span={span}"
        folder.mkdir(parents=True)
        con.execute(
            "INSERT INTO traces (run, worker, span) SELECT $1, $2, $3"
            " WHERE ($1, $2, $3) NOT IN (SELECT (run, worker, span) FROM traces)",
            key,
        )
        for name, of_table in keys.items():
            file = folder / f"{name}.parquet"
            if key in of_table or name == "traces":
                con.sql(
                    f"SELECT * EXCLUDE (run, worker, span) FROM {name}"
                    " WHERE (run, worker, span) = ($1, $2, $3)",
                    params=key,
                ).write_parquet(str(file))
            else:
                file.write_bytes(_without_rows(con, name))
    return warehouse


@functools.cache
def _without_rows(con: duckdb.DuckDBPyConnection, table: str) -> bytes:
    """A Parquet file of a table without rows: most tables of a test are."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "empty.parquet")
        con.sql(f"SELECT * EXCLUDE (run, worker, span) FROM {table} LIMIT 0").write_parquet(
            str(path)
        )
        return path.read_bytes()


class _Screen(io.BytesIO):
    def isatty(self) -> bool:
        return True


def in_terminal(words: list[str], *, color: bool = False) -> tuple[int, str]:
    """The exit status of a command line, and what it prints on a terminal."""
    screen = _Screen()
    stream = io.TextIOWrapper(screen, "utf-8", write_through=True)
    with (
        patch.dict(os.environ, {"COLUMNS": WIDTH, "NO_COLOR": "" if color else "1"}),
        contextlib.redirect_stdout(stream),
        contextlib.redirect_stderr(stream),
    ):
        code = main(words)
    return code, "\n".join(map(_folded, screen.getvalue().decode().split("\n")))


def _folded(line: str) -> str:
    """A message that is wider than a page, in several lines."""
    if line.startswith("tracewh: ") and len(line) > int(WIDTH):
        return textwrap.fill(line, int(WIDTH), break_long_words=False, break_on_hyphens=False)
    return line
