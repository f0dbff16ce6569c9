"""A run, worker or span by a part of its name that no other has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracewh.views import ArgumentError
from tracewh.views.names import matches, resolve, resolve_names

RUNS = (
    "v100_resnet50_2021/resnet50_num_workers_0",
    "v100_resnet50_2021/resnet50_num_workers_4",
    "mi250_train_2025",
    "train_2025",
    "a[1]",
    "a1",
)
TRACES = [(run, worker, span) for run in RUNS for worker in ("rank0", "rank11") for span in "12"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("train_2025", ["train_2025"]),  # the exact name, though another one ends so
        ("a[1]", ["a[1]"]),  # though it is a glob of another one
        ("resnet50_num_workers_0", [RUNS[0]]),  # the end at a slash
        ("workers_4", [RUNS[1]]),  # any end
        ("_2025", ["mi250_train_2025", "train_2025"]),
        ("025", []),  # an end within a number
        ("*workers_0", [RUNS[0]]),
        ("*workers_[04]", [RUNS[0], RUNS[1]]),
        ("mi???_*", ["mi250_train_2025"]),
        ("resnet50_*_0", [RUNS[0]]),  # a glob of what stands behind a slash
        ("v100*", [RUNS[0], RUNS[1]]),
        ("resnet50", []),  # neither the beginning
        ("num", []),  # nor the middle
        ("", []),
    ],
)
def test_what_a_name_stands_for(name: str, found: list[str]) -> None:
    assert matches(name, RUNS) == found


def test_an_end_at_a_slash_goes_before_any_end() -> None:
    assert matches("b", ["a/b", "ab"]) == ["a/b"]


@given(st.lists(st.text("ab/0*?[]", min_size=1), min_size=1, unique=True), st.data())
def test_the_exact_name_always_wins(known: Sequence[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(known))
    assert matches(name, known) == [name]


def test_every_parameter_that_names_something_is_resolved() -> None:
    given: dict[str, Any] = {"run": "workers_0", "worker": "nk0", "span": "1", "step": 1}
    given |= {"baseline": "workers_4", "baseline_worker": "rank11"}
    given |= {"experiment": "a1", "experiment_span": "2"}
    whole = {"run": RUNS[0], "worker": "rank0", "baseline": RUNS[1]}
    assert resolve(given, TRACES) == given | whole


def test_a_worker_is_looked_for_among_those_of_the_run() -> None:
    traces = [("a", "host_1", "1"), ("b", "host_2", "1"), ("b", "node_1", "1")]
    assert resolve_names(traces, {"run": "a", "worker": "_1"})[1] == traces[:1]
    with pytest.raises(ArgumentError, match="'_1' matches 2 workers"):
        resolve_names(traces, {"worker": "_1"})


@pytest.mark.parametrize(
    ("known", "name", "message"),
    [
        (RUNS, "*workers*", f"'*workers*' matches 2 runs; name one:\n  {RUNS[0]}\n  {RUNS[1]}"),
        (
            [f"run/{number:02}" for number in range(22)],
            "run/*",
            "\n".join(
                ["'run/*' matches 22 runs; name one:"]
                + [f"  run/{number:02}" for number in range(20)]
                + ["  and 2 more"]
            ),
        ),
        (
            RUNS,
            "resnet50_num_wrkers_4",
            f"no run named 'resnet50_num_wrkers_4'; did you mean '{RUNS[1]}' or '{RUNS[0]}'?",
        ),
        (
            RUNS,
            "MI250",
            "no run named 'MI250'; did you mean 'mi250_train_2025'?",
        ),
        (("b", "c"), "x", "no run named 'x'; the runs are b, c"),
        (("b",), "x", "no run named 'x'; the only run is b"),
        (
            ("aaaa", "bbbb", "cccc", "xddd", "xxee", "zxzz"),
            "xxyy",
            "no run named 'xxyy'; the nearest of 6 are xxee, xddd, zxzz",
        ),
        ((), "x", "no run named 'x'"),
    ],
)
def test_a_name_that_is_unknown_or_ambiguous(known: Sequence[str], name: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        resolve_names([(run, "w", "1") for run in known], {"run": name})
    assert str(caught.value) == message
