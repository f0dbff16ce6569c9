"""Runs, workers and spans: whether those that were named exist, and what their traces lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    import duckdb

    from tracewh.views import Spec
    from tracewh.views.warehouse import Warehouse

#: What says where a row comes from, in nearly every view.
SOURCE = ("run", "worker", "span")
#: Views that compare two runs name them with these, alone or before `_worker` and `_span`.
SIDES = ("baseline", "experiment")


def check(warehouse: Warehouse, arguments: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Refuse a run, worker or span that does not exist.

    A view would only find no rows for it, or no counterpart.

    Returns:
        The traces that the arguments name; all where they name none.
    """
    traces: list[tuple[str, str, str]] = []
    if {*SOURCE, *SIDES} & arguments.keys():
        traces = warehouse.sql("FROM traces SELECT run, worker, span ORDER BY ALL").fetchall()
    return check_among(traces, arguments)


def check_among(
    traces: list[tuple[str, str, str]], arguments: dict[str, Any]
) -> list[tuple[str, str, str]]:
    """As `check`, where the traces that there are, each a run, a worker and a span, are known."""
    for side in SIDES:
        if side in arguments:
            wanted = {"run": arguments[side]}
            wanted |= {what: arguments.get(f"{side}_{what}") for what in SOURCE[1:]}
            named(traces, {name: value for name, value in wanted.items() if value is not None})
    return named(traces, {name: arguments[name] for name in SOURCE if name in arguments})


def named(traces: list[tuple[str, str, str]], names: dict[str, str]) -> list[tuple[str, str, str]]:
    """The traces, each a run, a worker and a span, that have the names; refuse a name of none."""
    for what, name in names.items():
        position = SOURCE.index(what)
        known = sorted({trace[position] for trace in traces})
        if name not in known:
            hint = diagnostics.did_you_mean(name, known) or f"; there is {some(known)}"
            diagnostics.refuse(f"no {what} named {name!r}{hint}")
        traces = [trace for trace in traces if trace[position] == name]
    return traces


def explain(
    ask: Callable[..., duckdb.DuckDBPyRelation], view: Spec, arguments: dict[str, Any]
) -> None:
    """Say on stderr why a view has no rows, as far as its header and trace_quality know.

    Args:
        ask: Takes the name of a view and its arguments.
    """
    reasons = []
    if view.needs:
        wanted = {name: arguments[name] for name in SOURCE if name in arguments}
        messages: dict[str, list[str]] = {}
        for run, worker, span, quality, message in (
            ask("trace_quality", **wanted).project('run, worker, span, "check", message').fetchall()
        ):
            if quality in view.needs:
                messages.setdefault(message, []).append(f"{run}/{worker}/{span}")
        reasons = [f"  {some(traces)}: {message}" for message, traces in messages.items()]
    diagnostics.note("\n".join([f"{view.name} has no rows for what was asked", *reasons]))


def some(names: list[str], most: int = 3) -> str:
    """A few names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
