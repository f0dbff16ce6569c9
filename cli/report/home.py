"""The home page of `tracewh serve`: the runs of the warehouse.

The page first asks for the runs, which takes the small tables only, and then for the figures of some runs at a
time. It asks for the runs again every few seconds. If no trace changed, the answer opens no file.
"""

from __future__ import annotations

import functools
import hashlib
import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import duckdb

from tracewh.cli.diagnostics import sql_error
from tracewh.cli.report.frame import PRODUCT, closing, opening
from tracewh.cli.report.row_json import by_column
from tracewh.views.queries import run_query
from tracewh.views.warehouse import WarehouseError

if TYPE_CHECKING:
    from tracewh.storage.layout import TraceKeys
    from tracewh.views.warehouse import Warehouse

STYLES = ("page.css", "home.css")
SCRIPTS = ("values.js", "common.js", "home.js")
#: Figures by warehouse, run and state of the run. A run that was replaced has another state.
_figures: dict[tuple[str, str, str], dict[str, Any]] = {}
MOST_FIGURES = 100_000
#: The last list of runs, by warehouse: many pages may be open.
_listed: dict[str, dict[str, Any]] = {}


@functools.cache
def home_page() -> str:
    """Return the page, which fetches the runs itself."""
    body = f"""<a class="skip" href="#main">Skip to the content</a>
<header>
{PRODUCT}<a id="newest" href="?run=">Newest run</a>
<a href="sql">SQL</a>
<button id="theme" type="button">Dark</button>
</header>
<main id="main" tabindex="-1">
<h2 id="runs-title">Runs</h2>
<div class="controls">
<input id="search" type="search" placeholder="Search" aria-label="Search runs">
<button id="compare" type="button" disabled>Compare</button>
<span id="said" class="said" role="status">Loading…</span>
</div>
<div class="runs"><table id="runs" aria-labelledby="runs-title"></table></div>
</main>
"""
    return "".join(
        (*opening("Runs · tracewh", STYLES, SCRIPTS, is_live=True), body, *closing(SCRIPTS))
    )


def error_page(message: str) -> str:
    """Return a page that says why there is no page of a run, e.g. because a link names one that was dropped."""
    said = html.escape(message).replace("\n", "<br>")
    body = f"""<header>
{PRODUCT}<button id="theme" type="button">Dark</button>
</header>
<main id="main">
<p role="alert">{said}</p>
<p><a href="./">All runs</a></p>
</main>
"""
    scripts = ("values.js", "common.js")
    return "".join((*opening("tracewh", STYLES, scripts, is_live=True), body, *closing(scripts)))


def runs(warehouse: Warehouse, known: str) -> dict[str, Any]:
    """Return the runs, and the state of the warehouse; only the state if it is the known one."""
    states = _states(warehouse)
    state = _digest(states.values())
    if state == known:
        return {"state": state}
    last = _listed.get(str(warehouse.path))
    if last is not None and last["state"] == state:
        return last
    warehouse.select_traces(None, {})
    found = by_column(run_query(warehouse, "report/home"), {})
    names = found["values"][0] if found["rows"] else []
    answer = {"state": state, **found, "states": [states.get(name, "") for name in names]}
    _listed[str(warehouse.path)] = answer
    return answer


def figures(warehouse: Warehouse, runs: list[str]) -> dict[str, Any]:
    """Return the figures of some runs, by run. A run that cannot be read has an `error` instead."""
    states = _states(warehouse)
    wanted = {
        run: (str(warehouse.path), run, states[run]) for run in dict.fromkeys(runs) if run in states
    }
    missing = [run for run, key in wanted.items() if key not in _figures]
    if len(_figures) > MOST_FIGURES:
        _figures.clear()
    errors = {}
    try:
        _remember(warehouse, missing, wanted)
    except duckdb.InterruptException:
        raise
    except (duckdb.Error, WarehouseError):  # one run is damaged, and the others are not
        for run in missing:
            try:
                _remember(warehouse, [run], wanted)
            except duckdb.InterruptException:
                raise
            except (duckdb.Error, WarehouseError) as error:
                is_sql = isinstance(error, duckdb.Error)
                errors[run] = {"error": sql_error(error) if is_sql else str(error)}
    return {run: errors.get(run) or _figures.get(key, {}) for run, key in wanted.items()}


def _remember(warehouse: Warehouse, runs: list[str], keys: dict[str, tuple[str, str, str]]) -> None:
    """Compute the figures of some runs."""
    if not runs:
        return
    warehouse.select_runs(runs)
    relation = run_query(warehouse, "report/home_figures")
    for run, *values in relation.fetchall():
        _figures[keys[run]] = dict(zip(relation.columns[1:], values, strict=True))


def _states(warehouse: Warehouse) -> dict[str, str]:
    """Return a text for each run that changes when its traces change."""
    versions: dict[str, list[str]] = {}
    for (run, worker, span), version in sorted(warehouse.versions().items()):
        versions.setdefault(run, []).extend((worker, span, version))
    return {run: _digest((run, *each)) for run, each in versions.items()}


def digest_of(versions: Mapping[TraceKeys, str]) -> str:
    """Return a text that changes with each of these traces."""
    return _digest(text for keys, version in sorted(versions.items()) for text in (*keys, version))


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
