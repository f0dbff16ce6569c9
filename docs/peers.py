"""Generate the page about differences from other tools from tests/parity/differences.txt."""

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
    "nsys": "Nsight Systems",
}
_INDEX = """\
# Differences from other tools

<!-- Written by `{command}` from tests/parity/differences.txt. -->

Which figures differ from those of the tool that you used before, and why?

Tests compare the views with what other tools report for the same real traces: of every generation since
2021, from CUDA, ROCm, MTIA and CPU. A difference is a time that differs by more than a microsecond, or
any other figure that differs at all. Each difference has a line in
[differences.txt](../tests/parity/differences.txt) with one of the reasons below. A difference without a
line fails the tests, and so does a line without a difference.

'Rows' is the number of figures that differ for this reason, in all traces together. 'It' is the other
tool, and 'we' is tracewh. [The definitions](definitions.md) say how tracewh defines its figures."""

_TORCH = """\
## torch.profiler's own key_averages()

Tests compare views of operators, annotations, runtime calls, kernels, copies, memory and steps with `key_averages()` of
the same recording: on a CPU each time, and on an H100 for the [samples](../samples/README.md). All figures are the same
to the nanosecond and to the byte, but for these:

- It takes the time of Python frames, and the memory of frames and annotations, away from the operator around them. We
  do not.
- It counts an operator and its only child as two calls also if both have the same name. To us they are one call.
- With `capture_overload_names=True` the names in a trace, and so ours, have the overload, such as `aten::add.Tensor`.
  It leaves the overload out.
- Kineto writes an annotation on a device into the trace with 1 ns more before and after it.
- It gives a call of CUDA that no operator made, such as those of gloo's threads, to the thread that profiles. An
  operator there that runs meanwhile then has less self time, and the device time of the call. We leave the call on
  its thread."""


def render(command: str) -> str:
    """The page."""
    by_peer: dict[str, list[Listed]] = defaultdict(list)
    for heading, lines in listed().listed.items():
        peer = heading.split()[0]
        by_peer[peer if peer in PEERS else "plugin"] += lines
    parts = [_INDEX.format(command=command)]
    for peer, title in PEERS.items():
        parts += [f"## {title}", _reasons(by_peer[peer])]
    return "\n\n".join([*parts, _TORCH]) + "\n"


def _reasons(lines: list[Listed]) -> str:
    rows: dict[str, int] = defaultdict(int)
    views: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for reason in line.reason.split(","):
            rows[reason] += line.rows
            views[reason].add(line.view)
    order = sorted(rows, key=lambda reason: (-rows[reason], reason))
    return table(
        ("reason", "views", "rows"),
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
