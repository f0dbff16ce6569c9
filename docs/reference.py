"""Generate the reference pages, and the output of commands in all other pages.

The pages of views, tables and definitions come from the headers of SQL files, the page of differences
from tests/parity/differences.txt, and the outputs from running the commands.

`python -m docs.reference` writes them. With ``--check`` it only lists outdated pages; CI runs this. With
``--promises`` it prints the signature of each view, one line per version, for tests/released.txt.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb

from docs import definitions, peers, table_pages, transcripts
from docs.examples import WIDTH, ExampleError, Examples, command, drawn_case, path_of_test
from docs.markdown import cell, sentence, table
from tracewh.cli.commands.show import TITLES
from tracewh.cli.output.empty_result import ADVICE, advise
from tracewh.sql_files import create_function
from tracewh.views import GROUPS, SIZES, Registry, Spec
from tracewh.views.registry import installed

DOCS = Path(__file__).parent
COMMAND = "python -m docs.reference"
_INDEX = f"""\
# The views

<!-- Written by `{COMMAND}` from the headers under views/. -->

You can query a view from the command line (`tracewh show step_breakdown --run R`), from Python
(`warehouse.step_breakdown(run="R")`), or in SQL (`FROM step_breakdown(run := 'R')`).

- The plain name is the newest version. `step_breakdown_v1` never changes.
- Parameters are named. You may leave out those with a default.
- The command line and Python accept [shorter names](warehouse.md#run-worker-span) of runs, workers and
  spans.
- Durations are in microseconds, instants in nanoseconds since 1970, sizes in bytes, shares in percent.
- NULL means that the trace does not say.

The page of each view shows its output on a terminal of {WIDTH} columns, in most cases for the
[samples](../samples/README.md) that come with tracewh. `tracewh demo -w tracewh-warehouse` ingests them."""

_DRAWN_CASE = "This is the first case in [the test](../../{}) of the view, which has the rows that come out of it:"


def render(registry: Registry, show: Callable[[Spec], str]) -> dict[str, str]:
    """Every page by its path below docs/: the index, and one for each view.

    Args:
        show: Returns the example of a view, as Markdown.
    """
    pages = {"views.md": _index(registry)}
    for newest in registry.newest():
        versions = sorted(
            (view for view in registry if view.name == newest.name), key=lambda v: -v.version
        )
        pages[f"views/{newest.name}.md"] = _page(versions, registry, show)
    return pages


def promise(view: Spec) -> str:
    """A view as one line: how to call it and what comes back."""
    params = ", ".join(param.declaration for param in view.params)
    columns = ", ".join(f"{column.name} {column.type}" for column in view.columns)
    return f"{view.object_name}({params}) -> {columns}"


def _index(registry: Registry) -> str:
    parts = [_INDEX]
    for group in GROUPS:
        members = [view for view in registry.newest() if view.group == group]
        if members:
            rows = [(f"[{v.name}](views/{v.name}.md)", cell(v.summary)) for v in members]
            parts += [f"## {TITLES[group]}", table(("view", "what it shows"), rows)]
    carried = ", ".join(
        f"[{v.name}](views/{v.name}.md)" for v in registry.newest() if v.carries == "spark"
    )
    if carried:
        said = "[Spark SQL](howto/spark-sql.md) has these as table functions:"
        parts += ["## In other SQL", f"{said} {carried}."]
    return "\n\n".join(parts) + "\n"


def _page(versions: list[Spec], registry: Registry, show: Callable[[Spec], str]) -> str:
    newest, *older = versions
    parts = [
        f"# {newest.name}",
        f"<!-- Written by `{COMMAND}` from the header of {newest.path}. -->",
        *_opening(newest),
        "## Example",
        show(newest),
        *([newest.reading] if newest.reading else []),
        *(["## How to read it", *rules] if (rules := _rules(newest)) else []),
        *(
            ["## Computed by hand", _DRAWN_CASE.format(path_of_test(newest)), drawing]
            if (drawing := drawn_case(newest))
            else []
        ),
        "## Usage",
        *_params(newest),
        "The example from the command line, in SQL and in Python:",
        _calls(newest, registry),
        "## Columns",
        *_columns(newest),
    ]
    for view in older:
        heading = f"## {view.object_name}"
        parts += [heading, *_opening(view), *_rules(view), *_params(view), *_columns(view)]
    parts.append("[All views](../views.md)")
    return "\n\n".join(parts) + "\n"


def _opening(view: Spec) -> list[str]:
    """The summary of a view, and what a row is."""
    parts = [view.summary]
    if view.deprecated:
        parts.insert(0, f"**Deprecated:** {view.deprecated}")
    if view.grain:
        parts.append(sentence(view.grain))
    if view.carries:
        parts.append("[Spark SQL](../howto/spark-sql.md) has it as a table function.")
    return parts


def _rules(view: Spec) -> list[str]:
    parts = [view.doc] if view.doc else []
    if view.needs:
        checks = " or ".join(f"`{check}`" for check in view.needs)
        parts.append(
            f"If a trace has no rows, {checks} in [trace_quality](trace_quality.md) says what was not "
            "recorded, and how to record it."
        )
    if view.empty:
        why = re.sub(r"\{(\w+)\}", r"`\1`", advise(view.empty, _advice()))
        other = (
            " For other profilers see [recording_advice](recording_advice.md)."
            if ADVICE.search(view.empty)
            else ""
        )
        parts.append(
            f"{'Other reasons for no rows' if view.needs else 'If a trace has no rows'}: {why}{other}"
        )
    return parts


@cache
def _advice() -> dict[str, str]:
    """What recording_advice says about traces of the PyTorch profiler, by kind of data."""
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE traces AS SELECT '' AS run, '' AS worker, '' AS span, NULL AS source"
        )
        for name in ("is_wanted", "recording_hint"):
            create_function(con, name)
        con.execute(installed().get("recording_advice").sql)
        return dict(con.execute("SELECT data, advice FROM recording_advice_v1()").fetchall())


def _params(view: Spec) -> list[str]:
    rows = [
        (f"`{p.name}`", p.type, "required" if p.required else f"`{p.default}`", cell(p.meaning))
        for p in view.params
    ]
    return [table(("parameter", "type", "default", "meaning"), rows)] if rows else []


def _columns(view: Spec) -> list[str]:
    rows = [(f"`{c.name}`", c.type, c.unit, cell(c.meaning)) for c in view.columns]
    rules = (
        f"Rows are ordered by `{view.order}`. On a cluster they distribute by `{view.distributes}`: "
        f"{SIZES[view.distributes]}."
    )
    files = f"[SQL](../../{view.path}), [test](../../{path_of_test(view)})"
    return [
        table(("column", "type", "unit", "meaning"), rows),
        rules,
        f"`{view.object_name}`, since tracewh {view.since}: {files}",
    ]


def _calls(view: Spec, registry: Registry) -> str:
    """The example in each language."""
    options = shlex.split(view.example)[1:]
    given = dict(zip(options[::2], options[1::2], strict=True))
    limit = given.pop("--limit", None)
    named = {option[2:].replace("-", "_"): value for option, value in given.items()}
    call = registry.call(view.name, view.version, **named)
    written = ", ".join(
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"
        for name, value in call.values.items()
    )
    sql = call.sql.replace(view.object_name, view.name, 1) + (f" LIMIT {limit}" if limit else "")
    python = f"warehouse.{view.name}({written}).show()"
    return f"```sh\n{command(view)}\n```\n```sql\n{sql};\n```\n```python\n{python}\n```"


def pages() -> dict[str, str]:
    """The current text of every generated page, by its path below docs/."""
    with tempfile.TemporaryDirectory() as folder:
        return pages_with(Examples(Path(folder)))


def pages_with(examples: Examples) -> dict[str, str]:
    """The same; the examples run in their folder, and use the warehouses that are there."""
    registry = installed()
    return {
        **render(registry, examples.show),
        **table_pages.render(registry, COMMAND),
        "definitions.md": definitions.render(registry, COMMAND),
        "differences.md": peers.render(COMMAND),
        **transcripts.render(DOCS, examples),
    }


def behind(docs: Path, wanted: dict[str, str]) -> list[str]:
    """Pages of a folder that are missing, outdated or obsolete."""
    there = {
        path.relative_to(docs).as_posix(): path.read_text("utf-8")
        for path in docs.rglob("*.md")
        if path.relative_to(docs).as_posix() in wanted or path.parent.name in ("views", "tables")
    }
    return sorted(name for name in wanted | there if wanted.get(name) != there.get(name))


def write(docs: Path, wanted: dict[str, str]) -> None:
    """Write the outdated pages of a folder, and delete obsolete ones."""
    for name in behind(docs, wanted):
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        if name in wanted:
            (docs / name).write_text(wanted[name], "utf-8")
        else:
            (docs / name).unlink()


def main(argv: list[str]) -> int:
    """Write or check the pages in a folder, by default docs/."""
    if "--promises" in argv:
        print(*map(promise, installed()), sep="\n")
        return 0
    docs = Path(next((word for word in argv if not word.startswith("-")), DOCS))
    try:
        wanted = pages()
    except ExampleError as error:
        print(error, file=sys.stderr)
        return 1
    if "--check" not in argv:
        write(docs, wanted)
        return 0
    late = behind(docs, wanted)
    for name in late:
        print(f"{docs / name} is outdated; run `{COMMAND}`", file=sys.stderr)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
