"""What Jupyter shows of a warehouse: a report, its charts, and the results of views.

A result of a view stays a DuckDB relation. Jupyter draws it as a table, and the result of the view `timeline`
as a timeline, because `draw_relations` tells it how.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.output import atomic_write
from tracewh.cli.report import charts, libraries
from tracewh.cli.report.page import panel_data, render, timeline_page
from tracewh.cli.report.panels import COMPARED, SECTIONS, Panel
from tracewh.cli.report.report_trace import choose_trace, select_traces
from tracewh.notebook.tables import as_html
from tracewh.views.sql_mistakes import own_lines
from tracewh.views.warehouse import Warehouse, origin

if TYPE_CHECKING:
    import altair
    from IPython.lib.pretty import RepresentationPrinter

    from tracewh.cli.report.report_trace import ReportTrace

#: Heights of the frames of a report and of a timeline, and the width of a chart, in pixels.
REPORT_HEIGHT, TIMELINE_HEIGHT, CHART_WIDTH = 900, 620, 640
#: The panels with a chart, by their view.
CHARTS: dict[str, Panel] = {
    panel.view: panel
    for section in (*SECTIONS, COMPARED)
    for panel in section.panels
    if panel.chart and panel.chart["kind"] in charts.KINDS
}


class PictureError(Exception):
    """A picture cannot be drawn. The message says why, and what to do."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows instead of a traceback."""
        return [str(self)]


@dataclass(frozen=True)
class Page:
    """An HTML page about a run: Jupyter shows it in a frame, and `save` writes it to a file."""

    title: str
    html: str = field(repr=False)
    height: int = field(default=REPORT_HEIGHT, repr=False)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, which needs no network, and return its path.

        Raises:
            PictureError: The file cannot be written.
        """
        try:
            with atomic_write(Path(path)) as part:
                part.write_text(self.html, "utf-8")
        except CliError as error:
            raise PictureError(str(error)) from None
        return Path(path)

    def _repr_html_(self) -> str:
        # The page may run its own scripts only, and cannot reach the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}"'
            f' sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}"'
            ' style="border: 0"></iframe>'
        )


def report(
    warehouse: Warehouse,
    run: str,
    worker: str | None = None,
    span: str | None = None,
    baseline: str | None = None,
) -> Page:
    """Return the report of a run, as `tracewh report` writes it.

    Args:
        warehouse: The warehouse of the run.
        run: Name of the run.
        worker: The worker to show; None for the first.
        span: The recording to show; None for the first.
        baseline: The run to compare with, if any.

    Raises:
        PictureError: The extra `report` is not installed.
        ViewError: There is no such run, worker or span.
    """
    try:
        libraries.check()
    except CliError as error:
        raise PictureError(str(error)) from None
    return _page(warehouse, render, (run, worker, span, baseline), "report", REPORT_HEIGHT)


def timeline(warehouse: Warehouse, run: str, worker: str | None, span: str | None) -> Page:
    """Return the timeline of a trace."""
    return _page(warehouse, timeline_page, (run, worker, span, None), "timeline", TIMELINE_HEIGHT)


def chart(
    warehouse: Warehouse,
    view: str,
    run: str,
    worker: str | None = None,
    span: str | None = None,
    baseline: str | None = None,
) -> altair.Chart | altair.LayerChart:
    """Return a chart of the report as an altair chart.

    Args:
        warehouse: The warehouse of the run.
        view: The view whose rows it draws, e.g. 'step_breakdown'; `CHARTS` lists all.
        run: Name of the run.
        worker: The worker to show; None for the first.
        span: The recording to show; None for the first.
        baseline: The run to compare with; the views of a comparison need it.

    Raises:
        PictureError: The view has no chart or no rows, or the extra `notebook` is not installed.
        ViewError: There is no such run, worker or span.
    """
    try:
        import altair
    except ModuleNotFoundError:
        raise PictureError("a chart needs altair: pip install 'tracewh[notebook]'") from None
    if view not in CHARTS:
        raise PictureError(f"no chart of {view!r}; choose one of {', '.join(sorted(CHARTS))}")
    panel = CHARTS[view]
    if panel in COMPARED.panels and baseline is None:
        raise PictureError(f"the chart of {view} compares two runs: name the other as baseline=")
    with _opened(warehouse, run, worker, span, baseline) as (opened, trace):
        found = panel_data(opened, panel, trace)
    drawn = found["chart"]
    if not found["rows"] or drawn["specification"] is None:
        why = found["empty"] or panel.undrawn or f"{view} has only zeros for {trace.run}"
        raise PictureError(why)
    rows = charts.records(found)
    if drawn["kind"] == "flame":
        rows = charts.frames(found, drawn["path"], next(iter(drawn["frames"])))
    made = {
        **drawn["specification"],
        "title": {"text": panel.title, "subtitle": found["finding"] or ""},
        "width": CHART_WIDTH,
        "datasets": {"rows": rows},
    }
    made["autosize"] = "pad"  # the width is known
    picture: altair.Chart | altair.LayerChart = altair.Chart.from_dict(made)
    return picture


def draw_relations() -> None:
    """Let IPython, if this is one, draw the results of views as pictures and tables."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        # Those that DuckDB brings itself would run the query once more.
        bundles = shell.display_formatter.mimebundle_formatter
        bundles.for_type(duckdb.DuckDBPyRelation, lambda relation, **_: {})
        formatters = shell.display_formatter.formatters
        formatters["text/html"].for_type(duckdb.DuckDBPyRelation, relation_html)
        formatters["text/plain"].for_type(duckdb.DuckDBPyRelation, _print)


def relation_html(relation: duckdb.DuckDBPyRelation) -> str:
    """Return the HTML of a relation: a timeline for that view, else a table, or why its query fails."""
    try:
        with own_lines(relation.sql_query()):
            return _drawn(relation)
    except duckdb.Error as error:
        return f"<pre>{html.escape(str(error))}</pre>"


def _print(relation: duckdb.DuckDBPyRelation, printer: RepresentationPrinter, cycle: bool) -> None:
    """Print a relation as DuckDB does, or why its query fails: IPython would print a traceback of DuckDB's code."""
    try:
        with own_lines(relation.sql_query()):
            printer.text(repr(relation))
    except duckdb.Error as error:
        printer.text(str(error))


def _drawn(relation: duckdb.DuckDBPyRelation) -> str:
    made = origin(relation)
    if made and made.view.name == "timeline" and (run := made.arguments.get("run")):
        worker, span = (made.arguments.get(name) for name in ("worker", "span"))
        return timeline(made.warehouse, run, worker, span)._repr_html_()
    return as_html(relation, made)


def _page(
    warehouse: Warehouse,
    made_by: Callable[[Warehouse, ReportTrace], Iterator[str]],
    given: tuple[str, str | None, str | None, str | None],
    kind: str,
    height: int,
) -> Page:
    with _opened(warehouse, *given) as (opened, trace):
        content = "".join(made_by(opened, trace))
    title = f"{kind} of run {trace.run}, worker {trace.worker}, span {trace.span}"
    return Page(title, content, height)


@contextmanager
def _opened(
    warehouse: Warehouse, run: str, worker: str | None, span: str | None, baseline: str | None
) -> Iterator[tuple[Warehouse, ReportTrace]]:
    """Open the warehouse a second time, for the traces of a picture only."""
    with Warehouse(warehouse.path) as opened:
        select_traces(opened, run, baseline)
        yield opened, choose_trace(opened, run, worker, span, baseline)
