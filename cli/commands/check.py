"""`tracewh check`: verify that the warehouse holds what its ingests wrote."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import FAILED, OK, CliError
from tracewh.cli.output import Output, format_bytes

if TYPE_CHECKING:
    from tracewh.storage.checks import Problem

COLUMNS = ("run", "worker", "span", "file", "problem", "remedy")


def run_check(warehouse: str, run: str | None, output: Output) -> int:
    """Check every trace, write one row per problem, and return the exit code."""
    from tracewh.ingest.api import names
    from tracewh.storage.checks import Problem, check, check_merged, left_behind
    from tracewh.storage.remote import is_url
    from tracewh.views.database import database_problem
    from tracewh.views.names import resolve_names
    from tracewh.views.warehouse import find

    output.check()
    if not is_url(warehouse) and not Path(warehouse, "data").is_dir():
        find(warehouse)
    if run is not None:
        run = resolve_names(names(warehouse), {"run": run})[0]["run"]
    traces = bad = stored_bytes = 0
    problems: list[Problem] = []
    for checked in check(warehouse, run):
        traces += 1
        bad += bool(checked.problems)
        stored_bytes += checked.stored_bytes
        problems += checked.problems
    problems += check_merged(warehouse, run)
    if not is_url(warehouse):
        problems += left_behind(warehouse)
        if found := database_problem(warehouse):
            problems.append(Problem(None, None, None, *found))
    elif not traces:
        raise CliError(f"{warehouse}: holds no traces")
    _write(problems, output)
    total = f"{traces:,} {'trace' if traces == 1 else 'traces'}, {format_bytes(stored_bytes)}"
    if not problems:
        diagnostics.note(f"{total}: no problems found")
        return OK
    diagnostics.note(
        "\n".join(
            [
                f"{total}: {bad:,} damaged; to repair:",
                *dict.fromkeys(f"  {p.remedy}" for p in problems),
            ]
        )
    )
    return FAILED


def _write(problems: list[Problem], output: Output) -> None:
    import duckdb
    import pyarrow

    rows = [astuple(problem) for problem in problems]
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    table = pyarrow.table(
        {
            name: pyarrow.array(values, pyarrow.string())  # noqa: TID251, some are None
            for name, values in zip(COLUMNS, columns, strict=True)
        }
    )
    with duckdb.connect() as con:
        output.write(con.from_arrow(table))
