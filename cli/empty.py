"""Why a view came back empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    from tracewh.views import Spec
    from tracewh.views.warehouse import Warehouse

SOURCE = ("run", "worker", "span")
#: Parameters that name a run, in views that compare two.
RUNS = ("run", "baseline", "experiment")


def explain(warehouse: Warehouse, view: Spec, arguments: dict[str, Any]) -> None:
    """Say on stderr why there are no rows, as far as the warehouse knows.

    Raises:
        WrongCallError: The caller asked for a run, worker or span that is not there.
    """
    traces = warehouse.sql("FROM traces SELECT run, worker, span ORDER BY ALL").fetchall()
    for name, value in arguments.items():
        position = 0 if name in RUNS else SOURCE.index(name) if name in SOURCE else None
        if position is None:
            continue
        known = sorted({trace[position] for trace in traces})
        if value not in known:
            hint = diagnostics.did_you_mean(value, known) or f"; there is {_some(known)}"
            diagnostics.refuse(f"no {SOURCE[position]} named {value!r}{hint}")
        if position == 0:
            traces = [t for t in traces if t[0] == value] if name == "run" else traces
        else:
            traces = [t for t in traces if t[position] == value]
    reasons = _reasons(warehouse, view, arguments)
    diagnostics.note("\n".join([f"{view.name} has no rows for what was asked", *reasons]))


def _reasons(warehouse: Warehouse, view: Spec, arguments: dict[str, Any]) -> list[str]:
    """The lines of trace_quality that the view's header points at."""
    if not view.needs or "trace_quality" not in warehouse.views:
        return []
    wanted = {name: arguments[name] for name in SOURCE if name in arguments}
    found = warehouse.view("trace_quality", **wanted)
    rows = found.project('run, worker, span, "check", message').fetchall()
    messages: dict[str, list[str]] = {}
    for run, worker, span, check, message in rows:
        if check in view.needs:
            messages.setdefault(message, []).append(f"{run}/{worker}/{span}")
    return [f"  {_some(traces)}: {message}" for message, traces in messages.items()]


def _some(names: list[str], most: int = 3) -> str:
    """A few names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
