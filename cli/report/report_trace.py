"""The trace that a page shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReportTrace:
    """The trace of a page, the number of other traces in its run, and the baseline run."""

    run: str
    worker: str
    span: str
    start_ns: int
    end_ns: int
    others: int
    baseline: str | None = None
