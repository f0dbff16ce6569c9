"""Generate the page of differences from other tools from tests/parity/differences.txt."""

from __future__ import annotations

from collections import defaultdict

from docs.markdown import cell, table
from tests.parity.differences import Listed, listed
from tracewh.views.registry import installed

PEERS = {
    "plugin": "The TensorBoard profiler plugin",
    "hta": "HolisticTraceAnalysis",
    "tracelens": "TraceLens",
    "lightning": "PyTorch Lightning's own profiler",
}
_INDEX = """\
# Where we differ from other tools

<!-- Written by `{command}` from tests/parity/differences.txt. -->

Which figures are not those of the tool you used before, and why.

Tests compare the views with what other tools say of the same real traces, of every generation since
2021 and of CUDA, ROCm, MTIA and CPU. A figure that differs by more than a microsecond, or at all where
it is no time, has a line in [differences.txt](../tests/parity/differences.txt) with one of the reasons
below. One without a line fails the tests, and so does a line without a difference.

'Rows' is how many figures of all these traces differ for a reason; 'it' is the other tool. How our
figures are defined is on [a page of its own](definitions.md)."""


def render(command: str) -> str:
    """Return the page as Markdown."""
    by_peer: dict[str, list[Listed]] = defaultdict(list)
    for heading, lines in listed().listed.items():
        peer = heading.split()[0]
        by_peer[peer if peer in PEERS else "plugin"] += lines
    parts = [_INDEX.format(command=command)]
    for peer, title in PEERS.items():
        parts += [f"## {title}", _reasons(by_peer[peer])]
    return "\n\n".join(parts) + "\n"


def _reasons(lines: list[Listed]) -> str:
    rows: dict[str, int] = defaultdict(int)
    views: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for reason in line.reason.split(","):
            rows[reason] += line.rows
            views[reason].add(line.view)
    order = sorted(rows, key=lambda reason: (-rows[reason], reason))
    return table(
        ("why", "where", "rows"),
        [
            (
                cell(listed().reasons[reason]),
                ", ".join(map(_link, sorted(views[reason]))),
                f"{rows[reason]:,}",
            )
            for reason in order
        ],
    )


def _link(view: str) -> str:
    registry = installed()
    if view in {spec.name for spec in registry.newest()}:
        return f"[{view}](views/{view}.md)"
    if view in {spec.name for spec in registry.tables()}:
        return f"[{view}](tables/{view}.md)"
    return view
