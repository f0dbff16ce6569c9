"""The content of `tracewh serve`: the page of a trace, single panels, and results of queries."""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.output import Format, text_formats, write_parquet
from tracewh.cli.output.trace_file import gzipped, write_trace
from tracewh.cli.report import timeline as timelines
from tracewh.cli.report.frame import PRODUCT
from tracewh.cli.report.home import digest_of
from tracewh.cli.report.page import document, panel_data
from tracewh.cli.report.panels import ALONE, COMPARED, SECTIONS
from tracewh.cli.report.report_trace import choose_trace, newest_run, select_traces
from tracewh.cli.report.row_json import bounded
from tracewh.storage.open_store import open_store
from tracewh.views.sql_mistakes import own_lines

if TYPE_CHECKING:
    from tracewh.cli.report.report_trace import ReportTrace
    from tracewh.views.warehouse import Warehouse

PANELS = {
    panel.id: panel
    for section in (COMPARED, *SECTIONS, *ALONE.values())
    for panel in section.panels
}

#: What a page says when its server gives answers about other traces than before.
CHANGED = (
    '<span id="changed" class="said" role="status" hidden>Traces of this page were added or replaced: '
    '<a href="">load it again</a></span>\n'
)

#: What writes each format that a query can be exported to.
WRITERS = {Format.CSV: text_formats.csv, Format.PARQUET: write_parquet}


def page(warehouse: Warehouse, given: dict[str, str], perfetto: str) -> str:
    """Return the page of the given trace, or of the first trace of the newest run.

    Args:
        warehouse: The warehouse.
        given: The parameters of the request, which name the trace.
        perfetto: Address of the page of Perfetto to which it can hand over the trace.
    """
    trace = _trace(warehouse, given)
    traces = sorted(warehouse.names())
    runs = dict.fromkeys(keys[0] for keys in traces)
    workers = dict.fromkeys(keys[1] for keys in traces if keys[0] == trace.run)
    spans = dict.fromkeys(keys[2] for keys in traces if keys[:2] == (trace.run, trace.worker))
    header = (
        PRODUCT
        + _choice("run", runs, trace.run)
        + _choice("worker", workers, trace.worker)
        + _choice("span", spans, trace.span)
        + _choice("baseline", {"": None, **runs}, trace.baseline or "")
        + _link_to_sql(trace)
        + _link_to_perfetto(trace, perfetto)
        + CHANGED
    )
    return "".join(document(trace, header))


def panel(warehouse: Warehouse, id: str, given: dict[str, str]) -> dict[str, Any]:
    """Return the rows of one panel; of a single block if one is given."""
    return panel_data(warehouse, PANELS[id], _trace(warehouse, given), given.get("block"))


def timeline(warehouse: Warehouse, kind: str, given: dict[str, str]) -> dict[str, Any]:
    """Return what the timeline of a page asks for."""
    return timelines.answer(warehouse, _trace(warehouse, given), kind, given)


def state(warehouse: Warehouse, given: dict[str, str], has_all_runs: bool) -> dict[str, Any]:
    """Return what changes with each trace that an answer depends on.

    Args:
        warehouse: The warehouse.
        given: The parameters of the request, which name the trace.
        has_all_runs: Whether the answer names all runs.
    """
    run, baseline = given.get("run"), given.get("baseline")
    if has_all_runs or not run:  # which run is the newest depends on all
        return {"state": digest_of(warehouse.versions())}
    runs = {"baseline": baseline, "experiment": run} if baseline else {"run": run}
    return {"state": digest_of(warehouse.versions(warehouse.resolve(runs).values()))}


def query(warehouse: Warehouse, sql: str) -> dict[str, Any]:
    """Return the first rows of a query, or the plan of an EXPLAIN."""
    warehouse.select_traces(None, {})
    if warehouse.check_reads_only(sql):
        return {"plan": warehouse.sql(sql).fetchall()[-1][-1]}
    with own_lines(sql):
        return {**bounded(warehouse.sql(sql)), "chart": None}


def export(
    warehouse: Warehouse, sql: str, format: str, path: str, most_bytes: int
) -> dict[str, Any]:
    """Write all rows of a query to a file that exists."""
    warehouse.select_traces(None, {})
    if warehouse.check_reads_only(sql):
        diagnostics.usage_error("a plan is not exported; export the query itself")
    with _opened(path) as file, own_lines(sql):
        sink = cast("IO[bytes]", _Bounded(file, most_bytes))
        rows = WRITERS[Format(format)](warehouse.sql(sql), sink)
    return {"rows": rows}


def trace_file(warehouse: Warehouse, given: dict[str, str], path: str) -> dict[str, Any]:
    """Write the given trace, as `tracewh export` does, to a file that exists."""
    trace = _trace(warehouse, given)
    traces = open_store(warehouse.path).traces(trace.run, trace.worker)
    [stored] = (each for each in traces if each.span == trace.span)
    name = f"{trace.run}/{trace.worker}/{trace.span}"
    with stored.local_folder() as folder, _opened(path) as file, gzipped(file) as sink:
        events, _ = write_trace(sink, folder, name)
    return {"events": events}


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file that exists for writing. If it was removed, nobody waits for it."""
    try:
        with Path(path).open("r+b") as file:
            yield file
    except OSError as error:
        if "Out of Memory" in str(error):  # DuckDB's error, as a stream of Arrow raises it
            raise MemoryError(str(error)) from error
        raise CliError(f"the file cannot be written: {error.strerror or error}") from error


class _Bounded:
    """A file that refuses to grow beyond a size."""

    def __init__(self, file: IO[bytes], most_bytes: int) -> None:
        self._file, self._left = file, most_bytes
        self._most = most_bytes

    def write(self, part: bytes) -> int:
        """Write bytes, all of them."""
        view = memoryview(part).cast("B")
        self._left -= len(view)
        if self._left < 0:
            diagnostics.usage_error(
                f"the file would be larger than {self._most // 10**6:,} MB; `tracewh query` has no limit, and "
                "`tracewh serve --memory-limit MB` raises this one"
            )
        return self._file.write(view)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _trace(warehouse: Warehouse, given: dict[str, str]) -> ReportTrace:
    """Return the selected trace, by default of the newest run, and open only the files of its run and of its baseline."""
    run = given.get("run")
    if not run:
        warehouse.select_traces(None, {})
        run = newest_run(warehouse)
    select_traces(warehouse, run, given.get("baseline"))
    return choose_trace(
        warehouse, run, given.get("worker"), given.get("span"), given.get("baseline")
    )


def _link_to_sql(trace: ReportTrace) -> str:
    """Return a link to the SQL page, whose examples are then about the trace."""
    keys = urlencode({"run": trace.run, "worker": trace.worker, "span": trace.span})
    return f'<a href="sql?{html.escape(keys)}">SQL</a>\n'


def _link_to_perfetto(trace: ReportTrace, address: str) -> str:
    """Return a button that hands the trace to Perfetto, and the place where it says how that goes."""
    title = html.escape(f"{trace.run}, {trace.worker}, {trace.span}")
    return (
        f'<button id="perfetto" type="button" data-address="{html.escape(address)}" '
        f'data-base="{trace.base_ns}" data-title="{title}">Open in Perfetto</button>\n'
        '<span id="handover" class="said" role="status"></span>\n'
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
