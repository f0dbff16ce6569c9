"""The trace that a page shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from tracewh.cli.output.cell_format import INSTANT_FROM, INSTANT_TO


@dataclass(frozen=True, slots=True)
class ReportTrace:
    """The trace of a page, the number of other traces in its run, and the trace to compare it with."""

    run: str
    worker: str
    span: str
    start_ns: int
    end_ns: int
    others: int
    baseline: str | None = None
    baseline_worker: str | None = None
    baseline_span: str | None = None

    @property
    def date(self) -> str:
        """The day of the recording in UTC, as year-month-day; empty if its clock does not tell."""
        if not INSTANT_FROM <= (self.start_ns or 0) < INSTANT_TO:
            return ""
        return f"{datetime.fromtimestamp(self.start_ns // 10**9, UTC):%Y-%m-%d}"
