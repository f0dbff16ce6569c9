"""Explain why a view has no rows: because of its parameters, or because the traces lack data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    import duckdb

    from tracewh.views import Spec, TraceKeys

    RunView = Callable[..., duckdb.DuckDBPyRelation]

#: The columns that identify the trace of a row, in nearly every view.
SOURCE = ("run", "worker", "span")
#: Checks of trace_quality that replace the advice how to record what is missing.
HAS_NONE = frozenset({"empty_recording", "truncated_file", "unknown_kinds"})
#: In the reason why a view has no rows: stands for how to record something.
ADVICE = re.compile(r"\{record (\w+)\}")


def explain(
    run_view: RunView, traces: list[TraceKeys], view: Spec, arguments: dict[str, Any]
) -> None:
    """Print on stderr why a view has no rows.

    Args:
        run_view: Runs a view, given its name, version and arguments.
        traces: All traces of the warehouse.
    """
    traces_of: dict[str, list[str]] = {}
    for trace, messages in reasons(run_view, traces, view, arguments).items():
        for message in messages:
            traces_of.setdefault(message, []).append("/".join(trace))
    lines = [
        f"  {abbreviate(names)}: {message}" if any(names) else f"  {message}"
        for message, names in traces_of.items()
    ]
    diagnostics.note("\n".join([f"{view.name} has no rows for these parameters", *lines]))


def reasons(
    run_view: RunView, traces: list[TraceKeys], view: Spec, arguments: dict[str, Any]
) -> dict[TraceKeys | tuple[()], list[str]]:
    """Return why a view has no rows: messages per trace, or under `()` for all traces.

    The reason is an argument that excludes all rows; else the data that the traces lack according to
    trace_quality; else the text `empty` in the header of the view, with the advice for the profiler of the trace.
    """
    from tracewh.views.names import SIDES  # imports DuckDB, which a help page must not wait for

    of_traces = {*SOURCE, *SIDES, *(f"{side}_{what}" for side in SIDES for what in SOURCE[1:])}
    given = {param.name for param in view.params if param.required or param.name in of_traces}
    others = [name for name in arguments if name not in given]
    known = {param.name: _value(param.default) for param in view.params} | arguments
    why = re.sub(r"\{(\w+)\}", lambda found: str(known[found[1]]), view.empty)
    selected = _selected(traces, arguments)
    if excluding := _excluding(run_view, view, arguments, others):
        options = " and ".join(
            f"--{name.replace('_', '-')}"
            + ("" if arguments[name] is True else f" {arguments[name]}")  # a flag has no value
            for name in excluding
        )
        explains = any(f"{{{name}}}" in view.empty for name in excluding)
        hints = _advised(run_view, why, selected, arguments).values() if explains else ()
        return {(): [f"There are rows without {options}.", *dict.fromkeys(hints)]}
    found = _missing_data(run_view, view, traces, arguments)
    lacking = [trace for trace in selected if trace not in found] if why else []
    said = {trace: [said] for trace, said in _advised(run_view, why, lacking, arguments).items()}
    return {trace: found.get(trace) or said.get(trace, []) for trace in selected}


def _excluding(
    run_view: RunView, view: Spec, arguments: dict[str, Any], names: list[str]
) -> list[str]:
    """Return the arguments that exclude all rows: each one that does so alone, else all together."""

    def has_rows(without: list[str]) -> bool:
        left = {name: value for name, value in arguments.items() if name not in without}
        return bool(run_view(view.name, view.version, **left).limit(1).fetchall())

    single = [name for name in names if has_rows([name])]
    return single or (names if len(names) > 1 and has_rows(names) else [])


def _advised(
    run_view: RunView, why: str, traces: list[TraceKeys], arguments: dict[str, Any]
) -> dict[TraceKeys, str]:
    """Return why there are no rows per trace: `{record operators}` is how its profiler records operators."""
    if not traces or not ADVICE.search(why):
        return dict.fromkeys(traces, why)
    advice: dict[TraceKeys, dict[str, str]] = {}
    rows = run_view("recording_advice", **_of_traces(arguments))
    for run, worker, span, data, said in rows.project("run, worker, span, data, advice").fetchall():
        advice.setdefault((run, worker, span), {})[data] = said
    return {trace: advise(why, advice[trace]) for trace in traces}


def advise(why: str, advice: Mapping[str, str]) -> str:
    """Replace `{record operators}` and the like by advice on recording.

    Args:
        why: The text `empty` in the header of a view.
        advice: What `recording_advice` says about each kind of data.
    """
    return ADVICE.sub(lambda found: advice[found[1]], why)


def _of_traces(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in SOURCE if name in arguments}


def _missing_data(
    run_view: RunView, view: Spec, traces: list[TraceKeys], arguments: dict[str, Any]
) -> dict[TraceKeys, list[str]]:
    """Return the messages of trace_quality per trace, for the checks that the view needs.

    Advice on recording helps no trace of `HAS_NONE`: another program wrote it, nothing ran, or the file was cut off.
    """
    found: dict[TraceKeys, list[str]] = {}
    if view.needs or ADVICE.search(view.empty):
        rows = run_view("trace_quality", **_of_traces(arguments))
        rows = rows.project('run, worker, span, "check", message')
        for run, worker, span, check_, message in rows.fetchall():
            if check_ in view.needs or check_ in HAS_NONE:
                found.setdefault((run, worker, span), []).append(message)
    return found


def _selected(traces: list[TraceKeys], arguments: dict[str, Any]) -> list[TraceKeys]:
    """Return the traces that the arguments select; for a comparison, those of both sides."""
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
    """Return a default from a header without its quotes."""
    return default.strip("'")


def abbreviate(names: list[str], most: int = 3) -> str:
    """Return the first names and the number of the others."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
