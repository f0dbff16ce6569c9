"""Names in a store: what is there, what is not, and what is left behind."""

from __future__ import annotations

import time

import pytest

from tracewh.storage import layout
from tracewh.storage.layout import Attempt, Object
from tracewh.storage.listing import Folder
from tracewh.storage.staging import abandoned
from tracewh.temporary import ABANDONED_SECONDS

FIRST, SECOND, THIRD = "1-00000001", "2-00000000", "2-0000000a"


def folder(ages: dict[str, float], empty: tuple[str, ...] = ()) -> Folder:
    """The folder of a trace, of objects that were written so many days ago."""
    found = Folder("r", "w", "s")
    for name, days in ages.items():
        mtime_ns = int((time.time() - 86400 * days) * 1e9)
        plain, one = layout.parse_name(name) or (name, Attempt(0))
        objects = found.attempts.setdefault(one, {})
        objects[plain] = Object(name, 0 if name in empty else 9, mtime_ns)
    return found


def attempt(text: str, days: float, whole: bool = True) -> dict[str, float]:
    dot = f".{text}" if text else ""
    names = [f"traces{dot}.parquet", f"steps{dot}.parquet", f"_manifest{dot}.json"]
    return dict.fromkeys(names if whole else names[:2], days)


def seen(found: Folder) -> list[str]:
    return [one.key for one in found.tables.values()]


@pytest.mark.parametrize("name", ["traces.parquet", "_manifest.json"])
def test_names(name: str) -> None:
    for one in (Attempt(0), Attempt.new(1), Attempt.new(17)):
        assert layout.parse_name(one.name(name)) == (name, one)
    assert Attempt(12, "0123abcd").name("_manifest.json") == "_manifest.12-0123abcd.json"
    assert Attempt.new(3) != Attempt.new(3)


def test_folders() -> None:
    path = layout.trace_folder("a/b c%20ü", "w.1", "default")
    assert path == "run=a%2Fb%20c%2520%C3%BC/worker=w.1/span=default"
    assert layout.parse_trace_folder(path) == ("a/b c%20ü", "w.1", "default")
    assert (
        layout.parse_trace_folder("run=a/worker=b")
        is layout.parse_trace_folder("run=a/span=b/worker=c")
        is None
    )


def test_a_trace_is_there_when_a_manifest_is() -> None:
    assert seen(folder(attempt("", 0))) == ["traces.parquet", "steps.parquet"]
    assert seen(folder(attempt("", 0, whole=False))) == []
    assert seen(folder(attempt(FIRST, 0, whole=False))) == []
    lost = attempt("9-ffffffff", 0, whole=False)
    assert seen(folder(attempt("", 0) | attempt(FIRST, 0) | lost)) == [
        f"traces.{FIRST}.parquet",
        f"steps.{FIRST}.parquet",
    ]


def test_the_newest_is_of_the_greatest_generation_and_then_the_greatest_text() -> None:
    everything = attempt(THIRD, 0) | attempt("10-00000000", 0) | attempt(SECOND, 0)
    found = folder(everything | attempt(FIRST, 0))
    assert found.whole[-1] == Attempt(10, "00000000")
    assert folder(attempt(SECOND, 0) | attempt(THIRD, 0)).whole[-1] == Attempt(2, "0000000a")


def test_a_manifest_without_its_contents_is_none() -> None:
    """Azure shows an object before what was written to it."""
    found = folder(attempt(FIRST, 0) | attempt(SECOND, 0), empty=(f"_manifest.{SECOND}.json",))
    assert found.whole == [Attempt(1, "00000001")]


def left(ages: dict[str, float], empty: tuple[str, ...] = ()) -> set[str]:
    manifests, others = abandoned(folder(ages, empty))
    assert all(name.startswith("_manifest.") for name in manifests)
    assert not any(name.startswith("_manifest.") for name in others)
    return {*manifests, *others}


def test_what_is_abandoned() -> None:
    assert ABANDONED_SECONDS == 86400
    old, young = attempt(FIRST, 9), attempt(THIRD, 0.9)
    assert left(old) == left(young) == set()
    # Replaced less than a day ago: readers may still hold a listing with it, however old it is.
    assert left(old | young) == set()
    assert left(old | attempt(SECOND, 1.1)) == old.keys()
    assert left(old | attempt(SECOND, 1.1) | young) == old.keys()
    # A trace that is replaced every few hours does not gather what it was.
    many = [attempt(f"{number}-00000000", 2.9 - number / 4) for number in range(1, 12)]
    gone = left({name: days for one in many for name, days in one.items()})
    assert gone == {name for one in many[:6] for name in one}
    # Lost attempts, of any generation, by the last sign of life of them.
    for generation in (1, 2, 3):
        lost = attempt(f"{generation}-0badc0de", 5, whole=False)
        assert left(lost) == left(attempt(SECOND, 0) | lost) == lost.keys()
        begun = lost | {f"_manifest.{generation}-0badc0de.json": 5}
        assert left(begun, empty=tuple(begun)[-1:]) == begun.keys()
        assert left(lost | {f"flows.{generation}-0badc0de.parquet": 0.5}) == set()
    # What somebody copied there is not ours, unless it was a whole trace that was replaced.
    assert left(attempt("", 9, whole=False)) == set()
    assert left(attempt("", 9, whole=False) | young) == set()
    copied = attempt("", 9)
    assert left(copied | attempt(SECOND, 2)) == copied.keys()
