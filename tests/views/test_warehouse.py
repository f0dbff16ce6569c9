"""A warehouse opened from Python, and the tracewh.duckdb that stands beside its data."""

from __future__ import annotations

import contextlib
import inspect
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import tracewh
from bench.draw_nsys import draw
from tracewh.storage import compacted_runs
from tracewh.views.database import write_database
from tracewh.views.read_only import StatementError
from tracewh.views.registry import ArgumentError, UnknownViewError, installed
from tracewh.views.sql_mistakes import check_named_arguments
from tracewh.views.warehouse import SLOW_OPTIMIZER, Warehouse, listed, plan_without


def add_trace(root: Path, run: str, step: int = 7) -> None:
    """One trace with one step of 1,000 ns and nothing in it, written without ingest."""
    folder = root / f"data/run={run}/worker=w/span=default"
    folder.mkdir(parents=True)
    with duckdb.connect() as con:
        for table in installed().tables():
            con.execute(table.sql)
        con.execute("INSERT INTO traces (source_path, events) VALUES ('a.json', 1)")
        con.execute(
            "INSERT INTO steps (step, start_ns, end_ns, extended_start_ns, extended_end_ns, is_tail)"
            f"VALUES ({step}, 0, 1000, 0, 1000, false)"
        )
        for table in installed().tables():
            columns = ", ".join(column.name for column in table.columns[3:])
            con.execute(
                f"COPY (SELECT {columns} FROM {table.name}) TO '{quoted(folder)}/{table.name}.parquet'"
            )


def quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def two_runs(folder: Path) -> Path:
    """A warehouse with two runs, in a folder whose name means something to SQL and to a glob."""
    root = folder / "it's [1]*"
    add_trace(root, "a")
    add_trace(root, "b")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_runs(tmp_path)


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
        refused = warehouse.kernel_stats(group_by="x")
        with pytest.raises(duckdb.InvalidInputException, match="group_by must be one of 'name', "):
            refused.fetchall()
        assert str(inspect.signature(warehouse.diff_kernels)).startswith(
            "(*, baseline: VARCHAR, experiment: VARCHAR, baseline_worker: VARCHAR = NULL, "
        )
        assert "Args:" in (warehouse.step_breakdown.__doc__ or "")


def test_only_some_traces_are_open_for_a_while(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        with pytest.raises(KeyError), warehouse.only(frozenset({("b", "w", "default")})):
            assert len(warehouse.step_breakdown()) == 1
            raise KeyError
        assert len(warehouse.step_breakdown()) == 2


def test_of_traces_that_are_named_no_other_folder_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_trace(tmp_path, "a%2Fb")
    add_trace(tmp_path, "b", 8)
    (tmp_path / "data/run=a%2Fb/worker=w").rename(tmp_path / "data/run=a%2Fb/worker=w 1")
    add_trace(tmp_path, "a%2Fb", 9)
    listed, names = list[str](), compacted_runs.names

    def noted(folder: str | Path) -> list[str]:
        listed.append(Path(folder).name)
        return names(folder)

    with tracewh.open(tmp_path) as warehouse:
        monkeypatch.setattr(compacted_runs, "names", noted)
        with warehouse.only(frozenset({("a/b", "w 1", "default")})):
            listed.clear()
            assert warehouse.sql("SELECT step FROM steps").fetchall() == [(7,)]
            assert set(listed) == {"data", "run=a%2Fb", "worker=w 1"}
        assert len(warehouse.step_breakdown()) == 3


@pytest.mark.parametrize("name", ["wh[1]", "wh*"])
def test_a_folder_whose_name_is_a_pattern_for_another(tmp_path: Path, name: str) -> None:
    """The folder wh1 beside it has step 8 in place of 7."""
    for folder, step in ((name, 7), ("wh1", 8)):
        add_trace(tmp_path / folder, "a", step)
    for path in (tmp_path / name, listed(tmp_path / name)):
        with tracewh.Warehouse(path) as warehouse:
            assert warehouse.steps.project("step").fetchall() == [(7,)]
            warehouse.confine()
            assert warehouse.step_breakdown(run="a").project("step").fetchall() == [(7,)]
    with duckdb.connect(write_database(tmp_path / name), read_only=True) as con:
        assert con.execute("SELECT step FROM steps").fetchall() == [(7,)]


@pytest.mark.parametrize(
    "stray", ["old/worker=w/span=default", "run=a/old/span=default", "run=a/worker=w/old"]
)
def test_a_folder_that_is_no_trace_is_not_read(root: Path, stray: str) -> None:
    shutil.copytree(root / "data/run=a/worker=w/span=default", root / "data" / stray)
    for path in (root, listed(root)):
        with tracewh.Warehouse(path) as warehouse:
            assert warehouse.names() == [("a", "w", "default"), ("b", "w", "default")]
            assert len(warehouse.versions()) == 2
            assert warehouse.steps.project("run").order("run").fetchall() == [("a",), ("b",)]
            assert warehouse.connection.sql("SELECT run FROM steps ORDER BY run").fetchall() == [
                ("a",),
                ("b",),
            ]
    with duckdb.connect(write_database(root), read_only=True) as con:
        assert con.execute("SELECT run FROM steps ORDER BY run").fetchall() == [("a",), ("b",)]


def test_a_view_takes_arguments_by_name(root: Path) -> None:
    with tracewh.open(root) as warehouse, pytest.raises(ArgumentError) as raised:
        warehouse.step_breakdown("a")
    assert str(raised.value) == "step_breakdown takes arguments by name, e.g. run='a'"


def test_relations_of_two_runs_can_be_joined(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        a = warehouse.step_breakdown(run="a").set_alias("a")
        b = warehouse.step_breakdown(run="b").set_alias("b")
        assert len(a.join(b, "a.step = b.step").fetchall()) == 1


def test_the_slowest_optimizer_is_off(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        off = warehouse.sql("SELECT current_setting('disabled_optimizers')").fetchall()
    assert off == [(SLOW_OPTIMIZER,)]


def test_ranges_and_calls_are_not_compared_each_with_each(root: Path) -> None:
    """DuckDB does so where it expects few rows: with 16 million ranges it would never end."""
    with tracewh.open(root) as warehouse:
        assert _joins(warehouse.connection) == (True, False)


def test_nor_are_they_in_a_shell_or_a_notebook(tmp_path: Path) -> None:
    draw(tmp_path / "drawn.sqlite", kernels=2_000, ranges=16_000)
    tracewh.ingest([tmp_path / "drawn.sqlite"], tmp_path / "warehouse")
    with duckdb.connect(tmp_path / "warehouse" / "tracewh.duckdb", read_only=True) as con:
        assert _joins(con) == (True, False)


def _joins(con: duckdb.DuckDBPyConnection) -> tuple[bool, bool]:
    """Whether ranges and calls are joined by a merge, and whether each is compared with each."""
    found = con.execute("EXPLAIN FROM range_launches()").fetchall()
    words = found[0][1].upper().replace("_", " ")
    return "ASOF" in words, "NESTED LOOP" in words


def test_an_optimizer_that_this_duckdb_lacks_is_not_asked_for() -> None:
    with duckdb.connect() as con:
        plan_without(con, "of_tomorrow")
        assert con.execute("SELECT current_setting('disabled_optimizers')").fetchone() == ("",)


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


@pytest.mark.parametrize("nothing", ["", " ; ", "-- a comment\n", "/* a comment */;"])
def test_sql_without_a_statement_is_refused(root: Path, nothing: str) -> None:
    with tracewh.open(root) as warehouse:
        for run in (warehouse.sql, warehouse.rows):
            with pytest.raises(StatementError, match="^the SQL has no statement$"):
                run(nothing)


def test_a_query_finds_the_variables_of_its_caller_alone(root: Path) -> None:
    """Also a data frame of an outer function, or with the name of a variable of ours."""
    mine = pa.table({"a": [5]})  # noqa: F841  # DuckDB finds it
    with tracewh.open(root) as warehouse:

        def rows(query: str) -> list[tuple[int]]:
            return warehouse.sql(query).fetchall()

        assert rows("FROM mine WHERE a = 5") == [(5,)]
        for name in ("query", "params", "runs", "first", "names", "self", "re", "größe"):
            scope = {"warehouse": warehouse, name: pa.table({"a": [5]})}
            found = eval(f"warehouse.sql('FROM {name}')", scope)
            assert found.fetchall() == found.filter("a = 5").fetchall() == [(5,)]
        with pytest.raises(duckdb.CatalogException, match="name names does not exist"):
            warehouse.sql("FROM names")
        with pytest.raises(UnknownViewError) as raised:
            warehouse.sql("FROM runs")
        assert str(raised.value) == "runs is a view, which takes parentheses: FROM runs()"


@pytest.mark.parametrize(
    ("query", "called", "name"),
    [
        ("FROM step_breakdown(run = 'a')", "step_breakdown", "run"),
        ("from Step_Breakdown_V1(\"RUN\"=='a')", "Step_Breakdown_V1", "run"),
        (
            "SELECT (1), max(n) FROM (FROM main.kernel_stats(run := upper('a'), /* = */ group_by = 'launch'))",
            "kernel_stats",
            "group_by",
        ),
    ],
)
def test_an_argument_that_is_a_comparison(root: Path, query: str, called: str, name: str) -> None:
    said = (
        f"{called}: in SQL an argument has := after its name, as in {called}({name} := ...); "
        f"{name} = ... is a comparison"
    )
    with tracewh.open(root) as warehouse, pytest.raises(ArgumentError) as raised:
        warehouse.sql(query)
    assert str(raised.value) == said


@pytest.mark.parametrize(
    "query",
    [
        "FROM step_breakdown(run => 'a') WHERE run = 'a'",
        "FROM step_breakdown(run := (SELECT min(run) FROM runs() WHERE run = 'a', run = 'a'))",
        "FROM step_breakdown(-- (run = 'a')\n) WHERE list_contains([step, run = 'a'], 0)",
        "WITH runs AS (SELECT 1 AS run) SELECT count(run = 1) FROM runs",
        "SELECT ')', '(run = 1' AS runs FROM steps",
        "",
        "-- only a comment",
    ],
)
def test_a_comparison_that_is_no_argument(query: str) -> None:
    check_named_arguments(query, installed())


def test_a_view_without_parentheses(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        with pytest.raises(UnknownViewError) as raised:
            warehouse.sql("SELECT * FROM Step_Breakdown")
        said = "Step_Breakdown is a view, which takes parentheses: FROM Step_Breakdown()"
        assert str(raised.value) == said
        with pytest.raises(UnknownViewError) as raised:
            warehouse.sql("SELECT k.name FROM kernels() AS k")
        assert str(raised.value) == "kernels is a table, without parentheses: FROM kernels"
        with pytest.raises(duckdb.CatalogException, match="name kernel does not exist"):
            warehouse.sql("FROM kernel")
        with pytest.raises(duckdb.CatalogException, match="name kernel does not exist"):
            warehouse.sql("FROM kernel()")
        with pytest.raises(duckdb.CatalogException, match="name is_wanted does not exist"):
            warehouse.sql("FROM is_wanted")


def test_a_text_in_double_quotes(root: Path) -> None:
    said = "\nDouble quotes are for names. Write a text in single quotes: '{}'"
    with tracewh.open(root) as warehouse:
        for query in ('FROM step_breakdown(run := "a b")', 'FROM steps WHERE run = "a b"'):
            with pytest.raises(duckdb.BinderException, match=re.escape(said.format("a b"))):
                warehouse.sql(query)
        with pytest.raises(duckdb.BinderException) as raised:
            warehouse.sql("SELECT nam FROM steps")
        assert "quotes" not in str(raised.value)


def test_an_interrupt_leaves_no_view_half_created(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits until they are created, so that the next query finds all or none of them."""
    with tracewh.open(root) as warehouse:
        creating = warehouse.registry.create
        interrupting = threading.Thread(target=warehouse.interrupt)

        def slowly(con: duckdb.DuckDBPyConnection, names: list[str]) -> None:
            is_first = not interrupting.ident
            if is_first:
                interrupting.start()
            creating(con, names)
            assert interrupting.is_alive() or not is_first  # not done while views are created

        monkeypatch.setattr(warehouse.registry, "create", slowly)
        with contextlib.suppress(duckdb.InterruptException):
            warehouse.sql("FROM kernel_stats()").fetchall()
        interrupting.join()
        monkeypatch.undo()
        warehouse.sql("FROM kernel_stats()").fetchall()


def test_rows_are_those_of_the_relation(root: Path) -> None:
    with tracewh.open(root) as warehouse:
        query = "SELECT run, step, total_us FROM step_breakdown()"
        assert warehouse.rows(query) == warehouse.sql(query).fetchall() != []
        with pytest.raises(duckdb.CatalogException, match="kernel_stat"):
            warehouse.rows("FROM kernel_stat()")
        listed = {name for (name,) in warehouse.rows("SHOW TABLES; -- all of them")}
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


@pytest.mark.parametrize("part", ["run=a", "run=a/worker=w", "run=a/worker=w/span=default"])
def test_one_that_is_confined_reads_what_its_links_lead_to(
    root: Path, tmp_path: Path, part: str
) -> None:
    """As where a run was moved to another disk."""
    link, place = root / "data" / part, tmp_path / "it's [1] elsewhere"
    link.rename(place)
    link.symlink_to(place)
    with tracewh.open(root) as warehouse:
        warehouse.confine()
        assert warehouse.sql("SELECT run FROM steps ORDER BY run").fetchall() == [("a",), ("b",)]


@pytest.mark.parametrize(
    "end",
    ["", ";", " ;; ", "; -- é", ";\n-- one\n/* two; */ ; -- three;", " -- one;\n", " -- one\n;"],
)
def test_a_query_ends_where_its_statement_ends(root: Path, end: str) -> None:
    with tracewh.open(root) as warehouse:
        found = warehouse.sql("/* first; */ SELECT ';' AS semicolon" + end)
        assert found.limit(1).fetchall() == [(";",)]


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
        (lambda p: None, "{p} does not exist; create a warehouse with `tracewh ingest LOGDIR -w {p}`"),
        (lambda p: p.mkdir(), "{p} is not a warehouse: it has no data/ folder; create a warehouse with `tracewh ingest LOGDIR -w {p}`"),
        (lambda p: p.touch(), "{p} is a file; a warehouse is a folder with a data/ folder in it"),
        (lambda p: (p / "data").mkdir(parents=True), "{p} holds no traces; ingest some with `tracewh ingest LOGDIR -w {p}`"),
        (lambda p: (p / "data/run=r/worker=w/span=s/_manifest.json").mkdir(parents=True), "each trace of {p} is damaged; `tracewh check -w {p}` says how to repair them"),
    ],
    ids=["missing", "folder", "file", "empty", "damaged"],
)  # fmt: skip
def test_what_is_no_warehouse(make: object, message: str, tmp_path: Path) -> None:
    for name in ("here", "it's here"):
        path = tmp_path / name
        make(path)  # type: ignore[operator]
        with pytest.raises(tracewh.WarehouseError) as caught:
            tracewh.open(path)
        said = message.replace("-w {p}", f"-w {shlex.quote(str(path))}")
        assert str(caught.value) == said.format(p=path)


def test_a_path_that_is_empty_is_not_the_current_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "the path of the warehouse is empty; name a folder"
    monkeypatch.chdir(root)
    with pytest.raises(tracewh.WarehouseError, match=said):
        tracewh.open("")
    (tmp_path / "logs").mkdir()
    with pytest.raises(tracewh.IngestError, match=said):
        tracewh.ingest(tmp_path / "logs", "")


def test_a_tilde_that_no_shell_replaced(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)
    said = (
        "~/wh: only a shell replaces ~ with a home folder;"
        " write /home/me/wh, or ./~/wh if a folder has that name"
    )
    (tmp_path / "logs").mkdir()
    for refused in (lambda: tracewh.open("~/wh"), lambda: tracewh.ingest("logs", Path("~/wh"))):
        with pytest.raises((tracewh.WarehouseError, tracewh.IngestError)) as caught:
            refused()
        assert str(caught.value) == said
    (tmp_path / "~").mkdir()
    root.rename(tmp_path / "~" / "wh")
    with tracewh.open("./~/wh") as warehouse:
        assert warehouse.path == tmp_path / "~" / "wh"


def test_traces_of_another_layout(root: Path) -> None:
    for file in root.glob("data/*/*/*/steps.parquet"):
        duckdb.execute(f"COPY (SELECT 1 AS old) TO '{quoted(file)}'")
    with tracewh.open(root) as warehouse, pytest.raises(tracewh.WarehouseError) as caught:
        warehouse.step_breakdown()
    assert "was written by another version of tracewh (steps: " in str(caught.value)
    assert "ingest its traces again with --force" in str(caught.value)


def test_a_trace_of_a_newer_layout(root: Path) -> None:
    [*_, last] = sorted(root.glob("data/*/*/*"))
    file = quoted(last / "traces.parquet")
    duckdb.execute(
        f"CREATE OR REPLACE TABLE t AS FROM read_parquet('{file}', hive_partitioning = false)"
    )
    duckdb.execute(f"COPY (SELECT * REPLACE (2 AS layout_version) FROM t) TO '{file}'")
    for steps in root.glob("data/*/*/*/steps.parquet"):
        duckdb.execute(f"COPY (SELECT 1 AS newer) TO '{quoted(steps)}'")
    with tracewh.open(root) as warehouse, pytest.raises(tracewh.WarehouseError) as caught:
        warehouse.step_breakdown()
    assert str(caught.value) == (
        f"{root}: a trace was written by a newer version of tracewh, with layout 2; this version reads layout 1. "
        "Update it: pip install --upgrade tracewh"
    )


def test_files_are_those_of_the_traces_that_are_open(root: Path) -> None:
    for path in (root, listed(root)):
        with Warehouse(path) as warehouse:
            everything = warehouse.files("steps")
            [first, _] = sorted({run for run, _, _ in warehouse.names()})
            warehouse.select_runs([first])
            assert warehouse.files("steps") == [f for f in everything if f"/run={first}/" in f]
            warehouse.select(None)
            assert len(everything) == 2 and warehouse.files("steps") == everything


@pytest.mark.parametrize("digits", [12, 17, 5000])
def test_a_memory_limit_beyond_any_machine(
    root: Path, monkeypatch: pytest.MonkeyPatch, digits: int
) -> None:
    """DuckDB takes no size of so many bytes, and does not read PiB."""
    monkeypatch.setenv("TRACEWH_MEMORY_LIMIT", "9" * digits)
    with tracewh.open(root) as warehouse:
        assert warehouse.limits()[1] > 10**13
        warehouse.confine(10**17)
        assert warehouse.rows("SELECT count(*) FROM traces") == [(2,)]


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
        assert one.parent.parent == two.parent.parent == tmp_path
        assert one != two  # DuckDB would write into the other's files
        warehouse.connection.execute("SET memory_limit = '48MB'; SET threads = 1")
        rows = "FROM range(4_000_000) AS t(i) SELECT i, hash(i) AS h ORDER BY h LIMIT 3_000_000"
        assert warehouse.sql(f"SELECT count(*) FROM ({rows})").fetchall() == [(3_000_000,)]
        assert one.is_dir()
    assert list(here.iterdir()) == []
    assert not one.parent.exists()
