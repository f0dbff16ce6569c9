"""`tracewh ingest`: what the caller sees of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics
from tracewh.cli.progress import Display, display, size

if TYPE_CHECKING:
    from tracewh.cli.engine import Cluster
    from tracewh.ingest.outcome import Outcome


def take_in(
    paths: Iterable[str],
    warehouse: str,
    *,
    run: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    cluster: Cluster | None = None,
) -> int:
    """Ingest with a display, sum it up, and give the exit code."""
    from tracewh.ingest.discover import discover
    from tracewh.ingest.objects import store_of
    from tracewh.views.database import ensure_database, preparing
    from tracewh.views.warehouse import WarehouseError

    started = time.monotonic()
    with preparing(warehouse) as prepared:
        try:
            with display() as shown, diagnostics.terminable(), ExitStack() as stack:
                store, sources = store_of(warehouse), discover(paths, run)
                ingest = _engine(cluster, jobs, stack, shown)
                outcomes = ingest(
                    sources,
                    store,
                    force=force,
                    on_progress=shown.advance,
                    on_outcome=shown.finished,
                )
        except KeyboardInterrupt as interrupt:
            diagnostics.note(
                "interrupted; the traces that are in stay in, the same command goes on"
            )
            return diagnostics.interrupted(interrupt)
        summarize(outcomes, time.monotonic() - started)
        try:
            ensure_database(warehouse, prepared)
        except WarehouseError as error:  # the traces are in: what is said of them comes first
            raise diagnostics.CliError(str(error)) from None
    refused = sum(outcome.status == "refused" for outcome in outcomes)
    if refused == len(outcomes):
        return diagnostics.FAILED
    return diagnostics.SOME_REFUSED if refused else diagnostics.OK


def _engine(
    cluster: Cluster | None, jobs: int | None, stack: ExitStack, shown: Display
) -> Callable[..., list[Outcome]]:
    """What takes in files, on this machine or with a session on the cluster."""
    if cluster is None:
        from tracewh.ingest.api import ingest_sources

        return partial(ingest_sources, jobs=jobs)
    from tracewh.spark.session import session

    spark = stack.enter_context(session(cluster.master))
    from tracewh.ingest import spark as engine

    def wait() -> None:
        shown.remark(
            f"tracewh: no executor has begun to work in {engine.WAIT_SECONDS} s: the cluster may be full, "
            "or have no workers; still waiting"
        )

    return partial(engine.ingest_sources, spark, on_wait=wait)


def summarize(outcomes: list[Outcome], seconds: float) -> None:
    """Print a table with a row per file, and the totals below it."""
    from tracewh.cli import cells, screen

    columns: dict[str, list[Any]] = {
        "run": [outcome.run for outcome in outcomes],
        "worker": [outcome.worker for outcome in outcomes],
        "span": [outcome.span for outcome in outcomes],
        "file": _below_common_folder([str(outcome.source) for outcome in outcomes]),
        "status": [outcome.status for outcome in outcomes],
        "events": [outcome.events if outcome.status != "refused" else None for outcome in outcomes],
        "source_mb": [outcome.source_bytes / 1e6 for outcome in outcomes],
        "stored_mb": [o.stored_bytes / 1e6 if o.status != "refused" else None for o in outcomes],
        "seconds": [round(outcome.seconds, 3) for outcome in outcomes],
    }
    shown = [cells.column(name, values) for name, values in columns.items()]
    for line in screen.lines(shown, on_screen=sys.stdout.isatty()):
        print(line)
    sys.stdout.flush()
    counts = {status: 0 for status in ("ingested", "unchanged", "refused")}
    for outcome in outcomes:
        counts[outcome.status] += 1
    said = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    new = [outcome for outcome in outcomes if outcome.status == "ingested"]
    if new:
        events = sum(outcome.events for outcome in new)
        source, stored = (sum(getattr(o, f"{w}_bytes") for o in new) for w in ("source", "stored"))
        said += f"; {events:,} events in {seconds:.1f} s ({events / max(seconds, 1e-3):,.0f}/s), "
        said += f"{size(source)} stored as {size(stored)}"
    diagnostics.note(said)


def _below_common_folder(files: list[str]) -> list[str]:
    """The part of each path or URL that tells the files apart, with the file's name at least."""
    folders = [_folder(file) for file in files]
    common = _folder(os.path.commonprefix(folders))
    return [file[len(common) :] for file in files]


def _folder(path: str) -> str:
    return path[: max(path.rfind("/"), path.rfind(os.sep)) + 1]
