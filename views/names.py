"""Resolve shortened names of runs, workers and spans.

You can write the full name, or a part that matches only one name: its end, first after a slash and then
anywhere, or a glob with ``*``, ``?`` and ``[]``. The exact name always wins. SQL compares full names:
Python resolves the name before it binds the parameter.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from tracewh.storage.layout import KEYS, TraceKeys
from tracewh.views.registry import ArgumentError

#: Parameters that name a run to compare, alone or before `_worker` and `_span`.
SIDES = ("baseline", "experiment")
#: Maximum number of listed matches of an ambiguous name.
MOST_LISTED = 20
#: Maximum number of suggestions for an unknown name.
MOST_SUGGESTED = 3
#: Minimum similarity of a name for "did you mean".
CLOSE = 0.6
#: Maximum number of names that are compared in full, after a quick comparison of their letters.
MOST_COMPARED = 50


def name_arguments(arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the names among the arguments of a view by parameter, grouped by run."""
    sides = [KEYS, *((side, *(f"{side}_{key}" for key in KEYS[1:])) for side in SIDES)]
    found = ({p: arguments[p] for p in side if arguments.get(p) is not None} for side in sides)
    return [names for names in found if names]


def named_runs(arguments: Mapping[str, Any]) -> list[str] | None:
    """Return the runs that the arguments of a view name; None if a worker or span may be of any run."""
    found = [names[p] for names in name_arguments(arguments) for p in ("run", *SIDES) if p in names]
    return found if len(found) == len(name_arguments(arguments)) else None


def resolve(arguments: Mapping[str, Any], traces: Iterable[TraceKeys]) -> dict[str, Any]:
    """Return the arguments of a view with full names of runs, workers and spans.

    Args:
        traces: Run, worker and span of each trace there is.

    Raises:
        ArgumentError: A name is unknown, or several names match it.
    """
    whole, known = dict(arguments), list(traces)
    for names in name_arguments(arguments):
        whole |= resolve_names(known, names)[0]
    return whole


def resolve_names(
    traces: Iterable[TraceKeys], names: Mapping[str, str]
) -> tuple[dict[str, str], list[TraceKeys]]:
    """Resolve names; return the full names and the traces that have them.

    Args:
        traces: Run, worker and span of each trace there is.
        names: By what they name: ``run``, ``worker``, ``span``, or a parameter such as
            ``baseline`` and ``baseline_worker``. A worker is looked for among those of the run.

    Raises:
        ArgumentError: A name is unknown, or several names match it.
    """
    left, whole = list(traces), {}
    for parameter, name in names.items():
        what = parameter.rpartition("_")[2]
        what = what if what in KEYS else "run"
        position = KEYS.index(what)
        known = sorted({trace[position] for trace in left})
        found = matches(str(name), known)
        if not found:
            raise ArgumentError(f"no {what} named {str(name)!r}{_instead(str(name), what, known)}")
        if len(found) > 1:
            listed = [f"  {each}" for each in found[:MOST_LISTED]]
            listed += [f"  and {len(found) - MOST_LISTED:,} more"] * (len(found) > MOST_LISTED)
            raise ArgumentError(
                "\n".join([f"{str(name)!r} matches {len(found):,} {what}s; name one:", *listed])
            )
        whole[parameter] = found[0]
        left = [trace for trace in left if trace[position] == found[0]]
    return whole, left


def matches(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that match a name by the first rule with any match."""
    known = list(known)
    rules: tuple[Callable[[str], bool], ...] = (
        lambda each: each == name,
        lambda each: each.endswith(f"/{name}"),
        lambda each: each.endswith(name) and not _cuts_a_number(each, len(each) - len(name)),
        lambda each: any(fnmatchcase(part, name) for part in _ends(each)),
    )
    for rule in rules if name else rules[:1]:
        if found := [each for each in known if rule(each)]:
            return found
    return []


def nearest(name: str, known: Iterable[str]) -> list[tuple[float, str]]:
    """Return the names most similar to an unknown one, with their similarity from 0 to 1."""

    def likeness(measure: str) -> Callable[[str], float]:
        compared = difflib.SequenceMatcher(b=name.lower(), autojunk=False)

        def of(each: str) -> float:
            ratios = []
            for part in _ends(each.lower()):
                compared.set_seq1(part)
                ratios.append(getattr(compared, measure)())
            return 1.0 if name and name.lower() in each.lower() else max(ratios)

        return of

    some = heapq.nlargest(MOST_COMPARED, known, likeness("quick_ratio"))
    ratio = likeness("ratio")
    return heapq.nlargest(MOST_SUGGESTED, [(ratio(each), each) for each in some], lambda r: r[0])


def _cuts_a_number(name: str, at: int) -> bool:
    """Whether a position lies between two digits: `1` must not match the end of `worker11`."""
    return re.fullmatch("[0-9]{2}", name[at - 1 : at + 1]) is not None


def _ends(name: str) -> list[str]:
    """Return a name and its parts after each slash."""
    parts = name.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


def _instead(name: str, what: str, known: Sequence[str]) -> str:
    """Return a suggestion for an unknown name, or the known names."""
    if not known:
        return ""
    found = nearest(name, known)
    if close := [each for likeness, each in found if likeness >= CLOSE]:
        *others, last = map(repr, close)
        return f"; did you mean {' or '.join(filter(None, [', '.join(others), last]))}?"
    if len(known) == 1:
        return f"; the only {what} is {known[0]}"
    if len(known) <= MOST_SUGGESTED:
        return f"; the {what}s are {', '.join(known)}"
    return f"; the nearest of {len(known):,} are {', '.join(each for _, each in found)}"
