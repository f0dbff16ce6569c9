"""The trace that a page or a summary shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tracewh.cli.output.cell_format import INSTANT_FROM, INSTANT_TO
from tracewh.views.queries import query_rows

if TYPE_CHECKING:
    from tracewh.views.warehouse import Warehouse


#: Stands for `traces.source` of a Chrome trace that another program wrote.
OTHER = "other"


@dataclass(frozen=True, slots=True)
class ReportTrace:
    """The trace of a page, the number of other traces in its run, and the trace to compare it with.

    Times of its file count from `base_ns`. `has_own_steps` is whether another program recorded steps, as JAX does.
    """

    run: str
    worker: str
    span: str
    start_ns: int
    end_ns: int
    others: int
    source: str
    baseline: str | None = None
    baseline_worker: str | None = None
    baseline_span: str | None = None
    base_ns: int = 0
    has_own_steps: bool = False

    @property
    def date(self) -> str:
        """The day of the recording in UTC, as year-month-day; empty if the trace does not say."""
        if not INSTANT_FROM <= self.start_ns < INSTANT_TO:
            return ""
        return f"{datetime.fromtimestamp(self.start_ns // 10**9, UTC):%Y-%m-%d}"


def newest_run(warehouse: Warehouse) -> str:
    """Return the run whose recording began last."""
    [(run,)] = query_rows(warehouse, "newest_run")
    return str(run)


def select_traces(warehouse: Warehouse, run: str, baseline: str | None) -> None:
    """Open only the files of a run and of its baseline."""
    runs = {"baseline": baseline, "experiment": run} if baseline else {"run": run}
    warehouse.select_traces(None, warehouse.resolve(runs))


def choose_trace(
    warehouse: Warehouse, run: str, worker: str | None, span: str | None, baseline: str | None
) -> ReportTrace:
    """Return the named trace, or by default the first recording of the lowest rank."""
    named = {"run": run, "worker": worker, "span": span, "baseline": baseline or None}
    whole = warehouse.resolve(named)
    run, baseline = whole["run"], whole["baseline"]
    trace = first_trace(warehouse, run, whole["worker"], whole["span"], baseline)
    assert trace is not None  # resolve refuses names of nothing
    return trace


def first_trace(
    warehouse: Warehouse,
    run: str,
    worker: str | None,
    span: str | None,
    baseline: str | None = None,
) -> ReportTrace | None:
    """Return the first recording of the lowest rank, of the worker and span if they are named."""
    rows = query_rows(warehouse, "first_trace_of_run", run=run, worker=worker, span=span)
    if not rows:
        return None
    worker, span, start_ns, end_ns, source, traces, lacks_version, base_ns = rows[0]
    of_trace = {"run": run, "worker": worker, "span": span}
    has_own_steps = False
    if lacks_version and query_rows(warehouse, "of_another_program", **of_trace):
        source = OTHER
        has_own_steps = bool(query_rows(warehouse, "recorded_steps", **of_trace))
    compared = (None, None)
    if baseline is not None:
        [compared] = query_rows(warehouse, "trace_to_compare", **of_trace, baseline=baseline)
    others, compared_with = traces - 1, (baseline, *compared)
    return ReportTrace(
        run, worker, span, start_ns, end_ns, others, source, *compared_with, base_ns, has_own_steps
    )


def baseline_trace(warehouse: Warehouse, trace: ReportTrace) -> ReportTrace | None:
    """Return the trace of the baseline that a trace is compared with."""
    if trace.baseline is None:
        return None
    return first_trace(warehouse, trace.baseline, trace.baseline_worker, trace.baseline_span)
