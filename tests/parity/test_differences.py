"""The comparison itself: nothing that differs, or that nobody looked at, gets through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.parity import differences
from tests.parity.differences import Table, problems
from tests.parity.plugin.said import Said, is_path, paths, unread

LINES = """
reason wrong  it counts twice
not_compared .log  what it warned of

a/trace
    # one call
    stats  total_us  1  2.5   5     wrong  add
    stats  total_us  2  7     14    wrong  mul *
    stats  row       1  NULL  4     wrong  sub
"""

OURS = {
    "add": {"calls": 1, "total_us": 2.5},
    "mul a": {"calls": 1, "total_us": 3.0},
    "mul b": {"calls": 1, "total_us": 4.0},
}
THEIRS = {
    "add": {"calls": 1, "total_us": 5.0},
    "mul a": {"calls": 1, "total_us": 6.0},
    "mul b": {"calls": 1, "total_us": 8.0},
    "sub": {"calls": 4, "total_us": 1.0},
}


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "differences.txt"
    path.write_text(LINES, "utf-8")
    monkeypatch.setattr(differences, "FILE", path)
    monkeypatch.setattr(differences, "listed", differences.listed.__wrapped__)


def test_what_is_listed_passes() -> None:
    assert problems("a/trace", [Table("stats", OURS, THEIRS)]) == []


def test_what_is_not_listed_does_not() -> None:
    assert problems("another/trace", [Table("stats", {}, {"sub": {"calls": 4}})]) == [
        "+ stats  row  1  NULL  4  ?  sub"
    ]
    ours = {**OURS, "add": {"calls": 2, "total_us": 2.5}}
    assert problems("a/trace", [Table("stats", ours, THEIRS)]) == [
        "+ stats  calls  1  2  1  ?  add"
    ]


def test_what_is_listed_and_does_not_occur_does_not() -> None:
    ours = {**OURS, "add": THEIRS["add"]}
    assert problems("a/trace", [Table("stats", ours, THEIRS)]) == [
        "- stats  total_us  1  2.5  5  ?  add",
        "+ stats  total_us  0  NULL  NULL  ?  add",
    ]


def test_another_value_than_the_listed_one_does_not() -> None:
    ours = {**OURS, "mul b": {"calls": 1, "total_us": 4.5}}
    assert problems("a/trace", [Table("stats", ours, THEIRS)]) == [
        "- stats  total_us  2  7  14  ?  mul *",
        "+ stats  total_us  2  7.5  14  ?  mul *",
    ]


def test_a_figure_that_one_side_lacks_differs() -> None:
    [found] = differences.differences([Table("stats", {"a": {"x": 0}}, {"a": {"x": 0, "y": 0}})])
    assert found == ("stats", "y", "no such figure", 0, "a")


def test_what_nobody_read_is_known() -> None:
    text = '{"log": {"a": 1}, "rows": [{"x": 1, "y": [1]}, {"x": 2, "y": [2]}], "z": null}'
    said: Said = json.loads(text, object_pairs_hook=Said)
    assert set(unread(said)) == {".log", ".rows", ".z"}
    assert [row["x"] for row in said["rows"]] == [1, 2]
    assert set(unread(said)) == {".log", ".rows[].y", ".z"}
    assert said.get("z") is None
    assert dict(said["log"].items()) == {"a": 1}
    assert set(unread(said)) == {".rows[].y"}
    assert set(paths(said)) == {".log", ".log.a", ".rows", ".rows[].x", ".rows[].y", ".z"}
    assert is_path(".rows[].y", ".rows[].*")
    assert not is_path(".rows[].y", ".rows")
