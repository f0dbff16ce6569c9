"""`tracewh drop` and `tracewh relink`."""

from __future__ import annotations

import sys
from pathlib import Path

from tracewh.cli import diagnostics


def remove(warehouse: Path, run: str, worker: str | None, span: str | None, *, ask: bool) -> None:
    """Remove the traces of a run from the warehouse."""
    from tracewh.ingest.api import drop

    found = _matching(warehouse, run, worker, span)
    what = f"{len(found)} {'trace' if len(found) == 1 else 'traces'} of run {run!r}"
    if ask:
        if not sys.stdin.isatty():
            diagnostics.refuse(f"this removes {what}; say --yes where nobody can be asked")
        import typer

        if not typer.confirm(f"Remove {what} from {warehouse}?", err=True):
            raise diagnostics.CliError("nothing removed")
    removed = drop(warehouse, run, worker, span)
    diagnostics.line(f"removed {removed} {'trace' if removed == 1 else 'traces'} of run {run!r}")


def _matching(
    warehouse: Path, run: str, worker: str | None, span: str | None
) -> list[tuple[str, str, str]]:
    """The traces that are meant. Whatever is not there is refused by its name."""
    import tracewh

    with tracewh.open(warehouse) as opened:
        traces = opened.sql("FROM traces SELECT run, worker, span ORDER BY ALL").fetchall()
    for position, (what, name) in enumerate((("run", run), ("worker", worker), ("span", span))):
        known = sorted({trace[position] for trace in traces})
        if name is not None and name not in known:
            hint = diagnostics.did_you_mean(name, known) or f"; there is {', '.join(known[:5])}"
            diagnostics.refuse(f"no {what} named {name!r}{hint}")
        traces = [trace for trace in traces if name in (None, trace[position])]
    return traces


def relink(warehouse: Path) -> None:
    """Write tracewh.duckdb anew."""
    from tracewh.views.warehouse import write_database

    diagnostics.line(f"wrote {write_database(warehouse)}")
