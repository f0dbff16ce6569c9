"""Progress of an ingest on stderr: a bar on a terminal, otherwise lines for a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol, Self

from tracewh.cli import diagnostics
from tracewh.files import visible

if TYPE_CHECKING:
    from tracewh.ingest.api import FileResult, Progress


class Display(Protocol):
    """Shows the progress of an ingest while it runs."""

    def advance(self, progress: Progress) -> None:
        """Show the progress."""

    def finished(self, result: FileResult) -> None:
        """Show the result of one file."""

    def remark(self, text: str) -> None:
        """Print a message while the ingest runs."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def display() -> Display:
    """Return a bar if stderr is a terminal, else plain lines."""
    return Bar() if sys.stderr.isatty() else Lines()


class Lines:
    """One plain line per file that is new or refused, for logs; the summary counts the unchanged ones."""

    def advance(self, progress: Progress) -> None:
        """Do nothing: a log contains only results."""

    def finished(self, result: FileResult) -> None:
        """Print the result of the file."""
        if result.status != "unchanged":
            diagnostics.line(describe_result(result))

    def remark(self, text: str) -> None:
        """Print the message."""
        diagnostics.line(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


class Bar:
    """A bar with files, bytes, events per second and remaining time; refused files are listed above it."""

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

    def finished(self, result: FileResult) -> None:
        """Print a refused file at once; the summary has the others."""
        if result.status == "refused":
            self.remark(describe_result(result))

    def remark(self, text: str) -> None:
        """Print the message above the bar."""
        self._bar.console.print(visible(text, diagnostics.KEPT), markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()


def describe_result(result: FileResult) -> str:
    """Return the result of a file that is new or refused as one line."""
    source = visible(str(result.source))
    if result.status == "refused":
        return f"{source}: refused: {visible(result.reason)}"
    skipped = f", {result.skipped_events:,} skipped" if result.skipped_events else ""
    events = f"{result.events:,} event{'' if result.events == 1 else 's'}"
    return (
        f"{source}: ingested {events}{skipped}, "
        f"{format_bytes(result.source_bytes)} stored as {format_bytes(result.stored_bytes)}, in {result.seconds:.2f} s"
    )


def format_bytes(count: float) -> str:
    """Return a number of bytes with three or four digits and a unit, e.g. ``12.3 MB``."""
    unit = "B"
    for larger in ("kB", "MB", "GB"):
        if count < 1000:
            break
        count, unit = count / 1000, larger
    return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
