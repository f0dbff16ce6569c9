"""`tracewh report`: choose a trace and write its page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.cli import diagnostics
from tracewh.cli.output import Output, atomic_write
from tracewh.cli.report import libraries
from tracewh.cli.report.page import render
from tracewh.cli.report.report_trace import ReportTrace, first_trace
from tracewh.views.queries import query_rows

if TYPE_CHECKING:
    from tracewh.views.warehouse import Warehouse


def write_report(
    warehouse: str,
    run: str | None,
    worker: str | None,
    span: str | None,
    output: Path,
    baseline: str | None = None,
) -> None:
    """Write the page of one trace: by default of the newest run, its lowest rank and its first recording."""

    libraries.check()
    page = Output(path=output)
    page.check()
    with page.open_warehouse(warehouse) as opened:
        run = newest_run(opened) if run is None else run
        select_traces(opened, run, baseline)
        opened.confine()
        trace = choose_trace(opened, run, worker, span, baseline)
        with atomic_write(output) as part, part.open("w", encoding="utf-8") as file:
            file.writelines(render(opened, trace))
    size = output.stat().st_size / 1e6
    diagnostics.note(
        f"wrote {shlex.quote(str(output))}, {size:.1f} MB: "
        f"run {trace.run}, worker {trace.worker}, span {trace.span}"
    )


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
