"""Names of runs and workers that a path, a file system or Hive would take for something else."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

import tracewh
from tests.views.test_database_shell import ask
from tracewh.errors import IngestError
from tracewh.ingest.api import drop, ingest, names
from tracewh.storage import layout
from tracewh.storage.checks import check
from tracewh.views import database
from tracewh.views.database import write_database

TRACE = '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}'
NULL = "__HIVE_DEFAULT_PARTITION__"
NAMES = [
    *(NULL, "%5F_HIVE_DEFAULT_PARTITION__", "a=b", "50%", "%5F_x", "..", ".", "a/b/../c", "a\nb"),
    *("a b'\"", "null", "NULL", "é" * 40, "A", "a", "run=x", "123", "1.0", "true", "2024-01-01"),
    *("\\x", "*?[a]", "$x", "~", " a ", "_compact.1-00000000", "x" * 251),
]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for worker in (NULL, "w"):
        (folder / f"{worker}.json").write_text(TRACE)
    return folder


def test_every_name_is_read_as_it_was_given(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Python, in tracewh.duckdb, by `check` and by `drop`."""
    warehouse = tmp_path / "wh"
    monkeypatch.setattr(database, "ensure_database", lambda *_: False)  # it is written below, once
    traces = [(name, NULL, "default") for name in NAMES]
    for name, worker, _ in traces:
        [outcome] = ingest([logs / f"{worker}.json"], warehouse, run=name)
        assert outcome.status == "ingested"
    [outcome] = ingest([logs / "w.json"], warehouse, run=NULL)
    expected = sorted([*traces, (NULL, "w", "default")])
    select = "FROM traces SELECT run, worker, span"
    with tracewh.open(warehouse) as opened:
        assert sorted(opened.sql(select).fetchall()) == expected
        for name in NAMES:
            rows = opened.view("step_breakdown", run=name, worker=NULL).project("run, worker")
            assert rows.fetchall() == [(name, NULL)]
    with duckdb.connect(str(write_database(warehouse)), read_only=True) as con:
        assert sorted(con.execute(select).fetchall()) == expected
    # DuckDB 1.5 reads null, in capitals or not, as NULL.
    lost = "SELECT count(*) AS lost FROM traces WHERE run IS NULL OR worker IS NULL"
    assert ask(warehouse / database.DATABASE, lost, tmp_path) == [["lost"], ["0"]]
    assert sorted(names(warehouse)) == expected
    assert not any(each.problems for each in check(warehouse))
    assert drop(warehouse, NULL, NULL) == 1
    assert sorted(names(warehouse)) == sorted({*expected} - {(NULL, NULL, "default")})
    for number, name in enumerate(NAMES):
        assert drop(warehouse, name, *[NULL][: number % 2]) == 1
    assert names(warehouse) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "a run needs a name; give it one with --run"),
        ("\udcff", "the name of a run is not UTF-8; give it one with --run"),
        (
            "é" * 60,
            (
                f"the name of a run is too long for a folder, 364 bytes with 'run=': {'é' * 40}...;"
                " give it one with --run"
            ),
        ),
    ],
)
def test_names_that_no_folder_can_have(tmp_path: Path, logs: Path, name: str, said: str) -> None:
    with pytest.raises(IngestError) as error:
        ingest([logs], tmp_path / "wh", run=name)
    assert str(error.value) == f"{logs / f'{NULL}.json'}: {said}"
    assert not (tmp_path / "wh" / "data").exists() or not any((tmp_path / "wh" / "data").iterdir())


@pytest.mark.parametrize(
    ("folder", "key"), [("run=5", "run"), ("Name=bert/wh", "Name"), ("a/rank=/b", "rank")]
)
def test_a_place_where_no_warehouse_can_be(
    tmp_path: Path, logs: Path, folder: str, key: str
) -> None:
    """DuckDB would show the part of the path as a column."""
    [part] = [part for part in folder.split("/") if "=" in part]
    said = (
        f"{tmp_path / folder}: DuckDB would show {part.partition('=')[2]!r} as the {key} of all rows, because of the"
        f" folder {part!r}: rename that folder, or choose another place"
    )
    with pytest.raises(IngestError) as refused:
        ingest([logs], tmp_path / folder)
    with pytest.raises(tracewh.WarehouseError) as not_opened:
        tracewh.open(tmp_path / folder)
    assert str(refused.value) == str(not_opened.value) == said
    assert not (tmp_path / folder).exists()


@pytest.mark.parametrize("folder", ["lr=5", "name=a=b", "a,name=b", "name"])
def test_a_place_that_only_looks_like_one(folder: str) -> None:
    assert layout.place_problem(f"/{folder}/wh") == ""


def test_a_name_that_no_folder_can_have_keeps_no_other_file_out(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    too_long, no_text = logs / f"{'é' * 60}.json", os.fsencode(logs) + b"/a\xff.json"
    in_no_text = os.fsencode(logs) + b"/run\xff"
    for folder in (os.fsencode(logs), in_no_text):
        os.mkdir(folder)
    # 40 of them, which the message has, are too long as well.
    longer = logs / ("核" * 60) / "d.json"
    longer.parent.mkdir()
    for file in (too_long, longer, no_text, logs / "good.json", in_no_text + b"/c.json"):
        Path(os.fsdecode(file)).write_text(TRACE)
    result = ingest([logs], tmp_path / "wh")
    said = f"the name of a worker is too long for a folder, 367 bytes with 'worker=': {'é' * 40}..."
    too_long_a_run = f"the name of a run is too long for a folder, 544 bytes with 'run=': {'核' * 40}...; give it one with --run"
    assert sorted((str(each.source), each.status, each.reason) for each in result) == [
        (f"{logs}/a\\udcff.json", "refused", "its path is not UTF-8; rename it"),
        (f"{logs}/good.json", "ingested", ""),
        (f"{logs}/run\\udcff/c.json", "refused", "its path is not UTF-8; rename it"),
        (str(too_long), "refused", said),
        (
            str(longer),
            "refused",
            too_long_a_run,
        ),
    ]
    assert names(tmp_path / "wh") == [("logs", "good", "default")]


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_says_what_it_is_of(name: str) -> None:
    assert layout.parse_trace_folder(layout.trace_folder(name, name, name)) == (name, name, name)
