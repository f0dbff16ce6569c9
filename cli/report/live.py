"""The content of `tracewh serve`: the page of a trace, single panels, and results of queries."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from tracewh.cli.report import timeline as timelines
from tracewh.cli.report.page import document, panel_data
from tracewh.cli.report.panels import COMPARED, SECTIONS
from tracewh.cli.report.row_json import bounded
from tracewh.cli.report.write import choose_trace, select_traces
from tracewh.quoting import quote_literal
from tracewh.views.queries import run_query
from tracewh.views.read_only import check_reads_only

if TYPE_CHECKING:
    from tracewh.cli.report.report_trace import ReportTrace
    from tracewh.views import Registry
    from tracewh.views.warehouse import Warehouse

PANELS = {panel.id: panel for section in (COMPARED, *SECTIONS) for panel in section.panels}


def page(warehouse: Warehouse, given: dict[str, str]) -> str:
    """Return the page of the given trace, or of the first trace of the newest run."""
    trace = _trace(warehouse, given)
    traces = sorted(warehouse.names())
    runs = dict.fromkeys(keys[0] for keys in traces)
    workers = dict.fromkeys(keys[1] for keys in traces if keys[0] == trace.run)
    spans = dict.fromkeys(keys[2] for keys in traces if keys[:2] == (trace.run, trace.worker))
    header = (
        '<h1 class="product">tracewh</h1>\n'
        + _choice("run", runs, trace.run)
        + _choice("worker", workers, trace.worker)
        + _choice("span", spans, trace.span)
        + _choice("baseline", {"": None, **runs}, trace.baseline or "")
    )
    return "".join(document(trace, header, before=_query_box(warehouse, trace)))


def panel(warehouse: Warehouse, id: str, given: dict[str, str]) -> dict[str, Any]:
    """Return the rows of one panel; of a single block if one is given."""
    return panel_data(warehouse, PANELS[id], _trace(warehouse, given), given.get("block"))


def timeline(warehouse: Warehouse, kind: str, given: dict[str, str]) -> dict[str, Any]:
    """Return what the timeline of a page asks for."""
    return timelines.answer(warehouse, _trace(warehouse, given), kind, given)


def query(warehouse: Warehouse, sql: str) -> dict[str, Any]:
    """Return the first rows of a query, or the plan of an EXPLAIN."""
    warehouse.select_traces(None, {})
    if check_reads_only(sql):
        return {"plan": warehouse.sql(sql).fetchall()[-1][-1]}
    return {**bounded(warehouse.sql(sql)), "chart": None}


def _trace(warehouse: Warehouse, given: dict[str, str]) -> ReportTrace:
    """Return the selected trace, and open only the files of its run and of its baseline."""
    run = given.get("run")
    if run is None:
        warehouse.select_traces(None, {})
        [(run,)] = run_query(warehouse, "newest_run").fetchall()
    select_traces(warehouse, run, given.get("baseline"))
    return choose_trace(
        warehouse, run, given.get("worker"), given.get("span"), given.get("baseline")
    )


def _choice(name: str, values: dict[str, None], current: str) -> str:
    options = "".join(
        f'<option value="{html.escape(value)}"{" selected" if value == current else ""}>'
        f"{html.escape(value)}</option>"
        for value in values
    )
    return (
        f'<label class="picker">{name.capitalize()} <select data-choice="{name}">{options}</select>'
        "</label>\n"
    )


def _query_box(warehouse: Warehouse, trace: ReportTrace) -> str:
    """Return HTML to select a view or to write SQL."""
    chosen_views = "".join(
        f'<option data-sql="{html.escape(text)}" title="{html.escape(view.summary)}">'
        f"{html.escape(view.name)}</option>"
        for view in warehouse.registry.newest()
        if (text := _example(warehouse.registry, view.name, trace))
    )
    return f"""<section id="sql" aria-labelledby="sql-title">
<h2 id="sql-title">Query</h2>
<article id="ask" aria-label="SQL">
<div class="controls"><label class="picker">View <select><option data-sql="">…</option>\
{chosen_views}</select></label></div>
<textarea rows="4" spellcheck="false" aria-label="SQL" \
placeholder="FROM operator_stats() LIMIT 10"></textarea>
<div class="controls"><button type="button" class="run">Run</button>\
<button type="button" class="cancel" hidden>Cancel</button>\
<span class="said" role="status">Press Ctrl+Enter to run.</span></div>
<div class="content"></div>
</article>
</section>
"""


def _example(registry: Registry, name: str, trace: ReportTrace) -> str | None:
    """Return a query of a view for a trace; None if the view has other required parameters."""
    params = registry.get(name).params
    if any(param.required for param in params):
        return None
    known = {"run": trace.run, "worker": trace.worker, "span": trace.span}
    given = ", ".join(
        f"{param.name} := {quote_literal(known[param.name])}"
        for param in params
        if param.name in known
    )
    return f"FROM {name}({given})"
