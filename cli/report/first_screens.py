"""What a report holds of the other traces of its run: the verdict, the average step and each step."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tracewh.cli.report.row_json import by_column, embedded
from tracewh.views.queries import query_rows, run_query
from tracewh.views.trace_groups import run_in_groups

if TYPE_CHECKING:
    import duckdb

    from tracewh.cli.report.report_trace import ReportTrace
    from tracewh.views.warehouse import Warehouse

#: Steps of each trace, from the first.
MOST_STEPS = 200
_NUMBERS = re.compile(r"(\d+)")


def first_screens(warehouse: Warehouse, trace: ReportTrace, room: int) -> dict[str, Any]:
    """Return the first screens of all traces of the run, that of the page first.

    Args:
        warehouse: The warehouse.
        trace: The trace of the page, whose own first screen is in its panels.
        room: Bytes that the others may take. Traces that need more are left out and counted.
    """
    names = query_rows(warehouse, "report/traces_of_run", run=trace.run)
    own = (trace.worker, trace.span)
    screens: list[dict[str, Any]] = [{"worker": trace.worker, "span": trace.span}]
    others = [name for name in names if name != own]
    if others:
        parts = {
            "verdict": _verdicts(warehouse, trace.run),
            "steps": _by_trace(
                run_query(warehouse, "report/all_steps", run=trace.run, most_rows=MOST_STEPS)
            ),
            "mean": _by_trace(run_query(warehouse, "report/all_mean_steps", run=trace.run)),
        }
    for worker, span in others:
        screen: dict[str, Any] = {"worker": worker, "span": span}
        for part, of_traces in parts.items():
            screen[part] = of_traces.get((worker, span), [])
        categories, means = screen["mean"] or ([], [])
        screen["mean"] = dict(zip(categories, means, strict=True))
        room -= len(embedded(screen))
        if room < 0:
            break
        screens.append(screen)
    return {"screens": screens, "left": len(others) + 1 - len(screens)}


def _verdicts(warehouse: Warehouse, run: str) -> dict[tuple[str, str], list[list[Any]]]:
    """Return the verdicts of all traces of a run, of a few traces at a time if they are large."""
    with ExitStack() as stack:
        found = run_in_groups(warehouse, warehouse.registry.get("verdict"), {"run": run})
        rows = found.rows if found else stack.enter_context(warehouse.held_view("verdict", run=run))
        return _by_trace(rows.project("worker, span, * EXCLUDE (run, worker, span)"))


def _by_trace(found: duckdb.DuckDBPyRelation) -> dict[tuple[str, str], list[list[Any]]]:
    """Return the columns of a result after worker and span, for each of these."""
    workers, spans, *columns = by_column(found, {})["values"]
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(workers, spans, strict=True)):
        rows[key].append(row)
    return {key: [[column[n] for n in of] for column in columns] for key, of in rows.items()}


def pickers(trace: ReportTrace, screens: list[dict[str, Any]]) -> str:
    """Return HTML to choose one of the first screens."""
    found = ""
    for part, own in (("worker", trace.worker), ("span", trace.span)):
        options = "".join(
            f"<option{' selected' if name == own else ''}>{html.escape(name)}</option>"
            for name in sorted({screen[part] for screen in screens}, key=_in_order)
        )
        found += (
            f'<label class="picker">{part.capitalize()} '
            f'<select data-screen="{part}">{options}</select></label> '
        )
    return found


def note(trace: ReportTrace, screens: list[dict[str, Any]], left: int) -> str:
    """Return HTML that says what the file holds of the other traces."""
    count, about = (
        len(screens),
        f"worker {html.escape(trace.worker)}, span {html.escape(trace.span)}",
    )
    if count == 1:
        said = (
            f"The file has room for one of the {1 + left} traces of the run: it is about {about}."
        )
    else:
        held = (
            f"{count} of the {count + left}" if left else "both" if count == 2 else f"all {count}"
        )
        said = (
            f"The file holds the first screen of {held} traces of the run: choose a worker and a span at "
            f"the top. Everything below is about {about}."
        )
    return f'<p class="said">{said} <code>tracewh serve</code> shows every trace in full.</p>\n'


def _in_order(name: str) -> list[tuple[int, str]]:
    """Return what sorts names with the numbers in them as numbers: rank2 before rank10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in _NUMBERS.split(name)]
