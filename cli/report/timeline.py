"""The data of the timeline: lanes, rectangles, series, and what is known of an event or a range of time.

All times are nanoseconds from the start of the trace. A browser can represent those exactly, but not
nanoseconds since the epoch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tracewh.cli import diagnostics
from tracewh.views.queries import run_query

if TYPE_CHECKING:
    import duckdb

    from tracewh.cli.report.report_trace import ReportTrace
    from tracewh.views.warehouse import Warehouse

#: Pixels of the whole recording, of a step in full, and of the curves.
WHOLE_PIXELS, STEP_PIXELS, SERIES_PIXELS = 1200, 100_000, 240
#: Largest number of rectangles, gaps, events found by a search, and rows of a table of a range.
MOST_RECTANGLES, MOST_GAPS, MOST_FOUND, MOST_RANGE_ROWS = 30_000, 200, 1000, 8
#: Gaps shorter than this share of the recording are not marked.
LEAST_GAP = 1 / 1000
#: Most pixels that a page may ask for.
MOST_PIXELS = 4000
#: A whole number that fits into 64 bits.
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


def embedded(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return what the timeline of a page needs without a server.

    That is the whole recording as blocks, and one step in full: the one of median length.
    """
    found = overview(warehouse, trace)
    found["series"] = series(warehouse, trace, 0, found["length"])
    found["gaps"] = gaps(warehouse, trace)
    step = found["step"]
    if step is not None:
        window = (step["start"], step["end"])
        found["window"] = {"start": step["start"], "end": step["end"]}
        found["step_rectangles"] = rectangles(warehouse, trace, *window, STEP_PIXELS)
        found["step_series"] = series(warehouse, trace, *window)
        found["launches"] = _rows(
            warehouse, "launches", trace, **_window(trace, *window), most_rows=MOST_RECTANGLES
        )
        found["critical_path"] = critical_path(warehouse, trace, step["step"])
    return found


def overview(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return the lanes, the whole recording in blocks, and the step to show first."""
    length = trace.end_ns - trace.start_ns + 1
    steps = run_query(warehouse, "timeline/step", **_keys(trace)).fetchall()
    step = None
    if steps:
        number, name, start_ns, end_ns = steps[0]
        step = {
            "step": number,
            "name": name,
            "start": start_ns - trace.start_ns,
            "end": end_ns - trace.start_ns,
        }
    return {
        "length": length,
        "step": step,
        "lanes": _rows(warehouse, "lanes", trace),
        "rectangles": rectangles(warehouse, trace, 0, length, WHOLE_PIXELS),
    }


def gaps(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return the longest gaps of each device."""
    length = trace.end_ns - trace.start_ns + 1
    return _rows(warehouse, "gaps", trace, min_us=length * LEAST_GAP / 1000, most_gaps=MOST_GAPS)


def rectangles(
    warehouse: Warehouse, trace: ReportTrace, start: int, end: int, pixels: int
) -> dict[str, Any]:
    """Return what the timeline draws from one time to another."""
    window = _window(trace, start, end)
    return _rows(warehouse, "rectangles", trace, **window, pixels=pixels, most_rows=MOST_RECTANGLES)


def series(warehouse: Warehouse, trace: ReportTrace, start: int, end: int) -> dict[str, Any]:
    """Return the curves below the lanes from one time to another."""
    return _rows(warehouse, "series", trace, **_window(trace, start, end), pixels=SERIES_PIXELS)


def critical_path(warehouse: Warehouse, trace: ReportTrace, step: int | None) -> dict[str, Any]:
    """Return the pieces of the critical path of a step."""
    return _rows(warehouse, "critical_path", trace, step=step, most_rows=MOST_RECTANGLES)


def event(warehouse: Warehouse, trace: ReportTrace, kind: str, event_id: int) -> dict[str, Any]:
    """Return what is known of an event, the events around it, and the call or the work linked to it.

    Args:
        warehouse: The warehouse.
        trace: The trace.
        kind: Kind of the lane in which it is drawn.
        event_id: Its id, in host_events for steps and threads and in device_events otherwise.
    """
    keys = {**_keys(trace), "event_id": event_id}
    is_host = kind in ("steps", "thread")
    relation = run_query(
        warehouse, "timeline/host_event" if is_host else "timeline/device_event", **keys
    )
    rows = relation.fetchall()
    if not rows:
        return {"facts": None, "around": []}
    facts = dict(zip(relation.columns, rows[0], strict=True))
    inner = event_id if is_host else facts["launch_id"]
    around = run_query(warehouse, "timeline/open_events", **{**keys, "event_id": inner}).fetchall()
    return {"facts": facts, "around": around}


def search(warehouse: Warehouse, trace: ReportTrace, text: str) -> dict[str, Any]:
    """Return the first events whose name contains a text, in order of time."""
    return _rows(warehouse, "search", trace, text=text, most_rows=MOST_FOUND)


def selection(warehouse: Warehouse, trace: ReportTrace, start: int, end: int) -> dict[str, Any]:
    """Return how busy the devices are in a range of time, and its largest kernels and operators."""
    window = _window(trace, start, end)
    return {
        "totals": _rows(warehouse, "range_totals", trace, **window),
        "kernels": _rows(warehouse, "range_kernels", trace, **window, most_rows=MOST_RANGE_ROWS),
        "operators": _rows(
            warehouse, "range_operators", trace, **window, most_rows=MOST_RANGE_ROWS
        ),
    }


def answer(
    warehouse: Warehouse, trace: ReportTrace, kind: str, given: dict[str, str]
) -> dict[str, Any]:
    """Return what the timeline of a page asks its server for.

    Args:
        warehouse: The warehouse.
        trace: The trace.
        kind: One of `QUESTIONS`.
        given: The parameters of the request.

    Raises:
        CliError: A parameter is missing or no number.
    """
    return QUESTIONS[kind](warehouse, trace, given)


def _number(given: dict[str, str], name: str) -> int:
    text = given.get(name, "")
    if not WHOLE_NUMBER.fullmatch(text):
        diagnostics.usage_error(f"{name} must be a whole number, not {text[:40]!r}")
    return int(text)


def _range(given: dict[str, str]) -> tuple[int, int]:
    start, end = _number(given, "start"), _number(given, "end")
    return start, max(end, start + 1)


QUESTIONS: dict[str, Callable[[Warehouse, ReportTrace, dict[str, str]], dict[str, Any]]] = {
    "overview": lambda warehouse, trace, _: overview(warehouse, trace),
    "rectangles": lambda warehouse, trace, given: rectangles(
        warehouse, trace, *_range(given), max(1, min(_number(given, "pixels"), MOST_PIXELS))
    ),
    "series": lambda warehouse, trace, given: series(warehouse, trace, *_range(given)),
    "gaps": lambda warehouse, trace, _: gaps(warehouse, trace),
    "critical_path": lambda warehouse, trace, given: critical_path(
        warehouse, trace, _number(given, "step")
    ),
    "event": lambda warehouse, trace, given: event(
        warehouse, trace, given.get("lane", ""), _number(given, "event")
    ),
    "search": lambda warehouse, trace, given: search(warehouse, trace, given.get("text", "")),
    "selection": lambda warehouse, trace, given: selection(warehouse, trace, *_range(given)),
}


def _keys(trace: ReportTrace) -> dict[str, Any]:
    return {
        "run": trace.run,
        "worker": trace.worker,
        "span": trace.span,
        "start_ns": trace.start_ns,
    }


def _window(trace: ReportTrace, start: int, end: int) -> dict[str, int]:
    return {"from_ns": trace.start_ns + start, "to_ns": trace.start_ns + end}


def _rows(warehouse: Warehouse, name: str, trace: ReportTrace, **values: Any) -> dict[str, Any]:
    """Return the rows of a query by column."""
    keys = {**_keys(trace), **values}
    return _by_column(run_query(warehouse, f"timeline/{name}", **keys))


def _by_column(relation: duckdb.DuckDBPyRelation) -> dict[str, Any]:
    """Return the rows by column; a text as its number in a list of the different texts of its column."""
    table = relation.to_arrow_table()
    found: dict[str, Any] = {"rows": table.num_rows, "texts": {}}
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.combine_chunks()
        if pa.types.is_string(values.type):
            encoded = values.dictionary_encode()
            found["texts"][name] = encoded.dictionary.to_pylist()
            values = encoded.indices
        found[name] = values.to_pylist()
    return found
