"""How far ingest is: a bar on a terminal, a line per file elsewhere. All of it on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    from tracewh.ingest.api import FileResult, Progress


class Display(Protocol):
    """What ingest reports to while it runs."""

    def advance(self, progress: Progress) -> None:
        """So far so much is done."""

    def finished(self, outcome: FileResult) -> None:
        """This became of one file."""

    def remark(self, text: str) -> None:
        """This is to be said meanwhile."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


def display() -> Display:
    """The display that stderr can show."""
    return Bar() if sys.stderr.isatty() else Lines()


class Lines:
    """One plain line per file, for logs."""

    def advance(self, progress: Progress) -> None:
        """Nothing: a log wants results."""

    def finished(self, outcome: FileResult) -> None:
        """Say what became of the file."""
        diagnostics.line(sentence(outcome))

    def remark(self, text: str) -> None:
        """Say it."""
        diagnostics.line(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


class Bar:
    """A bar with files, bytes, events per second and the time left; refused files stand above it."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=None),
            progress.DownloadColumn(),
            progress.TextColumn("{task.fields[speed]}"),
            progress.TimeRemainingColumn(compact=True),
            console=Console(stderr=True, highlight=False),
            transient=True,
            expand=True,
        )
        self._task = self._bar.add_task("reading", total=None, speed="")
        self._started = time.monotonic()

    def advance(self, progress: Progress) -> None:
        """Move the bar."""
        seconds = max(time.monotonic() - self._started, 1e-3)
        self._bar.update(
            self._task,
            description=f"{progress.files_done}/{progress.files_total} files",
            completed=progress.bytes_done,
            total=progress.bytes_total,
            speed=f"{progress.events / seconds:,.0f} events/s" if progress.events else "",
        )

    def finished(self, outcome: FileResult) -> None:
        """Name a refused file at once; the others are in the summary."""
        if outcome.status == "refused":
            self.remark(sentence(outcome))

    def remark(self, text: str) -> None:
        """Say it above the bar."""
        self._bar.console.print(text, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()


def sentence(outcome: FileResult) -> str:
    """What became of a file, in one line."""
    if outcome.status == "refused":
        return f"{outcome.source}: refused: {outcome.reason}"
    if outcome.status == "unchanged":
        return f"{outcome.source}: unchanged, already ingested"
    skipped = f", {outcome.skipped_events:,} skipped" if outcome.skipped_events else ""
    events = f"{outcome.events:,} event{'' if outcome.events == 1 else 's'}"
    return (
        f"{outcome.source}: ingested {events}{skipped}, "
        f"{size(outcome.source_bytes)} as {size(outcome.stored_bytes)}, in {outcome.seconds:.2f} s"
    )


def size(count: float) -> str:
    """Bytes with three or four digits and their unit."""
    unit = "B"
    for larger in ("kB", "MB", "GB"):
        if count < 1000:
            break
        count, unit = count / 1000, larger
    return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
