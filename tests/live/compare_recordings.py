"""Compares the views on what samples/record_gpu.py recorded with what torch itself said of it.

    python -m tests.live.compare_recordings FOLDER

prints each figure that differs. Calls and times of operators, annotations, runtime calls, kernels and
copies, and the memory of operators have to be those of key_averages(). Kineto writes annotations on a device
as beginning 1 ns earlier and ending 1 ns later than they do (libkineto/src/output_json.cpp). key_averages() gives
a call of CUDA that no operator made to the thread that profiles (setKinetoTID in torch/csrc/profiler/collection.cpp), so
operators there that run meanwhile are left out. The length of at least half of the
steps has to be about that of CUDA's events around them; of a recording on a CPU, that of its clock.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import tracewh

#: By how much an annotation on a device is longer in a trace than it was.
WIDENED_NS = 2
#: By how much a step of a trace may differ from what was timed around it.
STEP_SHARE, STEP_US = 0.05, 500


class Difference(NamedTuple):
    """A figure that a view and torch have differently; None where there is no row."""

    trace: str
    view: str
    name: str
    figure: str
    ours: float | None
    theirs: float | None

    def __str__(self) -> str:
        return f"{self.trace}: {self.view}: {self.name}: {self.figure}: {self.ours}, torch {self.theirs}"


@dataclass(frozen=True)
class Check:
    """The figures of a view, and the rows of key_averages() that have the same.

    `query` is for all traces; it has the name first, then the figures, times in microseconds.
    """

    view: str
    query: str
    categories: tuple[str, ...]
    figures: tuple[str, ...]
    on_device: bool = False


OPERATOR, NOTE, DEVICE_NOTE = ("cpu_op",), ("user_annotation",), ("gpu_user_annotation",)
HOST = ("calls", "self_ns", "total_ns")
DEVICE = ("device_self_ns", "device_total_ns")
CALLS = ("calls", "total_ns")
ON_DEVICE = ("calls", "device_total_ns")
STEPS = r"regexp_replace(name, '^(ProfilerStep)#\d+$', '\1*')"

CHECKS = [
    Check(
        "operator_stats",
        "SELECT name, calls, host_self_us, host_total_us FROM operator_stats(per_span := true) WHERE calls > 0",
        OPERATOR,
        HOST,
    ),
    Check(
        "operator_calls",
        "SELECT name, count(*), sum(host_self_us), sum(duration_us) FROM operator_calls() GROUP BY ALL",
        OPERATOR,
        HOST,
    ),
    # Torch counts what a graph replays for the operator that launched the graph.
    Check(
        "operator_stats",
        "SELECT s.name, coalesce(s.device_self_us, 0) - coalesce(s.replayed_us, 0),"
        " CASE WHEN s.replayed_us > 0 THEN (SELECT sum(c.device_total_us) FROM operator_calls() AS c"
        " WHERE c.name = s.name AND (c.run, c.worker, c.span) = (s.run, s.worker, s.span))"
        " ELSE coalesce(s.device_total_us, 0) END"
        " FROM operator_stats(per_span := true) AS s WHERE s.calls > 0",
        OPERATOR,
        DEVICE,
    ),
    Check(
        "operator_calls",
        "SELECT name, coalesce(sum(device_self_us), 0), coalesce(sum(device_total_us), 0)"
        " FROM operator_calls() GROUP BY ALL",
        OPERATOR,
        DEVICE,
    ),
    Check(
        "annotation_breakdown",
        f"SELECT {STEPS}, sum(calls), sum(host_us) FROM annotation_breakdown(per_span := true)"
        " WHERE device_id IS NULL GROUP BY ALL",
        NOTE,
        CALLS,
    ),
    Check(
        "annotation_breakdown",
        f"SELECT {STEPS}, sum(calls), sum(device_us) FROM annotation_breakdown(per_span := true)"
        " WHERE device_id IS NOT NULL GROUP BY ALL",
        DEVICE_NOTE,
        ON_DEVICE,
        on_device=True,
    ),
    Check(
        "range_stats",
        f"SELECT {STEPS}, sum(calls), sum(total_us)"
        " FROM range_stats(category := 'user_annotation', per_span := true) GROUP BY ALL",
        NOTE,
        CALLS,
    ),
    Check(
        "runtime_api_stats",
        "SELECT name, calls, total_us FROM runtime_api_stats(per_span := true)",
        ("cuda_runtime", "cuda_driver"),
        CALLS,
    ),
    Check(
        "kernel_stats",
        "SELECT name, calls, total_us FROM kernel_stats(per_span := true)",
        ("kernel",),
        ON_DEVICE,
        on_device=True,
    ),
    Check(
        "memory_copy_stats",
        "SELECT operation, calls, total_us FROM memory_copy_stats(per_span := true)",
        ("gpu_memcpy", "gpu_memset"),
        ON_DEVICE,
        on_device=True,
    ),
    # Who neither allocates nor releases has no row.
    Check(
        "memory_stats",
        "SELECT operator, sum(self_size_increase_bytes) FILTER (device = 'cpu'),"
        " sum(self_size_increase_bytes) FILTER (device != 'cpu')"
        " FROM memory_stats() WHERE operator IS NOT NULL GROUP BY ALL",
        OPERATOR,
        ("self_bytes", "device_self_bytes"),
    ),
]

Figures = dict[str, dict[str, int]]
#: Operators of the thread that profiles, while another thread made a call of CUDA without an operator.
DISPLACED = """
    WITH calls AS (
        FROM host_events
        WHERE category IN ('cuda_runtime', 'cuda_driver') AND (run, worker, span) = ($1, $2, $3)
    ),
    operators AS (FROM cpu_ops WHERE (run, worker, span) = ($1, $2, $3)),
    alone AS (
        FROM calls AS c
        WHERE NOT EXISTS (
            FROM operators AS o
            WHERE o.tid = c.tid AND c.start_ns >= o.start_ns AND c.start_ns < o.start_ns + o.duration_ns
        )
    )
    SELECT DISTINCT o.name
    FROM operators AS o
    INNER JOIN alone AS a
        ON a.start_ns < o.start_ns + o.duration_ns AND a.start_ns + a.duration_ns > o.start_ns
    WHERE
        a.tid <> o.tid
        AND o.tid IN (SELECT h.tid FROM host_events AS h WHERE starts_with(h.name, 'ProfilerStep#'))
"""


class Answers:
    """The rows of queries by trace: each is asked once for all traces of a warehouse."""

    def __init__(self, warehouse: tracewh.Warehouse) -> None:
        self.warehouse = warehouse
        self._found: dict[str, defaultdict[tuple[str, ...], list[tuple[Any, ...]]]] = {}

    def of(self, query: str, trace: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """The rows that a query has for a run, worker and span."""
        if query not in self._found:
            found = self._found[query] = defaultdict(list)
            asked = query.replace("SELECT ", "SELECT run, worker, span, ", 1)
            for run, worker, span, *row in self.warehouse.sql(asked).fetchall():
                found[run, worker, span].append(tuple(row))
        return self._found[query][trace]


class Recording:
    """A trace in the warehouse, and what torch said of it."""

    def __init__(self, answers: Answers, said: Path) -> None:
        self.answers, self.label = answers, said.name.partition(".json")[0]
        self.trace = tuple(self.label.split("."))
        text = gzip.decompress(said.read_bytes()) if said.suffix == ".gz" else said.read_bytes()
        self.said: dict[str, Any] = json.loads(text)

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query for this trace."""
        return self.answers.of(query, self.trace)

    @cached_property
    def unfinished(self) -> list[tuple[Any, ...]]:
        """Names of what had not ended when recording stopped, which lasts longer in a trace, and is marked there."""
        return self.sql("SELECT name FROM host_events WHERE NOT finished GROUP BY ALL")

    @cached_property
    def displaced(self) -> list[tuple[Any, ...]]:
        """Names of operators whose own time key_averages() shortens; see DISPLACED."""
        return self.answers.warehouse.sql(DISPLACED, list(self.trace)).fetchall()

    def ours(self, check: Check) -> Figures:
        """What the view has; figures that are 0 or NULL are left out."""
        return {
            name: {
                figure: round(value * 1000) if figure.endswith("_ns") else int(value)
                for figure, value in zip(check.figures, values, strict=True)
                if value
            }
            for name, *values in self.sql(check.query)
        }

    def theirs(self, check: Check) -> Figures:
        """What key_averages() has, with what frames and annotations inside operators have."""
        names = {
            name for each in check.categories for name in self.said["categories"].get(each, [])
        }
        if any(name.startswith("ProfilerStep#") for name in names):
            names.add("ProfilerStep*")
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for row in self.said["averages"]:
            is_note = check.categories in (NOTE, DEVICE_NOTE)
            if row["name"] in names and (row["on_device"], row["is_annotation"]) == (
                check.on_device,
                is_note,
            ):
                of = found[row["name"]]
                of.update({figure: row[figure] for figure in check.figures})
                if check.categories == DEVICE_NOTE:
                    of["device_total_ns"] += WIDENED_NS * row["calls"]
                if not check.on_device:
                    within = self.said["within"].get(row["name"], {})
                    of.update({f: n for f, n in within.items() if f in check.figures})
        return {
            name: {figure: value for figure, value in figures.items() if value}
            for name, figures in found.items()
        }

    def differences(self, check: Check) -> Iterator[Difference]:
        """What the two have differently."""
        ours, theirs = self.ours(check), self.theirs(check)
        for name in sorted(ours.keys() | theirs.keys()):
            mine, other = ours.get(name, {}), theirs.get(name, {})
            for figure in check.figures:
                if mine.get(figure) == other.get(figure):
                    continue
                long = (name,) in self.unfinished and figure.endswith("_ns")
                less = (figure == "self_ns" or figure in DEVICE) and (name,) in self.displaced
                if not long and not less:
                    yield Difference(
                        self.label, check.view, name, figure, mine.get(figure), other.get(figure)
                    )

    def steps(self) -> Iterator[Difference]:
        """Steps on record that nobody timed, and one of another length where more than half have another.

        Another process may get the processor between the clock and the profiler, in a few steps.
        """
        timed = {int(step): length for step, length in self.said["steps_us"].items()}
        rows = dict(self.sql("SELECT step, total_us FROM step_breakdown() WHERE NOT is_tail"))
        for step in sorted(rows.keys() - timed.keys()):
            yield self._of_step(step, rows[step], None)
        both = sorted(rows.keys() & timed.keys(), key=lambda step: abs(rows[step] - timed[step]))
        if both:
            step = both[(len(both) - 1) // 2]
            ours, theirs = rows[step], timed[step]
            if abs(ours - theirs) > STEP_SHARE * theirs + STEP_US:
                yield self._of_step(step, ours, theirs)

    def _of_step(self, step: int, ours: float, theirs: float | None) -> Difference:
        return Difference(self.label, "step_breakdown", f"step {step}", "total_us", ours, theirs)

    def all(self) -> Iterator[Difference]:
        """All differences."""
        for check in CHECKS:
            yield from self.differences(check)
        yield from self.steps()


def compare(folder: Path, warehouse: tracewh.Warehouse) -> list[Difference]:
    """The differences of all recordings in a folder that record_gpu.py wrote; what torch said may have gzip."""
    said, answers = sorted((folder / "said").glob("*.json*")), Answers(warehouse)
    return [each for path in said for each in Recording(answers, path).all()]


def main() -> int:
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as made:
        tracewh.ingest([folder / "traces"], made)
        with tracewh.open(made) as warehouse:
            found = compare(folder, warehouse)
            ((traces,),) = warehouse.sql("SELECT count(*) FROM traces").fetchall()
    for difference in found:
        print(difference)
    print(f"{traces} traces, {len(CHECKS)} checks of each and its steps: {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
