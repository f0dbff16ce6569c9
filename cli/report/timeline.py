"""The data of the timeline: lanes, rectangles, series, and what is known of an event or a range of time.

All times are nanoseconds from the start of the trace. A browser can represent those exactly, but not
nanoseconds since the epoch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tracewh.arrow_columns import from_numpy
from tracewh.cli import diagnostics
from tracewh.cli.report.report_trace import OTHER, ReportTrace, baseline_trace, first_trace
from tracewh.cli.report.row_json import embedded as as_json
from tracewh.views.queries import query_rows, run_query

if TYPE_CHECKING:
    from tracewh.views.warehouse import Warehouse

#: Pixels of the whole recording, of a step in full, and of the curves.
WHOLE_PIXELS, STEP_PIXELS, SERIES_PIXELS = 1200, 100_000, 240
#: Of the other workers in a file: most and fewest pixels of the recording and of the step, depths of the host, and
#: most rectangles.
FOLDED_PIXELS, LEAST_FOLDED_PIXELS, FOLDED_DEPTHS, MOST_FOLDED = 300, 60, 2, 1500
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

    That is the whole recording as blocks, and one step in full: the one of median length. With a baseline,
    the same of that.
    """
    found = overview(warehouse, trace)
    other = baseline_trace(warehouse, trace)
    if other is None:
        _add_step(warehouse, trace, found, 0, MOST_RECTANGLES)
        return found
    compared = overview(warehouse, other)
    steps = [each["step"] for each in (found, compared) if each["step"] is not None]
    longest = max((step["end"] - step["start"] for step in steps), default=0)
    for of, each in ((trace, found), (other, compared)):
        _add_step(warehouse, of, each, longest, MOST_RECTANGLES // 2)
    return {**found, "baseline": compared}


def _add_step(
    warehouse: Warehouse, trace: ReportTrace, found: dict[str, Any], least: int, most_rows: int
) -> None:
    """Add the curves and gaps of the recording, and its step in full.

    Args:
        warehouse: The warehouse.
        trace: The trace.
        found: Its overview.
        least: How long the part in full is at least: a step may be compared with a longer one.
        most_rows: Largest number of rectangles.
    """
    found["series"] = series(warehouse, trace, 0, found["length"])
    found["gaps"] = gaps(warehouse, trace)
    step = found["step"]
    if step is None:
        return
    # A step may have no length; a query takes no empty part.
    end = max(step["end"], step["start"] + max(least, 1))
    window = (step["start"], min(end, found["length"]))
    found["window"] = dict(zip(("start", "end"), window, strict=True))
    found["step_rectangles"] = rectangles(
        warehouse, trace, *window, STEP_PIXELS, most_rows=most_rows
    )
    found["step_series"] = series(warehouse, trace, *window)
    found["launches"] = _rows(
        warehouse, "launches", trace, **_window(trace, *window), most_rows=MOST_RECTANGLES
    )
    found["critical_path"] = critical_path(warehouse, trace, step["step"])


def stack(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return the workers of the recording, and how far each is moved to stand under this trace."""
    return _rows(warehouse, "stack", trace)


def embedded_stack(
    warehouse: Warehouse, trace: ReportTrace, main: dict[str, Any], room: int
) -> dict[str, Any]:
    """Return the other workers as blocks: the recording, and the time of the step that is in full.

    Args:
        warehouse: The warehouse.
        trace: The trace of the page.
        main: Its timeline.
        room: Bytes that they may take. Blocks get wider for it; if that is not enough, workers are left out
            and counted.
    """
    table = run_query(warehouse, "timeline/stack", **_keys(trace)).to_arrow_table()
    shifts = dict(zip(table["worker"].to_pylist(), table["shift"].to_pylist(), strict=True))
    others = [worker for worker in shifts if worker != trace.worker]
    blocks: dict[str, dict[str, Any] | None] = {trace.worker: None}
    pixels = FOLDED_PIXELS
    for worker in others:
        # A query lists the files of all traces that are open, which may be thousands.
        with warehouse.only(frozenset({(trace.run, worker, trace.span)})):
            found = _folded(warehouse, trace, worker, shifts[worker], main.get("window"), pixels)
            size = len(as_json(found))
            if worker == others[0] and size * len(others) > room:
                share = room / (size * len(others))
                pixels = max(LEAST_FOLDED_PIXELS, int(0.7 * pixels * share))
                shift, window = shifts[worker], main.get("window")
                found = _folded(warehouse, trace, worker, shift, window, pixels)
                size = len(as_json(found))
        room -= size
        if room < 0:
            break
        blocks[worker] = found
    kept = np.array([n for n, worker in enumerate(shifts) if worker in blocks], np.int64)
    return {
        **_by_column(table.take(from_numpy(kept))),
        "found": [blocks[worker] for worker in shifts if worker in blocks],
        "left": len(shifts) - len(kept),
    }


def _folded(
    warehouse: Warehouse,
    trace: ReportTrace,
    worker: str,
    shift: int,
    window: dict[str, int] | None,
    pixels: int,
) -> dict[str, Any]:
    """Return another worker of the recording as blocks.

    Args:
        warehouse: The warehouse.
        trace: The trace of the page.
        worker: The other worker.
        shift: What takes its times to those of `trace`.
        window: The part of `trace` that is in full; this worker's has as many pixels as its recording.
        pixels: Number of pixels.
    """
    other = first_trace(warehouse, trace.run, worker, trace.span)
    assert other is not None
    found = lanes(warehouse, other)
    length = found["length"]
    found["rectangles"] = rectangles(
        warehouse, other, 0, length, pixels, FOLDED_DEPTHS, MOST_FOLDED
    )
    start, end = (
        (max(0, min(window[key] - shift, length)) for key in ("start", "end")) if window else (0, 0)
    )
    if start < end:
        found["window"] = {"start": start, "end": end}
        found["step_rectangles"] = rectangles(
            warehouse, other, start, end, pixels, FOLDED_DEPTHS, MOST_FOLDED
        )
    return found


def lanes(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return which trace it is, its lanes, and the step to show first."""
    steps = query_rows(warehouse, "timeline/step", **_keys(trace))
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
        "run": trace.run,
        "worker": trace.worker,
        "span": trace.span,
        "start_ns": str(trace.start_ns),
        "length": trace.end_ns - trace.start_ns + 1,
        "is_of_another_program": trace.source == OTHER,
        "step": step,
        "lanes": _rows(warehouse, "lanes", trace),
    }


def overview(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return the lanes, the steps, the whole recording in blocks, and the trace of the baseline."""
    found = lanes(warehouse, trace)
    other = baseline_trace(warehouse, trace)
    if other is not None:
        found["baseline"] = {"run": other.run, "worker": other.worker, "span": other.span}
    return {
        **found,
        "steps": _rows(warehouse, "steps", trace, most_rows=MOST_RECTANGLES),
        "rectangles": rectangles(warehouse, trace, 0, found["length"], WHOLE_PIXELS),
    }


def gaps(warehouse: Warehouse, trace: ReportTrace) -> dict[str, Any]:
    """Return the longest gaps of each device."""
    length = trace.end_ns - trace.start_ns + 1
    return _rows(warehouse, "gaps", trace, min_us=length * LEAST_GAP / 1000, most_gaps=MOST_GAPS)


def rectangles(
    warehouse: Warehouse,
    trace: ReportTrace,
    start: int,
    end: int,
    pixels: int,
    depths: int | None = None,
    most_rows: int = MOST_RECTANGLES,
) -> dict[str, Any]:
    """Return what the timeline draws from one time to another, of that many depths of the host."""
    window = _window(trace, start, end)
    return _rows(
        warehouse,
        "rectangles",
        trace,
        **window,
        pixels=pixels,
        depths=depths,
        most_rows=most_rows,
    )


def series(warehouse: Warehouse, trace: ReportTrace, start: int, end: int) -> dict[str, Any]:
    """Return the curves below the lanes from one time to another."""
    return _rows(warehouse, "series", trace, **_window(trace, start, end), pixels=SERIES_PIXELS)


def critical_path(warehouse: Warehouse, trace: ReportTrace, step: int | None) -> dict[str, Any]:
    """Return the pieces of the critical path of a step."""
    return _rows(warehouse, "critical_path", trace, step=step, most_rows=MOST_RECTANGLES)


def critical_path_at(warehouse: Warehouse, trace: ReportTrace, at: int) -> dict[str, Any]:
    """Return the critical path of the step at a time, and when that step is.

    If the trace has no steps, it is the path of the whole trace.
    """
    found = query_rows(warehouse, "timeline/step_at", **_keys(trace), at_ns=trace.start_ns + at)
    [(step, start_ns, end_ns)] = found or [(None, trace.start_ns, trace.end_ns + 1)]
    window = {"from": start_ns - trace.start_ns, "to": end_ns - trace.start_ns}
    return {**window, **critical_path(warehouse, trace, step)}


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
    if "GraphLaunch" in (facts.get("launch") or ""):
        replayed = run_query(warehouse, "timeline/replayed_event", **keys)
        for known in replayed.fetchall():
            facts["replayed"] = dict(zip(replayed.columns, known, strict=True))
    inner = event_id if is_host else facts["launch_id"]
    around = query_rows(warehouse, "timeline/open_events", **{**keys, "event_id": inner})
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
        warehouse,
        trace,
        *_range(given),
        max(1, min(_number(given, "pixels"), MOST_PIXELS)),
        _number(given, "depths") if "depths" in given else None,
    ),
    "lanes": lambda warehouse, trace, _: lanes(warehouse, trace),
    "stack": lambda warehouse, trace, _: stack(warehouse, trace),
    "series": lambda warehouse, trace, given: series(warehouse, trace, *_range(given)),
    "gaps": lambda warehouse, trace, _: gaps(warehouse, trace),
    "critical_path": lambda warehouse, trace, given: critical_path_at(
        warehouse, trace, _number(given, "at")
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
    return _by_column(run_query(warehouse, f"timeline/{name}", **keys).to_arrow_table())


def _by_column(table: pa.Table) -> dict[str, Any]:
    """Return the rows by column; a text as its number in a list of the different texts of its column."""
    found: dict[str, Any] = {"rows": table.num_rows, "texts": {}}
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.combine_chunks()
        if pa.types.is_string(values.type):
            encoded = values.dictionary_encode()
            found["texts"][name] = encoded.dictionary.to_pylist()
            values = encoded.indices
        found[name] = values.to_pylist()
    return found
