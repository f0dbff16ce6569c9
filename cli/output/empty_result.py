"""Why a view has no rows: what was asked for, or what the traces lack."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    import duckdb

    from tracewh.views import Spec

    Ask = Callable[..., duckdb.DuckDBPyRelation]
    Trace = tuple[str, str, str]

#: What says where a row comes from, in nearly every view.
SOURCE = ("run", "worker", "span")


def explain(ask: Ask, traces: list[Trace], view: Spec, arguments: dict[str, Any]) -> None:
    """Say on stderr why a view has no rows.

    Args:
        ask: Takes the name of a view, its version and its arguments.
        traces: All that the warehouse has.
    """
    told: dict[str, list[str]] = {}
    for trace, messages in reasons(ask, traces, view, arguments).items():
        for message in messages:
            told.setdefault(message, []).append("/".join(trace))
    lines = [
        f"  {some(names)}: {message}" if any(names) else f"  {message}"
        for message, names in told.items()
    ]
    diagnostics.note("\n".join([f"{view.name} has no rows for these parameters", *lines]))


def reasons(
    ask: Ask, traces: list[Trace], view: Spec, arguments: dict[str, Any]
) -> dict[Trace | tuple[()], list[str]]:
    """Why a view has no rows, trace by trace; under `()` what holds for all.

    What was asked for besides traces may be the reason; else what the traces lack, as trace_quality
    says it, or else what the header of the view says.
    """
    from tracewh.views.names import SIDES  # with DuckDB, which a page of help does not wait for

    of_traces = {*SOURCE, *SIDES, *(f"{side}_{what}" for side in SIDES for what in SOURCE[1:])}
    given = {param.name for param in view.params if param.required or param.name in of_traces}
    others = [name for name in arguments if name not in given]
    known = {param.name: _value(param.default) for param in view.params} | arguments
    why = re.sub(r"\{(\w+)\}", lambda found: str(known[found[1]]), view.empty)
    if culprits := _culprits(ask, view, arguments, others):
        named_ = " and ".join(f"--{name.replace('_', '-')} {arguments[name]}" for name in culprits)
        said = [why] if any(f"{{{name}}}" in view.empty for name in culprits) else []
        return {(): [f"There are rows without {named_}.", *said]}
    found = _lacking(ask, view, traces, arguments)
    return {
        trace: found.get(trace) or ([why] if why else []) for trace in _asked(traces, arguments)
    }


def _culprits(ask: Ask, view: Spec, arguments: dict[str, Any], names: list[str]) -> list[str]:
    """The arguments without one of which there are rows; all of them if it takes that."""

    def has_rows(without: list[str]) -> bool:
        left = {name: value for name, value in arguments.items() if name not in without}
        return bool(ask(view.name, view.version, **left).limit(1).fetchall())

    single = [name for name in names if has_rows([name])]
    return single or (names if len(names) > 1 and has_rows(names) else [])


def _lacking(
    ask: Ask, view: Spec, traces: list[Trace], arguments: dict[str, Any]
) -> dict[Trace, list[str]]:
    """What trace_quality says of traces, of the checks that the view needs."""
    found: dict[Trace, list[str]] = {}
    if view.needs:
        wanted = {name: arguments[name] for name in SOURCE if name in arguments}
        rows = ask("trace_quality", **wanted).project('run, worker, span, "check", message')
        for run, worker, span, check_, message in rows.fetchall():
            if check_ in view.needs:
                found.setdefault((run, worker, span), []).append(message)
    return found


def _asked(traces: list[Trace], arguments: dict[str, Any]) -> list[Trace]:
    """The traces that arguments name, for either side where they compare two runs."""
    from tracewh.views.names import SIDES

    groups: list[dict[str, Any]] = [
        {"run": arguments[side]} | {what: arguments.get(f"{side}_{what}") for what in SOURCE[1:]}
        for side in SIDES
        if side in arguments
    ] or [{name: arguments.get(name) for name in SOURCE}]
    return [
        trace
        for trace in traces
        if any(
            all(group[what] in (None, part) for what, part in zip(SOURCE, trace, strict=True))
            for group in groups
        )
    ]


def _value(default: str) -> str:
    """A default of a header as a person writes it."""
    return default.strip("'")


def some(names: list[str], most: int = 3) -> str:
    """A few names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
