"""The tracewh.duckdb that stands beside the data of a warehouse."""

from __future__ import annotations

import errno
import os
import random
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import duckdb
import pytest

import tracewh
from tests.views.test_warehouse import add_trace, two_runs
from tracewh.views import Registry, registry, stored_macros
from tracewh.views import database as module
from tracewh.views.database import (
    DATABASE,
    database_problem,
    ensure_database,
    prepare_in_background,
    write_database,
)
from tracewh.views.registry import installed
from tracewh.views.warehouse import listed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_runs(tmp_path)


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with duckdb.connect(database, read_only=True) as con:
        return con.execute(query).fetchall()


def test_the_database_answers_like_the_warehouse(root: Path) -> None:
    database = write_database(root)
    assert database == root / DATABASE
    with tracewh.open(root) as warehouse:
        for query in ("FROM step_breakdown()", "FROM steps", "FROM views()"):
            assert rows(database, query) == warehouse.sql(query).fetchall()
        objects = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
        assert [name for (name,) in rows(database, objects)] == sorted(warehouse.tables)
    comments = """
        SELECT count(*) FILTER (WHERE comment IS NULL) FROM (
            SELECT comment FROM duckdb_views() WHERE NOT internal
            UNION ALL SELECT comment FROM duckdb_functions() WHERE NOT internal
        )"""
    assert rows(database, comments) == [(0,)]
    of_step = (
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'steps' AND column_name = 'step'"
    )
    assert rows(database, of_step)[0][0].startswith("Number after 'ProfilerStep#'")  # type: ignore[attr-defined]
    described = """
        SELECT table_name, column_name, comment FROM duckdb_columns()
        WHERE NOT internal ORDER BY ALL"""
    with tracewh.open(root) as warehouse:
        warehouse.sql("CREATE TEMP TABLE steps AS SELECT 1 AS mine")
        assert warehouse.connection.sql("FROM steps").fetchall() == [(1,)]
        warehouse.sql("DROP TABLE temp.steps")
        assert warehouse.sql(described).fetchall() == rows(database, described)
    assert sorted(path.name for path in root.iterdir()) == [module.FINGERPRINT, "data", DATABASE]


def test_a_cte_named_as_a_table_is_not_read_by_views(root: Path) -> None:
    steps = "WITH steps AS (SELECT * FROM steps WHERE run = 'a')"
    query = f"{steps} SELECT s.run FROM step_breakdown() AS s, (SELECT 1 FROM steps) ORDER BY s.run"
    database = write_database(root)
    with tracewh.open(root) as warehouse, duckdb.connect(database, read_only=True) as shell:
        for con in (warehouse, shell):
            assert con.sql(query).fetchall() == [("a",), ("b",)]


def test_the_database_holds_no_trace_data(root: Path) -> None:
    database = write_database(root)
    assert rows(database, "SELECT count(*) FROM duckdb_tables()") == [(0,)]


OBJECTS = """
    SELECT view_name, comment, sql FROM duckdb_views() WHERE NOT internal
    UNION ALL SELECT function_name, comment, macro_definition FROM duckdb_functions() WHERE NOT internal
    ORDER BY ALL
"""


def test_what_is_prepared_aside_is_what_is_made_in_place(root: Path) -> None:
    with prepare_in_background(root) as prepared:
        made = prepared()
        assert made is not None and root not in made.path.parents
        assert ensure_database(root, prepared)
    assert not made.path.exists()
    aside = rows(root / DATABASE, OBJECTS)
    assert len(aside) > 20
    assert rows(write_database(root), OBJECTS) == aside
    with prepare_in_background(root) as prepared:  # it is current
        assert prepared() is None


def test_what_was_made_once_is_kept_for_the_next_warehouse(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = rows(write_database(root), OBJECTS)
    monkeypatch.setattr(stored_macros, "write_macros", lambda _: 1 / 0)
    monkeypatch.setattr(module, "write_macros", lambda _: 1 / 0)
    assert rows(write_database(root), OBJECTS) == made


def test_another_version_removes_what_is_kept(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "stored_macros", lambda: tmp_path / "removed.duckdb")
    assert rows(write_database(root), "SELECT count(*) FROM traces") == [(2,)]


def test_without_a_place_to_keep_it_the_database_is_made(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert rows(write_database(root), "SELECT count(*) FROM traces") == [(2,)]


@pytest.mark.parametrize("fails", ["temporary", "_create_macros"])
def test_without_room_aside_it_is_made_in_place(
    root: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, fails, full)
        with prepare_in_background(root) as prepared:
            assert prepared() is None
    assert ensure_database(root, prepared)
    assert rows(root / DATABASE, "SELECT count(*) FROM traces") == [(2,)]


def test_a_disk_that_fills_up_is_named_also_where_macros_are_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_database(root)
    with monkeypatch.context() as patch:

        def full(*_: object) -> NoReturn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        patch.setattr(shutil, "copyfile", full)
        with pytest.raises(tracewh.WarehouseError, match="no space left on device: free some"):
            write_database(root)


def test_without_room_aside_for_the_views_it_is_made_in_place(root: Path) -> None:
    with prepare_in_background(root) as prepared:
        made = prepared()
        assert made is not None
        made.con.close()  # it can write no more, as where the disk is full
        assert ensure_database(root, prepared)
    assert rows(root / DATABASE, "SELECT count(*) FROM traces") == [(2,)]


def test_a_database_that_is_in_use_can_be_replaced(root: Path) -> None:
    database = write_database(root)
    with duckdb.connect(database) as con:
        file = database.stat().st_ino
        write_database(root)
        assert database.stat().st_ino != file  # a new one, not the open one written over
        add_trace(root, "c")
        assert con.execute("SELECT count(*) FROM traces").fetchall() == [(3,)]
    assert rows(root / DATABASE, "SELECT count(*) FROM traces") == [(3,)]


def test_the_database_is_written_only_when_it_has_to_be(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ensure_database(root)
    assert not ensure_database(root)

    moved = root.with_name("moved")
    shutil.move(root, moved)
    assert ensure_database(moved)
    assert rows(moved / DATABASE, "SELECT count(*) FROM traces") == [(2,)]

    (moved / DATABASE).unlink()
    assert ensure_database(moved)

    monkeypatch.setattr("importlib.metadata.version", lambda name: "9.9")
    assert ensure_database(moved)
    assert not ensure_database(moved)

    fewer = Registry.of([spec for spec in installed().all() if spec.kind in ("table", "slice")])
    monkeypatch.setattr(module, "installed", lambda: fewer)
    monkeypatch.setattr(registry, "installed", lambda: fewer)
    assert ensure_database(moved)
    assert rows(moved / DATABASE, "FROM views()") == []


def test_a_database_that_cannot_be_made_leaves_the_old_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_database(root)
    before = (root / DATABASE).read_bytes()
    monkeypatch.setattr(module, "create", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_database(root)
    assert (root / DATABASE).read_bytes() == before
    assert sorted(path.name for path in root.iterdir()) == [module.FINGERPRINT, "data", DATABASE]


def test_a_database_that_was_being_written_when_all_died(root: Path) -> None:
    """What is left of it is taken for what it is, a write-ahead log of another file above all."""
    write_database(root)
    new, log = root / f".{DATABASE}.new", root / f".{DATABASE}.new.wal"
    shutil.copy(root / DATABASE, new)
    log.write_bytes(b"of another file")
    (root / module.FINGERPRINT).write_bytes(b"")
    assert ensure_database(root)
    assert sorted(path.name for path in root.iterdir()) == [module.FINGERPRINT, "data", DATABASE]
    assert rows(root / DATABASE, "SELECT count(*) FROM traces") == [(2,)]


@pytest.mark.parametrize("step", ["_create_macros", "_create_views", "replace", "_fingerprint"])
def test_dying_while_the_database_is_written(
    root: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whatever is there opens, and the next ingest makes it current."""
    write_database(root)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_remove", lambda *_: None)
        patch.setattr(os if step == "replace" else module, step, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_database(root)
    assert rows(root / DATABASE, "SELECT count(*) FROM traces") == [(2,)]
    assert ensure_database(root)
    assert not ensure_database(root)
    assert sorted(path.name for path in root.iterdir()) == [module.FINGERPRINT, "data", DATABASE]


def test_several_write_the_database_at_once(root: Path) -> None:
    """Ingests that end together: one writes it, the others find it current."""
    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda _: ensure_database(root), range(4)))
    assert sorted(written) == [False, False, False, True]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: write_database(root), range(4)))
    assert rows(root / DATABASE, "SELECT count(*) FROM traces") == [(2,)]
    assert sorted(path.name for path in root.iterdir()) == [module.FINGERPRINT, "data", DATABASE]


def test_a_database_that_cannot_be_written(root: Path) -> None:
    (root / DATABASE).mkdir()
    with pytest.raises(tracewh.WarehouseError) as caught:
        write_database(root)
    assert str(caught.value) == f"cannot write {root / DATABASE}: Is a directory"
    trace = root / "a.json"
    trace.write_text(
        '[{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]'
    )
    found: list[tracewh.FileResult] = []
    with pytest.raises(tracewh.WarehouseError, match="Is a directory"):
        tracewh.ingest(trace, root, run="late", on_result=found.append)
    assert [result.status for result in found] == ["ingested"]


def test_a_path_that_duckdb_cannot_open(root: Path) -> None:
    root = root.rename(root.with_name("a\\b"))
    with pytest.raises(tracewh.WarehouseError) as caught:
        write_database(root)
    assert str(caught.value) == (
        f"cannot write {root / DATABASE}: DuckDB takes a backslash in a path for a slash; "
        "move or rename the warehouse"
    )


def test_a_trace_that_arrives_is_seen_by_a_connection_too(root: Path) -> None:
    """Also after a question by another way, which has its own list of traces."""
    count = "SELECT count(*) FROM traces"
    with tracewh.open(root) as warehouse:
        relation = warehouse.sql(count)
        con = warehouse.connection
        add_trace(root, "c")
        assert con.execute(count).fetchall() == [(3,)]
        assert relation.fetchall() == [(3,)]
        assert warehouse.sql(count).fetchall() == [(3,)]


def test_a_damaged_record_of_it_is_written_again(root: Path) -> None:
    write_database(root)
    (root / module.FINGERPRINT).write_bytes(b"tracewh \xff\n")
    said = "it is incomplete, or was written by another version of tracewh or for another folder"
    assert database_problem(root) == (DATABASE, said, f"tracewh relink -w {shlex.quote(str(root))}")
    assert ensure_database(root)
    assert database_problem(root) is None


def test_a_warehouse_behind_a_link(tmp_path: Path) -> None:
    """The folder above the target of a link is meant, as ingest and every other program mean it."""
    (tmp_path / "real" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/sub")
    add_trace(tmp_path / "real" / "wh", "a")
    path = tmp_path / "link" / ".." / "wh"
    assert ensure_database(path)
    assert database_problem(path) is None
    assert rows(tmp_path / "real" / "wh" / DATABASE, "SELECT run FROM steps") == [("a",)]
    for one in (path, listed(path)):
        with tracewh.Warehouse(one) as warehouse:
            assert warehouse.path == tmp_path / "real" / "wh"
            assert warehouse.names() == [("a", "w", "default")]


def test_a_warehouse_whose_path_holds_a_question_mark(tmp_path: Path) -> None:
    """DuckDB would keep the log of such a database in another folder."""
    add_trace(tmp_path / "w?h", "a")
    assert rows(write_database(tmp_path / "w?h"), "SELECT run FROM steps") == [("a",)]


def test_a_warehouse_without_traces_gets_no_database(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert not ensure_database(tmp_path)
    assert not (tmp_path / DATABASE).exists()


def test_check_sees_every_flipped_bit_of_it(root: Path) -> None:
    """Wherever it is: DuckDB looks at what it reads."""
    ensure_database(root)
    path = root / DATABASE
    sound = path.read_bytes()
    assert database_problem(root) is None
    random.seed(1)
    for _ in range(100):
        at = random.randrange(len(sound))
        path.write_bytes(
            sound[:at] + bytes([sound[at] ^ 1 << random.randrange(8)]) + sound[at + 1 :]
        )
        found = database_problem(root)
        assert found == (
            DATABASE,
            "its contents differ from what was written",
            f"tracewh relink -w {shlex.quote(str(root))}",
        )
    write_database(root)
    assert database_problem(root) is None
    assert path.read_bytes() != b""
