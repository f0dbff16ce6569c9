"""`tracewh watch`: a line for each trace that is ingested, until it is stopped."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import OK
from tracewh.cli.output.progress import sentence

if TYPE_CHECKING:
    from tracewh.ingest.api import FileResult
    from tracewh.ingest.sources.discover import Source


def follow(
    paths: list[str], warehouse: str, run: str | None, jobs: int | None, interval: int
) -> int:
    """Look again and again. To be interrupted is how it ends, and no failure."""
    from tracewh.errors import IngestError
    from tracewh.ingest.watch import Watch
    from tracewh.views.database import ensure_database
    from tracewh.views.warehouse import WarehouseError

    said: dict[str, str] = {}

    def once(about: str, line: str) -> None:
        """Say something, unless it was the last thing that was said about it."""
        if said.get(about) != line:
            said[about] = line
            diagnostics.line(line)

    def tell(outcome: FileResult) -> None:
        if outcome.status == "refused":
            once(str(outcome.source), sentence(outcome))
        elif outcome.status == "ingested":
            diagnostics.line(sentence(outcome))

    def left(source: Source, reason: str) -> None:
        once(str(source.path), f"{source.path}: skipped until it changes: {reason}")

    def unreached(path: str, reason: str) -> None:
        once(path, f"{reason}; trying again")

    try:
        looks = Watch(
            paths,
            warehouse,
            run=run,
            jobs=jobs,
            on_result=tell,
            on_left=left,
            on_store_error=unreached,
        )
        many = ", ".join(paths)
        diagnostics.note(f"watching {many}, every {interval} s; press Ctrl-C to stop")
        while True:
            try:
                with diagnostics.terminable():
                    tried = looks.scan()
                if tried or warehouse in said:
                    ensure_database(warehouse)
                    said.pop(warehouse, None)
            except (IngestError, WarehouseError) as error:  # a disk may get room again
                once(warehouse, f"{error}; trying again")
            with diagnostics.terminable():
                time.sleep(interval)
    except KeyboardInterrupt:
        diagnostics.note("stopped")
        return OK
