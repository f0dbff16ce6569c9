"""`tracewh drop`, `tracewh compact`, `tracewh link-captures` and `tracewh relink`."""

from __future__ import annotations

import sys
from pathlib import Path

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import CliError


def drop_traces(
    warehouse: str, run: str, worker: str | None, span: str | None, *, ask: bool
) -> None:
    """Remove traces of a run from the warehouse, after a confirmation if `ask` is set."""
    from tracewh.ingest.api import drop, names
    from tracewh.storage.remote import is_url
    from tracewh.views.names import resolve_names
    from tracewh.views.warehouse import find

    traces = names(warehouse)  # damaged ones included, which `find` does not find
    if not traces and not is_url(warehouse):
        find(warehouse)
    if not traces:
        raise CliError(f"{warehouse}: holds no traces")
    wanted = {"run": run, "worker": worker, "span": span}
    whole, found = resolve_names(
        traces, {key: name for key, name in wanted.items() if name is not None}
    )
    run = whole["run"]
    what = f"{len(found)} {'trace' if len(found) == 1 else 'traces'} of run {run!r}"
    if ask:
        if not sys.stdin.isatty():
            diagnostics.usage_error(f"this removes {what}; without a terminal, confirm with --yes")
        import typer

        if not typer.confirm(f"Remove {what} from {warehouse}?", err=True):
            raise CliError("nothing removed")
    removed = drop(warehouse, run, whole.get("worker"), whole.get("span"))
    diagnostics.line(f"removed {removed} {'trace' if removed == 1 else 'traces'} of run {run!r}")


def compact_run(warehouse: str, run: str, *, force: bool) -> None:
    """Merge the small files of a run's traces into one file per table."""
    from tracewh.cli.output import format_bytes
    from tracewh.ingest.api import names
    from tracewh.storage import compaction
    from tracewh.storage.remote import is_url
    from tracewh.views.names import resolve_names
    from tracewh.views.warehouse import find

    def report(merged: compaction.MergedTable) -> None:
        files = f"{merged.files:,} files ({format_bytes(merged.read_bytes)})"
        diagnostics.line(
            f"{merged.table}: merged {files} into one ({format_bytes(merged.stored_bytes)})"
        )

    if not is_url(warehouse):
        find(warehouse)
    done = compaction.compact(warehouse, run, force, report)
    if not done.traces:
        traces = names(warehouse)
        if not traces:
            raise CliError(f"{warehouse}: holds no traces")
        run = resolve_names(traces, {"run": run})[0]["run"]
        done = compaction.compact(warehouse, run, force, report)
    many = f"{done.traces:,} {'trace' if done.traces == 1 else 'traces'}"
    if not done.tables:
        why = "it has one trace" if done.traces == 1 else "its files are large"
        if done.traces > 1 >= done.traces - done.damaged:
            why = f"{done.damaged:,} of them are damaged; `tracewh check` says how to repair them"
            if done.damaged == 1:
                why = "one of them is damaged; `tracewh check` says how to repair it"
        diagnostics.note(f"nothing to compact in run {run!r} ({many}): {why}")
    else:
        what = "is already compacted" if done.unchanged else "is now compacted"
        diagnostics.note(f"run {run!r} {what}: {len(done.tables)} tables of {many}")


def link_capture_run(warehouse: str, run: str, capture_run: str) -> None:
    """Copy the traces of a run to the captures of another one."""
    from tracewh.ingest.api import names
    from tracewh.storage.captures import link_captures
    from tracewh.storage.layout import replaying_run
    from tracewh.storage.remote import is_url
    from tracewh.views.names import resolve_names
    from tracewh.views.warehouse import find

    if not is_url(warehouse):
        find(warehouse)
    traces = names(warehouse)
    run, capture_run = (
        resolve_names(traces, {"run": name})[0]["run"] for name in (run, capture_run)
    )
    if replaying_run(capture_run) == replaying_run(run):
        raise CliError(f"run {capture_run!r} already belongs to run {run!r}")
    copies = link_captures(warehouse, run, capture_run)
    many = "trace" if len(copies) == 1 else "traces"
    diagnostics.line(
        f"{len(copies)} {many} of run {capture_run!r} copied to run {copies[0][0]!r}: captures of {run!r}"
    )


def relink_warehouse(warehouse: str) -> None:
    """Rewrite tracewh.duckdb; first rename the files of a warehouse copied from an object store."""
    from tracewh.storage.copied_warehouse import make_local
    from tracewh.views.database import write_database

    for manifest in make_local(Path(warehouse)):
        diagnostics.note(f"{manifest} is damaged; `tracewh check` says how to repair it")
    diagnostics.line(f"wrote {write_database(warehouse)}")
