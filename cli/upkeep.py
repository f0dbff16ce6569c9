"""`tracewh drop` and `tracewh relink`."""

from __future__ import annotations

import sys
from pathlib import Path

from tracewh.cli import diagnostics


def remove(warehouse: str, run: str, worker: str | None, span: str | None, *, ask: bool) -> None:
    """Remove the traces of a run from the warehouse."""
    from tracewh.cli import sources
    from tracewh.ingest.api import drop, names
    from tracewh.remote import is_url
    from tracewh.views.warehouse import find

    if not is_url(warehouse):
        find(warehouse)
    traces = names(warehouse)
    if not traces:
        raise diagnostics.CliError(f"{warehouse}: holds no traces")
    wanted = {"run": run, "worker": worker, "span": span}
    found = sources.named(traces, {key: name for key, name in wanted.items() if name})
    what = f"{len(found)} {'trace' if len(found) == 1 else 'traces'} of run {run!r}"
    if ask:
        if not sys.stdin.isatty():
            diagnostics.refuse(f"this removes {what}; say --yes where nobody can be asked")
        import typer

        if not typer.confirm(f"Remove {what} from {warehouse}?", err=True):
            raise diagnostics.CliError("nothing removed")
    removed = drop(warehouse, run, worker, span)
    diagnostics.line(f"removed {removed} {'trace' if removed == 1 else 'traces'} of run {run!r}")


def relink(warehouse: str) -> None:
    """Write tracewh.duckdb anew, for a copy of a warehouse in a store after its files are renamed."""
    from tracewh.ingest.adopt import adopt
    from tracewh.views.database import write_database

    adopt(Path(warehouse))
    diagnostics.line(f"wrote {write_database(warehouse)}")
