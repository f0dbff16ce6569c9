"""The SQL page of `tracewh serve`: a box for queries, beside the views and tables that they can read."""

from __future__ import annotations

import functools
import html
import re
from typing import TYPE_CHECKING

import orjson

from tracewh.cli.report.frame import PRODUCT, closing, notices, opening
from tracewh.views.registry import installed
from tracewh.views.spec import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracewh.views import Spec

STYLES = ("datatables.css", "page.css", "sql.css")
SCRIPTS = (
    "vega",
    "datatables",
    "values.js",
    "charts.js",
    "tables.js",
    "common.js",
    "picture.js",
    "sql.js",
)


@functools.cache
def sql_page() -> str:
    """Return the page. It is the same for every warehouse."""
    body = f"""<a class="skip" href="#main">Skip to the content</a>
<header>
{PRODUCT}<span class="here">SQL</span>
<button id="theme" type="button">Dark</button>
</header>
<main id="main" tabindex="-1">
<div class="beside">
<details id="names" open><summary>Views and tables</summary>
<input type="search" placeholder="Search names and columns" aria-label="Search names and columns">
{_lists()}</details>
<div>
<article id="ask" aria-label="SQL">
<textarea rows="9" spellcheck="false" aria-label="SQL" \
placeholder="FROM operator_stats() LIMIT 10"></textarea>
<div class="controls"><button type="button" class="run">Run</button>\
<button type="button" class="cancel" hidden>Cancel</button>\
<button type="button" class="export" data-format="csv">CSV</button>\
<button type="button" class="export" data-format="parquet">Parquet</button>\
<button type="button" class="draw" disabled aria-expanded="false">Picture</button>\
<span class="said" role="status">Press Ctrl+Enter to run.</span></div>
<details id="history"><summary>History</summary><p class="said"></p><ol></ol>\
<button type="button">Clear</button></details>
<div class="picture" hidden></div>
<div class="content"></div>
</article>
</div>
</div>
</main>
{notices()}"""
    return "".join(
        (*opening("SQL · tracewh", STYLES, SCRIPTS, is_live=True), body, *closing(SCRIPTS))
    )


def _lists() -> str:
    registry = installed()
    views = registry.newest()
    groups = {f"Views: {group}": [v for v in views if v.group == group] for group in GROUPS}
    groups |= {"Tables": registry.tables(), "Parts of tables": registry.slices()}
    return "".join(
        f"<section><h2>{html.escape(title)}</h2><ul>{''.join(map(_name, specs))}</ul></section>\n"
        for title, specs in groups.items()
        if specs
    )


def _name(spec: Spec) -> str:
    given = _example(spec)
    call = html.escape(orjson.dumps(given).decode()) if spec.kind == "view" else ""
    return (
        f'<li><button type="button" class="name" data-name="{spec.name}" data-given="{call}" '
        f'title="{html.escape(spec.summary)}">{spec.name}</button>'
        f'<details><summary aria-label="Columns of {spec.name}"></summary><ul>{_columns(spec)}</ul>'
        "</details></li>"
    )


def _columns(spec: Spec) -> str:
    columns: Iterable[tuple[str, str, str]] = (
        (column.name, column.type, column.meaning) for column in spec.columns
    )
    return "".join(
        f'<li><button type="button" class="column" title="{html.escape(meaning)}">{name}</button> '
        f"<span>{html.escape(type)}</span></li>"
        for name, type, meaning in columns
    )


def _example(spec: Spec) -> dict[str, str | None]:
    """Return the arguments of an example: text for required ones, None for names that the page knows."""
    known = ("run", "worker", "span", "baseline", "experiment")
    given: dict[str, str | None] = {}
    for param in spec.params:
        if param.name in known:
            given[param.name] = None
        elif param.required:
            found = re.search(rf"--{param.name.replace('_', '-')}[ =](\S+)", spec.example)
            given[param.name] = found[1] if found else ""
    return given
