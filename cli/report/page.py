"""Build the HTML page: run the query of each panel and embed the rows with the scripts that draw them."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import orjson

from tracewh.cli.output.empty_result import reasons
from tracewh.cli.report import charts, libraries, timeline
from tracewh.cli.report.panels import (
    COMPARED,
    INTERVALS,
    MOST_ROWS,
    SECTIONS,
    VERDICT,
    Panel,
    Section,
)
from tracewh.cli.report.report_trace import ReportTrace
from tracewh.cli.report.row_json import by_column
from tracewh.storage.layout import KEYS
from tracewh.views.queries import query_text

if TYPE_CHECKING:
    from tracewh.views.warehouse import Warehouse

ASSETS = files(__name__.rpartition(".")[0])
#: Those of other people, which the packages of an extra hold.
LIBRARIES: dict[str, Callable[[], str]] = {
    "vega": libraries.vega,
    "datatables": libraries.datatables,
    "datatables.css": libraries.datatables_css,
}
STYLES = ("datatables.css", "page.css", "bars.css", "timeline.css")
SCRIPTS = (
    "vega",
    "datatables",
    "values.js",
    "charts.js",
    "compared.js",
    "tables.js",
    "bars.js",
    "verdict.js",
    "timeline.js",
    "page.js",
)
TIMELINE_SCRIPTS = tuple(name for name in SCRIPTS if name not in (*LIBRARIES, "tables.js"))
#: Names of colors in the style sheets -> the category whose color it is in the charts.
CATEGORY_COLORS = {
    "kernel": "kernel",
    "copy": "memcpy",
    "memset": "memset",
    "communication": "communication",
    "runtime": "runtime",
    "dataloader": "dataloader",
    "operator": "cpu exec",
    "nothing": "other",
}
#: The element that timeline.js fills.
TIMELINE = """<section id="timeline" aria-labelledby="timeline-title">
<h2 id="timeline-title">Timeline</h2>
<article><div class="timeline"></div><p class="empty" hidden></p></article>
</section>
"""


def sections(trace: ReportTrace) -> tuple[Section, ...]:
    """Return the sections of a page; the comparison comes first."""
    return SECTIONS if trace.baseline is None else (COMPARED, *SECTIONS)


def render(warehouse: Warehouse, trace: ReportTrace) -> Iterator[str]:
    """Yield the page with all rows in it, in pieces."""
    data = {
        panel.id: panel_data(warehouse, panel, trace)
        for section in sections(trace)
        for panel in section.panels
    }
    data["timeline"] = timeline.embedded(warehouse, trace)
    yield from document(trace, header=_described(trace), data=data)


def timeline_page(warehouse: Warehouse, trace: ReportTrace) -> Iterator[str]:
    """Yield a page with the timeline only, in pieces. It needs no libraries."""
    data = {"timeline": timeline.embedded(warehouse, trace)}
    yield from document(trace, header=_described(trace), data=data, has_panels=False)


def document(
    trace: ReportTrace,
    header: str,
    data: dict[str, Any] | None = None,
    before: str = "",
    has_panels: bool = True,
) -> Iterator[str]:
    """Yield the page in pieces.

    Args:
        trace: The trace to show.
        header: HTML of the header, which names the trace.
        data: The rows of the panels; None if the page fetches them from its server.
        before: HTML between the timeline and the panels.
        has_panels: Whether it shows more than the timeline.
    """
    shown = sections(trace) if has_panels else ()
    styles = STYLES if has_panels else [name for name in STYLES if name not in LIBRARIES]
    scripts = SCRIPTS if has_panels else TIMELINE_SCRIPTS
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts, data is None)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{html.escape(trace.run)} · tracewh</title>\n"
    for style in styles:
        yield f"<style>{_asset(style)}</style>\n"
    yield f"<style>{_category_colors()}</style>\n"
    yield f"</head>\n<body>\n{_head(shown, header)}"
    yield '<main id="main" tabindex="-1">\n'
    for section in shown:
        yield _section(section, trace)
        if section is VERDICT:
            yield f"{TIMELINE}{before}"
    if not has_panels:
        yield TIMELINE
    yield "</main>\n"
    if has_panels:
        yield (
            "<footer><details><summary>Libraries in this page</summary>"
            f'<pre tabindex="0">{html.escape(_asset("notices.txt"))}</pre></details></footer>\n'
        )
    if data is not None:
        # In JSON, "<" occurs only within text.
        text = orjson.dumps(data, default=str).decode().replace("<", "\\u003c")
        yield f'<script type="application/json" id="data">{text}</script>\n'
    for script in scripts:
        yield f"<script>{_asset(script)}</script>\n"
    yield "</body>\n</html>\n"


def _category_colors() -> str:
    """Return the colors of the charts for what the page itself draws."""
    named = ";".join(f"--c-{name}: {charts.COLORS[of]}" for name, of in CATEGORY_COLORS.items())
    return f":root{{{named}}}"


@functools.cache
def _policy(of_scripts: tuple[str, ...], is_live: bool) -> str:
    """Return the content security policy: only the page's own scripts, and its own server if live."""
    hashes = (
        base64.b64encode(hashlib.sha256(_asset(script).encode()).digest()).decode()
        for script in of_scripts
    )
    scripts = " ".join(f"'sha256-{value}'" for value in hashes)
    connect = " connect-src 'self';" if is_live else ""
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline';{connect}"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def panel_data(warehouse: Warehouse, panel: Panel, trace: ReportTrace) -> dict[str, Any]:
    """Return the rows of a panel by column, and how to draw them."""
    relation = warehouse.sql(_sql(panel, trace))
    meanings = {column.name: column for column in warehouse.registry.get(panel.view).columns}
    found = by_column(relation, meanings)
    is_cut = found["rows"] == MOST_ROWS
    empty = "" if found["rows"] else _why(warehouse, panel, trace)
    drawn = {"chart": _chart(panel, found), "table": panel.table, "is_cut": is_cut}
    return {**found, **drawn, "empty": empty}


def _chart(panel: Panel, found: dict[str, Any]) -> dict[str, Any] | None:
    """Return the chart of a panel: its kind, its specification, and what only the page needs."""
    if panel.chart is None:
        return None
    if panel.chart["kind"] not in charts.KINDS:  # drawn with elements of the page
        return dict(panel.chart)
    made = charts.specification(panel.chart, found) if found["rows"] else None
    drawn = {**panel.chart, "specification": made}
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


def _sql(panel: Panel, trace: ReportTrace) -> str:
    return query_text(
        panel.query,
        run=trace.run,
        worker=trace.worker,
        span=trace.span,
        baseline=trace.baseline or "",
        start_ns=trace.start_ns,
        length_ns=max(trace.end_ns - trace.start_ns, 1),
        intervals=INTERVALS,
        most_rows=MOST_ROWS,
    )


def _described(trace: ReportTrace) -> str:
    compared = f", compared with <b>{html.escape(trace.baseline)}</b>" if trace.baseline else ""
    others = f" · {trace.others} more in this run" if trace.others else ""
    date = f"{trace.date} · " if trace.date else ""
    seconds = (trace.end_ns - trace.start_ns) / 1e9
    return (
        f"<h1>{html.escape(trace.run)}</h1>\n"
        f"<p>Worker <b>{html.escape(trace.worker)}</b>, span <b>{html.escape(trace.span)}</b> · "
        f"{date}{seconds:,.3f} s{others}{compared} · tracewh {version('tracewh')}</p>\n"
    )


def _head(shown: tuple[Section, ...], header: str) -> str:
    named = {"timeline": "Timeline"} | {
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
    return (
        f'<article id="panel-{panel.id}" data-panel="{panel.id}" aria-labelledby="{panel.id}-title">\n'
        f'<h3 id="{panel.id}-title">{html.escape(panel.title)}</h3>\n'
        '<p class="empty" hidden></p>\n'
        '<div class="content"></div>\n'
        f"<details><summary>SQL</summary><pre><code>{html.escape(_sql(panel, trace))}</code></pre>"
        '<button type="button" class="copy">Copy</button></details>\n</article>\n'
    )


@functools.cache
def _asset(name: str) -> str:
    made_by = LIBRARIES.get(name)
    return made_by() if made_by else ASSETS.joinpath(name).read_text("utf-8")
