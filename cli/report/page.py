"""Build the HTML page: run the query of each panel and embed the rows with the scripts that draw them."""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from tracewh.cli.output.empty_result import reasons
from tracewh.cli.report import charts, first_screens, timeline
from tracewh.cli.report.best_replay import best_replay
from tracewh.cli.report.frame import LIBRARIES, asset, closing, notices, opening
from tracewh.cli.report.panels import (
    ALONE,
    BLOCK_LEVELS,
    COMPARED,
    INTERVALS,
    MOST_BLOCKS,
    MOST_IN_BLOCK,
    MOST_ROWS,
    SECTIONS,
    STEPS,
    TIMELESS,
    VERDICT,
    VERDICT_PANEL,
    Panel,
    Section,
)
from tracewh.cli.report.report_trace import ReportTrace
from tracewh.cli.report.row_json import by_column, embedded
from tracewh.quoting import quote_literal
from tracewh.storage.layout import KEYS, TraceKeys
from tracewh.views.queries import query_rows, query_text, run_query

if TYPE_CHECKING:
    from tracewh.views.warehouse import Warehouse

STYLES = ("datatables.css", "page.css", "bars.css", "timeline.css")
SCRIPTS = (
    "vega",
    "datatables",
    "values.js",
    "charts.js",
    "compared.js",
    "tables.js",
    "categories.js",
    "bars.js",
    "verdict.js",
    "timeline_data.js",
    "timeline_track.js",
    "timeline_paint.js",
    "timeline_input.js",
    "timeline_details.js",
    "timeline_stack.js",
    "timeline.js",
    "common.js",
    "page.js",
)
#: Those of a page that has a server.
LIVE_SCRIPTS = (*SCRIPTS, "perfetto.js")
#: How much scripts, styles and rows may take for a file with other workers to stay below 6 MB.
MOST_BYTES = 5_850_000
#: Those of a page with the timeline only.
TIMELINE_SCRIPTS = tuple(name for name in SCRIPTS if name not in (*LIBRARIES, "tables.js"))
#: The element that timeline.js fills.
TIMELINE = """<section id="timeline" aria-labelledby="timeline-title">
<h2 id="timeline-title">Timeline</h2>
<article><div class="timeline"></div><p class="empty" hidden></p></article>
</section>
"""


def sections(trace: ReportTrace) -> tuple[Section, ...]:
    """Return the sections of a page; the comparison comes first."""
    if trace.baseline is None and trace.source in ALONE:
        alone = ALONE[trace.source]
        if trace.has_own_steps:
            alone = replace(alone, panels=(STEPS, *alone.panels))
        return VERDICT, alone
    return SECTIONS if trace.baseline is None else (COMPARED, *SECTIONS)


def render(warehouse: Warehouse, trace: ReportTrace) -> Iterator[str]:
    """Yield the page with all rows in it, in pieces."""
    data = {
        panel.id: _shorter(panel, panel_data(warehouse, panel, trace))
        for section in sections(trace)
        for panel in section.panels
    }
    if trace.baseline is not None:
        data["blocks"] = _blocks(warehouse, trace)
    main = timeline.embedded(warehouse, trace)
    data["timeline"] = main
    assets = sum(len(asset(name)) for name in (*STYLES, *SCRIPTS))
    room = MOST_BYTES - assets - len(embedded(data))
    found = first_screens.first_screens(warehouse, trace, room)
    data["screens"] = found["screens"]
    main["stack"] = timeline.embedded_stack(
        warehouse, trace, main, room - len(embedded(data["screens"]))
    )
    note = first_screens.note(trace, **found) if trace.others else ""
    header = _described(trace, found["screens"])
    yield from document(trace, header=header, data=data, note=note)


def timeline_page(warehouse: Warehouse, trace: ReportTrace) -> Iterator[str]:
    """Yield a page with the timeline only, in pieces. It needs no libraries."""
    data = {"timeline": timeline.embedded(warehouse, trace)}
    yield from document(trace, header=_described(trace, []), data=data, has_panels=False)


def document(
    trace: ReportTrace,
    header: str,
    data: dict[str, Any] | None = None,
    note: str = "",
    has_panels: bool = True,
) -> Iterator[str]:
    """Yield the page in pieces.

    Args:
        trace: The trace to show.
        header: HTML of the header, which names the trace.
        data: The rows of the panels; None if the page fetches them from its server.
        note: HTML between the verdict and the timeline.
        has_panels: Whether it shows more than the timeline.
    """
    shown = sections(trace) if has_panels else ()
    styles = STYLES if has_panels else tuple(name for name in STYLES if name not in LIBRARIES)
    scripts = TIMELINE_SCRIPTS
    if has_panels:
        scripts = LIVE_SCRIPTS if data is None else SCRIPTS
    yield from opening(f"{trace.run} · tracewh", styles, scripts, is_live=data is None)
    yield _head(shown, header, trace.source not in TIMELESS)
    yield '<main id="main" tabindex="-1">\n'
    for section in shown:
        yield _section(section, trace)
        if section is VERDICT:
            has_times = trace.source not in TIMELESS
            yield note + (TIMELINE if has_times else TIMELINE.replace(">", " hidden>", 1))
    if not has_panels:
        yield TIMELINE
    yield f"</main>\n{notices() if has_panels else ''}"
    if data is not None:
        yield f'<script type="application/json" id="data">{embedded(data)}</script>\n'
    yield from closing(scripts)


def _blocks(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return the operators and kernels of single blocks of the two timelines, for a page without a server."""
    limits = {"depth": BLOCK_LEVELS, "most_blocks": MOST_BLOCKS, "most": MOST_IN_BLOCK}
    keys = {**_keys(trace), **limits}
    paths = query_rows(warehouse, "report/blocks_in_file", **keys)
    found: dict[str, Any] = {
        "paths": [path for (path,) in paths],
        "said": f"This file has the operators and kernels of the {len(paths)} blocks that changed most, "
        f"of the first {BLOCK_LEVELS} levels.",
        "command": f"tracewh diff {shlex.quote(trace.baseline or '')} {shlex.quote(trace.run)}",
    }
    for panel in COMPARED.panels:
        if panel.is_of_block:
            query = f"report/{panel.id.removeprefix('diff-')}_in_blocks"
            meanings = {
                column.name: column for column in warehouse.registry.get(panel.view).columns
            }
            rows = by_column(run_query(warehouse, query, **keys), meanings)
            found[panel.id] = {**rows, "chart": _chart(panel, rows), "table": panel.table}
    return found


def panel_data(
    warehouse: Warehouse, panel: Panel, trace: ReportTrace, block: str | None = None
) -> dict[str, Any]:
    """Return the rows of a panel by column, how to draw them, and the finding that they show.

    Args:
        warehouse: The warehouse.
        panel: The panel.
        trace: The trace of the page.
        block: Path of a block of the two timelines, for a panel that can show a block alone.
    """
    meanings = {column.name: column for column in warehouse.registry.get(panel.view).columns}
    query = _sql(panel, trace, block)
    finding = None
    with warehouse.held(query, "panel_rows", _only_trace(query, trace)) as rows:
        found = by_column(rows, meanings)
        if panel.finding and block is None:
            said = query_rows(warehouse, panel.finding, most_rows=MOST_ROWS)
            finding = said[0][0] if said else None
    is_cut = found["rows"] == MOST_ROWS
    empty = "" if found["rows"] else _why(warehouse, panel, trace)
    drawn = {
        "chart": _chart(panel, found),
        "table": panel.table,
        "is_cut": is_cut,
        "finding": finding,
    }
    if panel is VERDICT_PANEL:
        drawn["mean"] = mean_step(warehouse, trace)
        drawn["replay"] = best_replay(warehouse, trace)
    return {**found, **drawn, "empty": empty, "notes": _notes(warehouse, panel, trace, block)}


def mean_step(warehouse: Warehouse, trace: ReportTrace) -> dict[str, float | None]:
    """Return the time of each category of the mean step, and of the whole as 'total'."""
    keys = {"run": trace.run, "worker": trace.worker, "span": trace.span}
    return dict(query_rows(warehouse, "report/mean_step", **keys))


def _chart(panel: Panel, found: dict[str, Any]) -> dict[str, Any] | None:
    """Return the chart of a panel: its kind, its specification, and what only the page needs."""
    if panel.chart is None:
        return None
    if panel.chart["kind"] not in charts.KINDS:  # drawn with elements of the page
        return dict(panel.chart)
    made = charts.specification(panel.chart, found) if found["rows"] else None
    drawn = {**panel.chart, "specification": made, "undrawn": "" if made else panel.undrawn}
    if made and panel.chart["kind"] == "flame":
        drawn["frames"] = {
            column.name: _packed(charts.frames(found, panel.chart["path"], column.name))
            for column in charts.choices(panel.chart, found)
        }
    return drawn


def _packed(frames: list[dict[str, Any]]) -> dict[str, Any]:
    """Return frames by column, with each name once: thousands of them repeat a few hundred names."""
    names = list(dict.fromkeys(frame["name"] for frame in frames))
    numbers = {name: number for number, name in enumerate(names)}
    columns: dict[str, Any] = {key: [frame[key] for frame in frames] for key in charts.FRAME}
    return {**columns, "names": names, "name": [numbers[name] for name in columns["name"]]}


def _shorter(panel: Panel, found: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of a panel as a file has them: the paths of a flame graph may take more than all the rest."""
    if not found["rows"] or not panel.chart or panel.chart["kind"] != "flame":
        return found
    values = [
        _packed_paths(values) if column["name"] == panel.chart["path"] else values
        for column, values in zip(found["columns"], found["values"], strict=True)
    ]
    return {**found, "values": values}


def _packed_paths(paths: list[str]) -> dict[str, Any]:
    """Return paths as the numbers of their parts, with the name of each part once: stacks are long, and alike."""
    numbers: dict[str, int] = {}
    packed = [
        [numbers.setdefault(part, len(numbers)) for part in path.split(";")] for path in paths
    ]
    return {"names": list(numbers), "paths": packed}


def _why(warehouse: Warehouse, panel: Panel, trace: ReportTrace) -> str:
    """Return why a panel has no rows, with the messages of `tracewh show`."""
    keys = (trace.run, trace.worker, trace.span)
    view = warehouse.registry.get(panel.view)
    given = dict(zip(KEYS, keys, strict=True))
    if any(param.required for param in view.params):
        given = {"baseline": trace.baseline or "", "experiment": trace.run}
    if panel.left_out and warehouse.view(view.name, None, **given).limit(1).fetchall():
        return panel.left_out
    found = reasons(warehouse.view, [keys], view, given)
    all_messages = [message for messages in found.values() for message in messages]
    return " ".join(dict.fromkeys(all_messages)) or "The trace has no data for this panel."


def _notes(warehouse: Warehouse, panel: Panel, trace: ReportTrace, block: str | None) -> list[str]:
    """Return what the rows of a panel leave out, and why, with the messages of `tracewh show`."""
    view = warehouse.registry.get(panel.view)
    if not view.notes:
        return []
    if any(param.required for param in view.params):
        given: dict[str, str | None] = {"baseline": trace.baseline, "experiment": trace.run}
        if block is not None:
            given |= {
                "baseline_worker": trace.baseline_worker,
                "baseline_span": trace.baseline_span,
                "experiment_worker": trace.worker,
                "experiment_span": trace.span,
            }
        return [f"{'/'.join(keys)}: {message}" for keys, message in warehouse.notes(view, given)]
    given = dict(zip(KEYS, (trace.run, trace.worker, trace.span), strict=True))
    return [message for _, message in warehouse.notes(view, given)]


def _keys(trace: ReportTrace) -> dict[str, str | None]:
    return {
        "run": trace.run,
        "worker": trace.worker,
        "span": trace.span,
        "baseline": trace.baseline or "",
        "baseline_worker": trace.baseline_worker,
        "baseline_span": trace.baseline_span,
    }


def _only_trace(query: str, trace: ReportTrace) -> TraceKeys | None:
    """Return the trace of a page if a query calls views of this trace, and no others."""
    keys = (trace.run, trace.worker, trace.span)
    called = ", ".join(
        f"{name} := {quote_literal(key)}" for name, key in zip(KEYS, keys, strict=True)
    )
    return keys if 0 < query.count(called) == query.count("run := ") else None


def _sql(panel: Panel, trace: ReportTrace, block: str | None = None) -> str:
    keys = _keys(trace)
    if panel.is_of_block:
        # A block is of one trace of each run; without a block, all traces count.
        keys["block"] = block
        if block is None:
            keys |= dict.fromkeys(("worker", "span", "baseline_worker", "baseline_span"))
    return query_text(
        panel.query,
        **keys,
        start_ns=trace.start_ns,
        length_ns=max(trace.end_ns - trace.start_ns, 1),
        intervals=INTERVALS,
        most_rows=MOST_ROWS,
    )


def _described(trace: ReportTrace, screens: list[dict[str, Any]]) -> str:
    """Return the header of a file. Without the first screens of other traces there is nothing to choose."""
    compared = f", compared with <b>{html.escape(trace.baseline)}</b>" if trace.baseline else ""
    date = f"{trace.date} · " if trace.date else ""
    seconds = (trace.end_ns - trace.start_ns) / 1e9
    length = f"{seconds:,.3f} s" if seconds else "without events"
    if len(screens) > 1:
        which = first_screens.pickers(trace, screens)
    else:
        which = (
            f"Worker <b>{html.escape(trace.worker)}</b>, span <b>{html.escape(trace.span)}</b> · "
        )
    return (
        f"<h1>{html.escape(trace.run)}</h1>\n"
        f"<p>{which}{date}{length}{compared} · tracewh {version('tracewh')}</p>\n"
    )


def _head(shown: tuple[Section, ...], header: str, has_times: bool) -> str:
    named = ({"timeline": "Timeline"} if has_times else {}) | {
        section.id: section.title for section in shown if section is not VERDICT
    }
    links = "".join(f'<a href="#{id}">{html.escape(title)}</a>' for id, title in named.items())
    nav = f'<nav aria-label="Sections">{links}</nav>\n' if shown else ""
    return f"""<a class="skip" href="#main">Skip to the content</a>
<header>
{header}{nav}<button id="theme" type="button">Dark</button>
</header>
"""


def _section(section: Section, trace: ReportTrace) -> str:
    panels = "".join(_panel(panel, trace) for panel in section.panels)
    return (
        f'<section id="{section.id}" aria-labelledby="{section.id}-title">\n'
        f'<h2 id="{section.id}-title">{html.escape(section.title)}</h2>\n{panels}</section>\n'
    )


def _panel(panel: Panel, trace: ReportTrace) -> str:
    of_block = html.escape(_sql(panel, trace, "$block")) if panel.is_of_block else ""
    code = f'<code data-block-sql="{of_block}">' if of_block else "<code>"
    return (
        f'<article id="panel-{panel.id}" data-panel="{panel.id}" aria-labelledby="{panel.id}-title">\n'
        f'<h3 id="{panel.id}-title">{html.escape(panel.title)}</h3>\n'
        f'<p class="finding" hidden></p>\n<p class="empty" hidden></p>\n{_compared_traces(trace) if panel.id == "diff-modules" else ""}'
        '<div class="content"></div>\n'
        f"<details><summary>SQL</summary><pre>{code}{html.escape(_sql(panel, trace))}</code></pre>"
        '<button type="button" class="copy">Copy</button></details>\n</article>\n'
    )


def _compared_traces(trace: ReportTrace) -> str:
    """Return the two traces whose blocks are aligned; all other figures are of all traces of a run."""
    worker, span, baseline_worker, baseline_span = (
        f"<b>{html.escape(name or '')}</b>"
        for name in (trace.worker, trace.span, trace.baseline_worker, trace.baseline_span)
    )
    return (
        f'<p class="said">Worker {worker}, span {span}, compared with worker {baseline_worker}, '
        f"span {baseline_span} of the baseline.</p>\n"
    )
