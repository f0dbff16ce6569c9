"""Runs, workers and spans: what their traces lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    import duckdb

    from tracewh.views import Spec

#: What says where a row comes from, in nearly every view.
SOURCE = ("run", "worker", "span")


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
    diagnostics.note("\n".join([f"{view.name} has no rows for these parameters", *reasons]))


def some(names: list[str], most: int = 3) -> str:
    """A few names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
