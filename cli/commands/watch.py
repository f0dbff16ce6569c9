"""`tracewh watch`: ingest new traces and print a line for each, until Ctrl-C."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import OK
from tracewh.cli.output import describe_result

if TYPE_CHECKING:
    from tracewh.ingest.api import FileResult
    from tracewh.ingest.sources.discover import Source


def run_watch(
    paths: list[str],
    warehouse: str,
    run: str | None,
    jobs: int | None,
    interval: int,
    step_range: str | None = None,
) -> int:
    """Scan repeatedly until an interrupt, which is the normal end and not an error."""
    from tracewh.errors import IngestError
    from tracewh.ingest.watch import Watch
    from tracewh.views.database import ensure_database
    from tracewh.views.warehouse import WarehouseError

    last_messages: dict[str, str] = {}

    def print_once(topic: str, message: str) -> None:
        """Print a message, unless it is the same as the last one about this topic."""
        if last_messages.get(topic) != message:
            last_messages[topic] = message
            diagnostics.line(message)

    def on_result(result: FileResult) -> None:
        if result.status == "refused":
            print_once(str(result.source), describe_result(result))
        elif result.status == "ingested":
            diagnostics.line(describe_result(result))

    def on_left(source: Source, reason: str) -> None:
        print_once(str(source.path), f"{source.path}: skipped until it changes: {reason}")

    def on_store_error(path: str, reason: str) -> None:
        print_once(path, f"{reason}; trying again")

    try:
        watch = Watch(
            paths,
            warehouse,
            run=run,
            jobs=jobs,
            step_range=step_range,
            on_result=on_result,
            on_left=on_left,
            on_store_error=on_store_error,
        )
        names = ", ".join(paths)
        diagnostics.note(f"watching {names}, every {interval} s; press Ctrl-C to stop")
        while True:
            try:
                with diagnostics.terminable():
                    results = watch.scan()
                if results or warehouse in last_messages:
                    ensure_database(warehouse)
                    last_messages.pop(warehouse, None)
            except (IngestError, WarehouseError) as error:  # e.g. a full disk, may be temporary
                print_once(warehouse, f"{error}; trying again")
            with diagnostics.terminable():
                time.sleep(interval)
    except KeyboardInterrupt:
        diagnostics.note("stopped")
        return OK
