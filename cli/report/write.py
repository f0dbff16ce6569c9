"""`tracewh report`: write the page of a trace."""

from __future__ import annotations

import shlex
from pathlib import Path

from tracewh.cli import diagnostics
from tracewh.cli.output import Output, atomic_write
from tracewh.cli.report import libraries
from tracewh.cli.report.page import render
from tracewh.cli.report.report_trace import choose_trace, newest_run, select_traces


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
