"""A warehouse opened from Python, and the tracewh.duckdb that stands beside its data."""

from __future__ import annotations

import hashlib
import inspect
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import duckdb
import pyarrow as pa
import pytest

import tracewh
from tracewh.views import Registry
from tracewh.views import database as module
from tracewh.views.database import DATABASE, ensure_database, preparing, write_database
from tracewh.views.registry import installed


def add_trace(root: Path, run: str) -> None:
    """One trace with one step of 1,000 ns and nothing in it, written without ingest."""
    folder = root / f"data/run={run}/worker=w/span=default"
    folder.mkdir(parents=True)
    with duckdb.connect() as con:
        for table in installed().tables():
            con.execute(table.sql)
        con.execute("INSERT INTO traces (source_path, events) VALUES ('a.json', 1)")
        con.execute(
            "INSERT INTO steps (step, start_ns, end_ns, extended_start_ns, extended_end_ns, is_tail)"
            "VALUES (7, 0, 1000, 0, 1000, false)"
        )
        for table in installed().tables():
            columns = ", ".join(column.name for column in table.columns[3:])
            con.execute(
                f"COPY (SELECT {columns} FROM {table.name}) TO '{quoted(folder)}/{table.name}.parquet'"
            )


def quoted(path: Path) -> str:
    return str(path).replace("'", "''")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A warehouse with two runs, in a folder whose name means something to SQL and to a glob."""
    root = tmp_path / "it's [1]*"
    add_trace(root, "a")
    add_trace(root, "b")
    return root


def test_a_view_is_a_method_that_gives_a_relation(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        relation = warehouse.step_breakdown(run="b")
        assert relation.project("run, worker, span, step, other_us, total_us").fetchall() == [
            ("b", "w", "default", 7, 1.0, 1.0)
        ]
        assert list(relation.df()["total_us"]) == [1.0]
        assert relation.pl()["run"].to_list() == ["b"]
        assert relation.to_arrow_table().num_rows == 1
        assert "total_us" in str(relation)
        assert len(warehouse.step_breakdown()) == 2
        assert warehouse.step_breakdown(version=1).columns == relation.columns
        assert str(inspect.signature(warehouse.diff_kernels)).startswith(
            "(*, baseline: VARCHAR, experiment: VARCHAR, baseline_worker: VARCHAR = NULL, "
        )
        assert "Args:" in (warehouse.step_breakdown.__doc__ or "")


def test_relations_of_two_runs_can_be_joined(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        a = warehouse.step_breakdown(run="a").set_alias("a")
        b = warehouse.step_breakdown(run="b").set_alias("b")
        assert len(a.join(b, "a.step = b.step").fetchall()) == 1


def test_a_run_is_read_from_its_own_files(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        read = warehouse.connection.execute(
            "EXPLAIN ANALYZE FROM step_breakdown(run := 'a')"
        ).fetchall()[0][1]
    assert "Files Read: 1" in read
    assert "Files Read: 2" not in read


def test_kernels_by_name_are_told_without_a_look_at_the_host(root: Path) -> None:
    """Of thousands of traces, a file more each takes as long as all the rest."""
    broken = next(root.glob("data/run=b/*/*/host_events.parquet"))
    broken.write_text("no Parquet")
    with tracewh.open(root) as warehouse:
        assert warehouse.kernel_stats().fetchall() == []
        with pytest.raises(duckdb.InvalidInputException, match=re.escape(str(broken))):
            warehouse.kernel_stats(group_by="launch").fetchall()


def test_sql_reaches_tables_slices_views_and_data_frames(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        mine = warehouse.sql("SELECT 'a' AS run").df()
        query = "SELECT t.run, count(*) FROM traces AS t JOIN mine USING (run) GROUP BY ALL"
        assert warehouse.sql(query).fetchall() == [("a", 1)]
        assert len(mine) == 1
        assert warehouse.sql("FROM kernels").fetchall() == []
        assert warehouse.kernels.columns == warehouse.device_events.columns
        assert warehouse.sql("FROM runs_v1()").fetchall() == warehouse.runs().fetchall()
        assert warehouse.sql(
            "SELECT name FROM views() WHERE name = $n", {"n": "runs"}
        ).fetchall() == [("runs",)]
        listed = {name for (name,) in warehouse.sql("SHOW TABLES").fetchall()}
        assert listed == set(warehouse.tables)


def test_one_that_is_confined_reads_its_files_alone(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n")
    ours = pa.table({"a": [1]})  # noqa: F841  # DuckDB finds it
    with tracewh.open(root) as warehouse:
        assert warehouse.sql("FROM ours").fetchall() == [(1,)]
        warehouse.confine()
        assert len(warehouse.runs().fetchall()) == 2  # made only now
        with pytest.raises(duckdb.PermissionException):
            warehouse.sql(f"FROM '{other}'")
        with pytest.raises(duckdb.CatalogException):
            warehouse.sql("FROM ours")
        with pytest.raises(duckdb.InvalidInputException, match="locked"):
            warehouse.connection.execute("SET allowed_directories = ['/']")


def test_completion_knows_every_table_and_view(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        registry = installed()
        expected = {*warehouse.tables, *(view.name for view in registry), "sql", "path"}
        assert expected <= set(dir(warehouse))


def test_a_name_that_is_not_there(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        with pytest.raises(AttributeError) as caught:
            _ = warehouse.step_brakdown
        assert str(caught.value) == (
            "no table or view named 'step_brakdown'; did you mean 'step_breakdown'?"
        )
        with pytest.raises(tracewh.ViewError, match="has no parameter 'rnu'; did you mean 'run'"):
            warehouse.step_breakdown(rnu="a")


def test_a_trace_that_arrives_later_is_seen(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        assert len(warehouse.traces) == 2
        add_trace(root, "c")
        assert len(warehouse.traces) == 3


def test_opening_writes_nothing(root: Path) -> None:
    before = sorted(root.rglob("*"))
    with tracewh.open(root) as warehouse:
        warehouse.step_breakdown().fetchall()
        assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: None, "{p} does not exist; `tracewh ingest LOGDIR -w {p}` makes a warehouse"),
        (lambda p: p.mkdir(), "{p} is not a warehouse: it has no data/ folder; `tracewh ingest LOGDIR -w {p}` makes a warehouse"),
        (lambda p: p.touch(), "{p} is a file; a warehouse is a folder with a data/ folder in it"),
        (lambda p: (p / "data").mkdir(parents=True), "{p} holds no traces yet; `tracewh ingest LOGDIR -w {p}` brings some in"),
    ],
    ids=["missing", "folder", "file", "empty"],
)  # fmt: skip
def test_what_is_no_warehouse(make: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "here"
    make(path)  # type: ignore[operator]
    with pytest.raises(tracewh.WarehouseError) as caught:
        tracewh.open(path)
    assert str(caught.value) == message.format(p=path)


def test_traces_of_another_layout(root: Path) -> None:
    for file in root.glob("data/*/*/*/steps.parquet"):
        duckdb.execute(f"COPY (SELECT 1 AS old) TO '{quoted(file)}'")
    with tracewh.open(root) as warehouse, pytest.raises(tracewh.WarehouseError) as caught:
        warehouse.step_breakdown()
    assert "was written by another version of tracewh (steps: " in str(caught.value)
    assert "ingest its traces again with --force" in str(caught.value)


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
    assert rows(database, of_step)[0][0].startswith("The number after 'ProfilerStep#'")  # type: ignore[attr-defined]
    assert sorted(path.name for path in root.iterdir()) == [module.FINGERPRINT, "data", DATABASE]


def test_the_database_holds_no_trace_data(root: Path) -> None:
    database = write_database(root)
    assert rows(database, "SELECT count(*) FROM duckdb_tables()") == [(0,)]


OBJECTS = """
    SELECT view_name, comment, sql FROM duckdb_views() WHERE NOT internal
    UNION ALL SELECT function_name, comment, macro_definition FROM duckdb_functions() WHERE NOT internal
    ORDER BY ALL
"""


def test_what_is_prepared_aside_is_what_is_made_in_place(root: Path) -> None:
    with preparing(root) as prepared:
        made = prepared()
        assert made is not None and root not in made.parents
        assert ensure_database(root, prepared)
    assert not made.exists()
    aside = rows(root / DATABASE, OBJECTS)
    assert len(aside) > 20
    assert rows(write_database(root), OBJECTS) == aside
    with preparing(root) as prepared:  # it is current
        assert prepared() is None


def test_what_was_made_once_is_kept_for_the_next_warehouse(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = rows(write_database(root), OBJECTS)
    [kept] = (tmp_path / "cache" / "tracewh").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(Registry, "create", lambda *_: 1 / 0)
        assert rows(write_database(root), OBJECTS) == made
        content = kept.read_bytes()
        kept.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(ZeroDivisionError):  # what is damaged is made again
            write_database(root)
    assert rows(write_database(root), OBJECTS) == made
    assert hashlib.sha256(kept.read_bytes()[32:]).digest() == kept.read_bytes()[:32]

    monkeypatch.setattr("importlib.metadata.version", lambda name: "9.9")
    assert rows(write_database(root), OBJECTS) == made
    [other] = (tmp_path / "cache" / "tracewh").iterdir()  # nobody asks for the older one
    assert other != kept


def test_without_a_place_to_keep_it_the_database_is_made(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert rows(write_database(root), "SELECT count(*) FROM traces") == [(2,)]


@pytest.mark.parametrize("fails", ["TemporaryDirectory", "_create_macros"])
def test_without_room_aside_it_is_made_in_place(
    root: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, fails, full)
        with preparing(root) as prepared:
            assert prepared() is None
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

    fewer = Registry([spec for spec in installed().all() if spec.kind in ("table", "slice")])
    monkeypatch.setattr(module, "installed", lambda: fewer)
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
        patch.setattr(module.os if step == "replace" else module, step, lambda *_: 1 / 0)
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


def test_a_warehouse_without_traces_gets_no_database(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert not ensure_database(tmp_path)
    assert not (tmp_path / DATABASE).exists()


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_it_is_cheap() -> None:
    heavy = "{'duckdb', 'pyarrow', 'orjson', 'typer', 'rich', 'sqlglot', 'numpy'}"
    assert python(f"import sys, tracewh; print({heavy} & set(sys.modules))") == "set()"


@pytest.mark.parametrize(
    "code",
    [
        "import tracewh; from tracewh.ingest.api import drop; print(callable(tracewh.ingest))",
        "from tracewh.ingest.api import drop; import tracewh; print(callable(tracewh.ingest))",
        "import tracewh.ingest.api, tracewh; print(callable(tracewh.ingest))",
        "from tracewh.ingest import api; import tracewh; print(callable(tracewh.ingest))",
        "from tracewh import ingest; from tracewh.ingest import api; print(callable(ingest))",
    ],
)
def test_ingest_is_the_function_whatever_is_imported_first(code: str) -> None:
    assert python(code) == "True"


def test_the_face_of_the_library() -> None:
    for name in dir(tracewh):
        assert getattr(tracewh, name) is not None
    with pytest.raises(AttributeError, match="module 'tracewh' has no attribute 'nothing'"):
        _ = tracewh.nothing


def test_what_does_not_fit_into_memory_goes_to_the_temporary_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with tracewh.open(root) as warehouse, tracewh.open(root) as other:
        spills = [w.sql("SELECT current_setting('temp_directory')") for w in (warehouse, other)]
        one, two = (Path(spill.fetchall()[0][0]) for spill in spills)
        assert one.parent == two.parent == tmp_path
        assert one != two  # DuckDB would write into the other's files
        warehouse.connection.execute("SET memory_limit = '48MB'; SET threads = 1")
        rows = "FROM range(4_000_000) AS t(i) SELECT i, hash(i) AS h ORDER BY h LIMIT 3_000_000"
        assert warehouse.sql(f"SELECT count(*) FROM ({rows})").fetchall() == [(3_000_000,)]
        assert one.is_dir()
    assert list(here.iterdir()) == []
    assert not one.exists()
