"""`tracewh drop`, `tracewh compact` and `tracewh relink`."""

from __future__ import annotations

import sys
from pathlib import Path

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import CliError


def remove(warehouse: str, run: str, worker: str | None, span: str | None, *, ask: bool) -> None:
    """Remove the traces of a run from the warehouse."""
    from tracewh.ingest.api import drop, names
    from tracewh.storage.remote import is_url
    from tracewh.views.names import pick
    from tracewh.views.warehouse import find

    if not is_url(warehouse):
        find(warehouse)
    traces = names(warehouse)
    if not traces:
        raise CliError(f"{warehouse}: holds no traces")
    wanted = {"run": run, "worker": worker, "span": span}
    whole, found = pick(traces, {key: name for key, name in wanted.items() if name is not None})
    run = whole["run"]
    what = f"{len(found)} {'trace' if len(found) == 1 else 'traces'} of run {run!r}"
    if ask:
        if not sys.stdin.isatty():
            diagnostics.refuse(
                f"this removes {what}; confirm it with --yes where there is no terminal"
            )
        import typer

        if not typer.confirm(f"Remove {what} from {warehouse}?", err=True):
            raise CliError("nothing removed")
    removed = drop(warehouse, run, whole.get("worker"), whole.get("span"))
    diagnostics.line(f"removed {removed} {'trace' if removed == 1 else 'traces'} of run {run!r}")


def compact(warehouse: str, run: str, *, force: bool) -> None:
    """Copy the small tables of a run's traces to one file a table."""
    from tracewh.cli.output.progress import size
    from tracewh.ingest.api import names
    from tracewh.storage import compaction as module
    from tracewh.storage.remote import is_url
    from tracewh.views.names import pick
    from tracewh.views.warehouse import find

    def tell(copied: module.Copied) -> None:
        sizes = f"{size(copied.read_bytes)}, as {size(copied.stored_bytes)}"
        diagnostics.line(f"{copied.table}: {copied.files:,} files, {sizes} in one")

    if not is_url(warehouse):
        find(warehouse)
    done = module.compact(warehouse, run, force, tell)
    if not done.traces:
        traces = names(warehouse)
        if not traces:
            raise CliError(f"{warehouse}: holds no traces")
        run = pick(traces, {"run": run})[0]["run"]
        done = module.compact(warehouse, run, force, tell)
    many = f"{done.traces:,} {'trace' if done.traces == 1 else 'traces'}"
    if not done.tables:
        why = "it is one trace" if done.traces == 1 else "its files are large"
        diagnostics.note(f"nothing to compact in run {run!r}, of {many}: {why}")
    else:
        what = "was compacted before" if done.unchanged else "was compacted"
        diagnostics.note(f"run {run!r} {what}: {len(done.tables)} tables of {many}")


def relink(warehouse: str) -> None:
    """Write tracewh.duckdb anew, for a copy of a warehouse in a store after its files are renamed."""
    from tracewh.storage.copied_warehouse import make_local
    from tracewh.views.database import write_database

    make_local(Path(warehouse))
    diagnostics.line(f"wrote {write_database(warehouse)}")
