"""diff_modules: what holds whatever the traces are. Its rules are drawn in tests/views."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    import tracewh
    from tests.given import Tables

#: The figures of a row that must add up to that of the row around it, in whole nanoseconds.
FIGURES = ("us", "host_us", "device_us")

NAMES = ("ProfilerStep#1", "enumerate(DataLoader)#A", "Optimizer.step#SGD.step", "a", "b")


def rows_of(relation: Any) -> list[dict[str, Any]]:
    columns = [column[0] for column in relation.description]
    return [dict(zip(columns, row, strict=True)) for row in relation.fetchall()]


def ns(value: float | None) -> int:
    return round((value or 0) * 1000)


def assert_adds_up(rows: list[dict[str, Any]]) -> None:
    """Each level adds up to the row around it, for both sides, and their differences."""
    levels = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["position"]):
        if row["path"] != "/":
            levels[row["path"].rpartition("/")[0] or "/"].append(row)
    whole = {row["path"]: row for row in rows}
    assert len(whole) == len(rows)
    for path, level in levels.items():
        outer = whole[path]
        assert outer["matched"]
        for figure in FIGURES:
            for side in ("baseline", "experiment", "delta"):
                name = f"{side}_{figure}"
                if outer[name] is None:
                    assert all(row[name] is None for row in level)
                assert sum(ns(row[name]) for row in level) == ns(outer[name]), (path, name)
        for side in ("baseline", "experiment"):
            totals = [ns(row[f"{side}_cumulative_us"]) for row in level]
            assert totals[0] == ns(level[0][f"{side}_us"])
            assert totals[-1] == ns(outer[f"{side}_us"])
            assert all(
                last + ns(row[f"{side}_us"]) == total
                for (last, total), row in zip(pairwise(totals), level[1:], strict=True)
            )
            # No instant counts twice, or for nothing.
            assert all(row[f"{side}_us"] is None or row[f"{side}_us"] >= 0 for row in level)
        assert all(
            row["matched"] == (None not in (row["baseline_us"], row["experiment_us"]))
            for row in level
        )
        assert all(
            ns(row["delta_us"]) == ns(row["experiment_us"]) - ns(row["baseline_us"])
            for row in level
        )


def assert_is_whole(row: dict[str, Any]) -> None:
    """The row of the trace is as long as the trace."""
    assert (row["path"], row["kind"]) == ("/", "trace")
    for side in ("baseline", "experiment"):
        assert ns(row[f"{side}_us"]) == ns(row[f"{side}_host_us"])


events = st.lists(
    st.tuples(
        st.sampled_from(["user_annotation", "module", "cuda_runtime", "backward"]),
        st.integers(0, 30),
        st.integers(0, 12),
        st.sampled_from(NAMES),
        st.integers(1, 2),
    ),
    min_size=1,
    max_size=25,
)
works = st.lists(st.tuples(st.integers(0, 24), st.integers(0, 40), st.integers(0, 9)), max_size=12)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sides=st.tuples(st.tuples(events, works), st.tuples(events, works)))
def test_a_level_adds_up_to_what_is_around_it(tables: Tables, sides: Any) -> None:
    """Blocks that overlap, work that overlaps, work of unknown origin, whatever is drawn."""
    query = "FROM diff_modules_v1('baseline', 'experiment')"
    tables.prepare(query)
    for table in ("traces", "host_events", "device_events"):
        tables.con.execute(f"DELETE FROM {table}")
    for run, (hosts, devices) in zip(("baseline", "experiment"), sides, strict=True):
        host_rows = [
            {
                "event_id": number,
                "category": {"module": "python_function", "backward": "cpu_op"}.get(what, what),
                "name": f"nn.Module: {name}" if what == "module" else name,
                "python_module_id": number if what == "module" else None,
                "sequence_number": number if what == "backward" else None,
                "forward_thread_id": thread if what == "backward" else None,
                "pid": "1",
                "tid": str(thread),
                "depth": 0,
                "start_ns": start,
                "duration_ns": length,
            }
            for number, (what, start, length, name, thread) in enumerate(hosts)
        ]
        device_rows = [
            {
                "event_id": 100 + number,
                "kind": "compute",
                "launch_id": launch,
                "start_ns": start,
                "duration_ns": length,
            }
            for number, (launch, start, length) in enumerate(devices)
        ]
        for table, rows in (
            ("traces", [{"event_id": 0}]),
            ("host_events", host_rows),
            ("device_events", device_rows),
        ):
            if rows:
                drawn = pa.Table.from_pylist(rows)
                if table == "traces":
                    drawn = drawn.drop_columns(["event_id"])
                keys = {"run": run, "worker": "w", "span": "1"}
                for key, value in keys.items():
                    drawn = drawn.append_column(key, pa.repeat(value, len(rows)))
                tables.con.register("drawn", drawn)
                tables.con.execute(f"INSERT INTO {table} BY NAME FROM drawn")
                tables.con.unregister("drawn")
    rows = rows_of(tables.con.execute(query))
    assert_adds_up(rows)
    assert_is_whole(next(row for row in rows if row["path"] == "/"))
    itself = rows_of(tables.con.execute("FROM diff_modules_v1('baseline', 'baseline')"))
    assert_same(itself)


def assert_same(rows: list[dict[str, Any]]) -> None:
    """Rows of a trace and itself."""
    for row in rows:
        assert row["matched"], row["path"]
        assert row["delta_us"] == row["delta_host_us"] == row["cumulative_delta_us"] == 0
        assert row["baseline_device_us"] == row["experiment_device_us"]


def test_every_trace_of_the_corpus_against_itself_and_the_next(corpus: tracewh.Warehouse) -> None:
    traces = corpus.sql("SELECT run, worker, span FROM traces ORDER BY ALL").fetchall()
    assert len(traces) >= 25
    firsts = {trace[0]: trace for trace in reversed(traces)}
    for trace, other in zip(traces, [*traces[1:], traces[0]], strict=True):
        if trace == firsts[trace[0]]:  # the others of a run have the same modules
            itself = _diff(corpus, trace, trace)
            assert_same(itself)
            assert_adds_up(itself)
        rows = _diff(corpus, trace, other)
        assert_adds_up(rows)
        [whole] = [row for row in rows if row["path"] == "/"]
        assert_is_whole(whole)


def _diff(
    warehouse: tracewh.Warehouse, trace: tuple[str, str, str], other: tuple[str, str, str]
) -> list[dict[str, Any]]:
    return rows_of(
        warehouse.diff_modules(
            baseline=trace[0],
            baseline_worker=trace[1],
            baseline_span=trace[2],
            experiment=other[0],
            experiment_worker=other[1],
            experiment_span=other[2],
        )
    )


def longest(baseline: list[str], experiment: list[str]) -> int:
    """Length of a longest common subsequence, cell by cell."""
    above = [0] * (len(experiment) + 1)
    for letter in baseline:
        row = [0]
        for place, other in enumerate(experiment):
            row.append(above[place] + 1 if letter == other else max(above[place + 1], row[-1]))
        above = row
    return above[-1]


@pytest.mark.parametrize("letters", ["L", "LR", "LRTS"])
def test_what_is_aligned_is_as_long_as_can_be(tables: Tables, letters: str) -> None:
    """300 pairs of lists at once, as the blocks of a level are."""
    dice = random.Random(7)
    pairs = [
        tuple([dice.choice(letters) for _ in range(dice.randrange(14))] for _ in range(2))
        for _ in range(300)
    ]
    drawn = pa.Table.from_pylist(
        [
            {"pair": pair, "is_baseline": side == 0, "position": place, "key": letter}
            for pair, lists in enumerate(pairs)
            for side, letters in enumerate(lists)
            for place, letter in enumerate(letters, start=1)
        ]
    )
    tables.con.register("drawn", drawn)
    query = "FROM aligned_lists('drawn') ORDER BY ALL"
    tables.prepare(query)
    aligned = defaultdict(list)
    for pair, place, other in tables.con.execute(query).fetchall():
        aligned[pair].append((place, other))
    tables.con.unregister("drawn")
    for pair, (baseline, experiment) in enumerate(pairs):
        places = aligned[pair]
        assert all(baseline[place - 1] == experiment[other - 1] for place, other in places)
        assert all(a < c and b < d for (a, b), (c, d) in pairwise(places))
        assert len(places) == longest(baseline, experiment)
