"""Find out which traces a result depends on, from the view and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from tracewh.quoting import quote_literal
from tracewh.storage.layout import KEYS, TraceKeys, replaying_run
from tracewh.views import names
from tracewh.views.registry import installed
from tracewh.views.spec import Spec

#: How many of run, worker and span identify the traces that a row depends on, by `distributes:`.
_SIZES = {"trace": 3, "worker": 2, "run": 1}

#: Run, worker and span of the traces that a view reports; None for all.
Wanted = tuple[str | None, ...]


def wanted_traces(arguments: Mapping[str, Any]) -> list[Wanted]:
    """Return what the arguments of a view say about its traces, for each side that it compares."""
    sides = [(side, *(f"{side}_{key}" for key in KEYS[1:])) for side in names.SIDES]
    compared = [keys for keys in sides if keys[0] in arguments]
    return [tuple(map(arguments.get, keys)) for keys in compared or [KEYS]]


def is_among(keys: TraceKeys, wanted: Wanted) -> bool:
    """Whether a trace has the names that are wanted."""
    return all(name in (None, key) for name, key in zip(wanted, keys, strict=True))


def passed(wanted: Wanted) -> str:
    """Return names of traces as arguments of a macro."""
    named = zip(KEYS, wanted, strict=True)
    return ", ".join(f"{key} := {quote_literal(name)}" for key, name in named if name is not None)


def needed_traces(
    view: Spec | None, arguments: Mapping[str, Any]
) -> Callable[[TraceKeys], bool] | None:
    """Return a filter for the traces that a result depends on; None for all traces.

    A view that replays graphs also depends on the captures of the run.

    Args:
        view: A view; None for any query of the runs.
        arguments: Its arguments.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    with_captures = view is None or reads_captures(view.object_name)
    if all(side in given for side in names.SIDES):
        runs = {given[side] for side in names.SIDES}
        return lambda keys: keys[0] in runs or (with_captures and replaying_run(keys[0]) in runs)
    size = view.distributes if view else "run"
    wanted = [given.get(name) for name in KEYS[: _SIZES.get(size, 0)]]
    if not any(wanted) or (with_captures and not wanted[0]):
        return None
    owner = replaying_run(wanted[0]) if with_captures and wanted[0] else None
    return lambda keys: (
        replaying_run(keys[0]) == owner
        or all(n in (None, key) for n, key in zip(wanted, keys, strict=False))
    )


@cache
def reads_captures(object_name: str) -> bool:
    """Whether a view or block finds out which captured graphs were replayed."""
    return "replay_matches" in installed().needs(f"{object_name}()")
