"""The file from which macros are loaded instead of created."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import pytest

import tracewh
from tests.views.test_warehouse import two_runs
from tracewh.views import registry
from tracewh.views import stored_macros as module
from tracewh.views import warehouse as of_warehouses
from tracewh.views.registry import installed
from tracewh.views.stored_macros import ATTACHED, attach, stored_macros

LOADED = f"SELECT count(*) FROM duckdb_databases() WHERE database_name = '{ATTACHED}'"
MACROS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_runs(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file. To write it takes 2 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        path = stored_macros()
    assert path is not None
    return path


@pytest.fixture
def folder(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another place for the file, where a copy of it is what is written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "write_macros", lambda path: shutil.copyfile(made, path))
    return tmp_path / "cache" / "tracewh"


@pytest.fixture
def warehouse(root: Path) -> Iterator[tracewh.Warehouse]:
    with tracewh.open(root) as opened:
        yield opened


def is_loaded(warehouse: tracewh.Warehouse) -> bool:
    """Asked beside the warehouse, which unloads them before a query that lists databases."""
    return warehouse._con.execute(LOADED).fetchall() == [(1,)]


def test_the_file_has_all_but_tables(made: Path) -> None:
    assert [made] == list(made.parent.iterdir())
    with duckdb.connect(made, read_only=True) as con:
        assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
        assert {name for (name,) in con.execute(MACROS).fetchall()} == set(installed().macros())


def test_it_is_written_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = stored_macros()
    monkeypatch.setattr(module, "write_macros", lambda _: 1 / 0)
    assert stored_macros() == written


def test_what_is_damaged_is_written_again(folder: Path) -> None:
    path = stored_macros()
    assert path is not None
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    again = stored_macros()
    assert again is not None
    assert again.read_bytes()[-1] == content[-1]
    assert [again] == list(folder.iterdir())


def test_files_of_other_versions_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = stored_macros()
    (folder / "macros-0123456789abcdef").touch()
    (folder / "vega-embed.js").touch()
    monkeypatch.setattr(duckdb, "__version__", "9.9")
    new = stored_macros()
    assert new is not None and new != old
    assert {path.name for path in folder.iterdir()} == {new.name, "vega-embed.js"}


def test_other_code_that_makes_macros_is_another_version(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stored_macros()
    code = tmp_path / "registry.py"
    code.write_text("LISTING = 'other'")
    monkeypatch.setattr(registry, "__file__", str(code))
    assert first != stored_macros() is not None


def test_several_processes_write_it_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, made = module.write_macros, list[Path | None]()

    def also(database: Path) -> None:
        if not made:
            made.append(None)
            made[0] = stored_macros()
        write(database)

    monkeypatch.setattr(module, "write_macros", also)
    made.append(stored_macros())
    assert all(path is not None and path.exists() for path in made)


def test_a_disk_that_fills_up_keeps_nothing_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(database: Path) -> None:
        database.write_bytes(b"half")
        database.with_name(f"{database.name}.wal").write_bytes(b"half")
        raise duckdb.IOException("no space left on device")

    monkeypatch.setattr(module, "write_macros", half)
    assert stored_macros() is None
    assert list(folder.iterdir()) == []


def test_a_large_query_loads_them_and_a_small_one_does_not(warehouse: tracewh.Warehouse) -> None:
    warehouse.step_breakdown().fetchall()
    assert not is_loaded(warehouse)
    assert warehouse.recommendations().columns[3] == "rule"
    assert is_loaded(warehouse)


def test_the_rows_are_those_of_created_macros(
    root: Path, warehouse: tracewh.Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = ("verdict", "step_breakdown", "recommendations", "trace_quality", "kernel_stats")
    loaded = [warehouse.view(view).fetchall() for view in views]
    assert is_loaded(warehouse)
    monkeypatch.setattr(of_warehouses, "attach", lambda _: [])
    with tracewh.open(root) as other:
        assert [other.view(view).fetchall() for view in views] == loaded
        assert not is_loaded(other)
    assert len(loaded[0]) > 2


def test_what_lists_the_catalog_finds_each_object_once(warehouse: tracewh.Warehouse) -> None:
    relation = warehouse.verdict()
    rows = relation.fetchall()
    assert is_loaded(warehouse)
    of_main = (
        "SELECT DISTINCT database_name, function_name FROM duckdb_functions() WHERE NOT internal"
    )
    found = warehouse.sql(f"{of_main} AND schema_name = 'main'").fetchall()
    assert sorted(found) == sorted(("memory", name) for name in installed().macros())
    assert not is_loaded(warehouse)
    assert relation.fetchall() == rows  # it is planned again, and finds what was created
    assert warehouse.verdict().fetchall() == rows
    assert not is_loaded(warehouse)


def test_a_connection_has_copies_of_all_macros(
    warehouse: tracewh.Warehouse, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = """
        SELECT function_name, parameters, parameter_types, comment
        FROM duckdb_functions() WHERE NOT internal AND database_name = 'memory' ORDER BY ALL
    """
    warehouse.kernels.fetchall()  # has created a table, a slice and,
    warehouse.kernel_stats().fetchall()  # as it takes few, macros
    assert not is_loaded(warehouse)
    created: list[str] = []
    create = registry.Registry.create

    def noted(
        self: registry.Registry, con: duckdb.DuckDBPyConnection, names: Iterable[str]
    ) -> None:
        created.extend(names := [*names])
        create(self, con, names)

    monkeypatch.setattr(registry.Registry, "create", noted)
    con = warehouse.connection
    assert sorted(created) == sorted(spec.name for spec in installed().slices())
    assert con.execute(LOADED).fetchall() == [(0,)]
    copied = con.execute(described).fetchall()
    assert con.execute("SELECT count(*) FROM kernels").fetchall() == [(len(warehouse.kernels),)]
    monkeypatch.setattr(of_warehouses, "attach", lambda _: [])
    with tracewh.open(root) as other:
        one_by_one = other.connection.execute(described).fetchall()
        assert len(created) > len(copied) > 300
    assert one_by_one == copied


def test_a_macro_of_the_caller_is_replaced_by_ours(warehouse: tracewh.Warehouse) -> None:
    warehouse._con.execute("CREATE MACRO as_time(us) AS 'theirs'")
    assert warehouse.connection.execute("SELECT as_time(1500)").fetchall() == [("1.5 ms",)]
    assert len(warehouse.verdict().fetchall()) > 2


def test_a_misspelled_table_is_no_empty_one(warehouse: tracewh.Warehouse) -> None:
    warehouse.verdict().fetchall()
    with pytest.raises(duckdb.CatalogException, match='Did you mean "kernels"'):
        warehouse.sql("FROM kernel")


def test_it_is_loaded_before_files_are_out_of_reach(warehouse: tracewh.Warehouse) -> None:
    warehouse.confine()
    assert is_loaded(warehouse)
    assert warehouse.verdict().fetchall()
    assert warehouse.connection.execute(LOADED).fetchall() == [(0,)]
    assert warehouse.verdict().fetchall()


@pytest.mark.parametrize(
    ("query", "loads"), [("FROM runs()", False), ("FROM verdict()", True), ("FROM nothing", False)]
)
def test_one_query_loads_what_it_needs(
    warehouse: tracewh.Warehouse, query: str, loads: bool
) -> None:
    warehouse.confine(query=query)
    assert is_loaded(warehouse) is loads


def test_macros_of_a_block_that_has_no_rows_stay_empty(warehouse: tracewh.Warehouse) -> None:
    """They are created before those that are loaded, which take longer to plan."""
    warehouse.verdict().fetchall()
    assert is_loaded(warehouse)
    created = "SELECT database_name FROM duckdb_functions() WHERE function_name = 'replay_matches'"
    assert sorted(warehouse._con.execute(created).fetchall()) == [("memory",), (ATTACHED,)]


def test_without_the_file_they_are_created(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with tracewh.open(root) as warehouse:
        assert warehouse.verdict().fetchall()
        assert not is_loaded(warehouse)


def test_a_file_that_is_removed_meanwhile_loads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "stored_macros", lambda: tmp_path / "removed.duckdb")
    with duckdb.connect() as con:
        assert attach(con) == []
        assert con.execute("SELECT current_setting('search_path')").fetchall() == [("",)]
