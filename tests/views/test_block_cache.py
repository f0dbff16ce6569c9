"""Blocks whose rows a Warehouse caches: they are written once, and are always those of the traces as they are."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh
from tracewh.views import block_cache
from tracewh.views.block_cache import CACHED
from tracewh.views.needed_traces import wanted_traces
from tracewh.views.registry import installed
from tracewh.views.warehouse import is_stored

Rows = list[tuple[Any, ...]]


def call(name: str, ts: int, **args: object) -> dict[str, Any]:
    where = {"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1, "dur": 1}
    return {**where, "name": name, "ts": ts, "args": args}


def event(cat: str, name: str, ts: int, dur: int, **args: object) -> dict[str, Any]:
    return {**call(name, ts, **args), "cat": cat, "dur": dur}


def ingest(folder: Path, run: str, worker: str, us: int) -> Path:
    """A captured graph of a matrix product, and a launch of it whose kernel runs for some microseconds."""
    shapes = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    events = [
        call("cudaStreamBeginCapture", 1),
        event("cpu_op", "aten::mm", 2, 4, **shapes),
        call("cudaLaunchKernel", 3, kernel="gemm", correlation=1),
        call("cudaStreamEndCapture", 8),
        event("user_annotation", "step[DECODE bs=2]", 10, 20),
        call("cudaGraphLaunch", 11, correlation=9),
        event("kernel", "gemm", 15, us, correlation=9, device=0, stream=7),
    ]
    path = folder / run / f"{worker}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"traceEvents": events}))
    tracewh.ingest([path], folder / "warehouse", force=True)
    return folder / "warehouse"


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    ingest(folder, "serve", "w", 3)
    return ingest(folder, "other", "w", 4)


@pytest.fixture
def graphs(tmp_path: Path, ingested: Path) -> Path:
    """Two runs whose replays take 3 and 4 us: a copy, as tests damage and replace it."""
    return Path(shutil.copytree(ingested, tmp_path / "warehouse"))


def replayed(relation: duckdb.DuckDBPyRelation) -> Rows:
    rows: Rows = relation.project("name, replayed_us").fetchall()
    return rows


def tables(warehouse: tracewh.Warehouse) -> dict[str, int]:
    """The cached tables, each with a number that changes when it is written again.

    For `Warehouse.sql` all objects would be created before the query.
    """
    found = warehouse._con.execute(
        "SELECT table_name, table_oid FROM duckdb_tables() WHERE schema_name = 'cache'"
    )
    return dict(found.fetchall())


def test_rows_are_found_once_for_a_view_its_notes_and_other_views(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        assert replayed(warehouse.operator_stats(run="serve")) == [("aten::mm", 3.0)]
        first = tables(warehouse)
        assert first.keys() == {"replay_matches_0", "replayed_events_1", "replayed_costs_2"}
        view = warehouse.registry.get("operator_stats")
        assert warehouse.notes(view, {"run": "serve"}) == []
        assert replayed(warehouse.operator_stats(run="serve", per_span=True)) == [("aten::mm", 3.0)]
        assert len(warehouse.graph_kernels(run="serve").fetchall()) == 1
        assert tables(warehouse) == first


def test_without_captures_views_and_notes_need_no_events(tmp_path: Path) -> None:
    """A server may be recorded after its graphs were captured."""
    events = [
        call("cudaGraphLaunch", 11, correlation=9),
        event("kernel", "gemm", 15, 3, correlation=9, device=0, stream=7),
    ]
    path = tmp_path / "serve" / "w.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"traceEvents": events}))
    tracewh.ingest([path], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        view = warehouse.registry.get("operator_stats")
        [(_, message)] = warehouse.notes(view, {"run": "serve"})
        assert message.startswith("3.0 us of device time (100.0 %) in 1 graph launch ")
        assert len(warehouse.kernel_stats(run="serve", group_by="launch").fetchall()) == 1
        assert len(warehouse.flamegraph(run="serve", metric="device").fetchall()) == 1
        [replay] = warehouse.graph_replays(run="serve").fetchall()
        assert replay[-1].startswith("No capture of a graph")
        checks = warehouse.trace_quality(run="serve").project('"check", "count"').fetchall()
        assert ("no_graph_capture", 1) in checks
        assert tables(warehouse).keys() == {"replay_matches_0", "trace_quality_v1_1"}


def test_nothing_is_cached_where_no_graph_was_launched(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        warehouse.step_breakdown(run="serve").fetchall()
        assert tables(warehouse) == {}
        warehouse.sql("FROM operator_stats('serve')").fetchall()  # SQL may be about any trace
        assert tables(warehouse) == {}


@pytest.mark.parametrize("is_run_before", [True, False])
def test_a_replaced_trace_has_its_new_rows(tmp_path: Path, is_run_before: bool) -> None:
    ingest(tmp_path, "serve", "w", 3)
    with tracewh.open(ingest(tmp_path, "other", "w", 4)) as warehouse:
        relation = warehouse.operator_stats(run="serve")
        if is_run_before:
            assert replayed(relation) == [("aten::mm", 3.0)]
        ingest(tmp_path, "serve", "w", 7)
        assert replayed(relation) == [("aten::mm", 7.0)]  # nobody told the warehouse
        before = tables(warehouse)
        assert replayed(warehouse.operator_stats(run="serve")) == [("aten::mm", 7.0)]
        assert tables(warehouse).keys() == before.keys()
        assert not tables(warehouse).items() & before.items()


def test_a_capture_that_arrives_counts(tmp_path: Path) -> None:
    """The captures of a run may be traces of a run below it."""
    path = ingest(tmp_path, "serve", "w", 3)
    with tracewh.open(path) as warehouse:
        assert warehouse.graph_replays(run="serve").project("basis").fetchall() == [("content",)]
        first = tables(warehouse)
        tracewh.ingest([tmp_path / "serve/w.json"], path, run="serve/capture_traces", force=True)
        assert warehouse.graph_replays(run="serve").project("basis").fetchall() == [
            ("same in all candidates",)
        ]
        assert tables(warehouse) != first


def test_relations_of_two_runs_each_have_their_rows(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        serve = warehouse.operator_stats(run="serve")
        other = warehouse.operator_stats(run="other")
        both = warehouse.operator_stats()
        assert replayed(serve) == [("aten::mm", 3.0)]
        assert replayed(other) == [("aten::mm", 4.0)]
        assert sorted(replayed(both)) == [("aten::mm", 3.0), ("aten::mm", 4.0)]
        assert replayed(serve.filter("name = 'aten::mm'")) == [("aten::mm", 3.0)]
        assert (
            len(serve.set_alias("a").join(other.set_alias("b"), "a.name = b.name").fetchall()) == 1
        )


def test_nothing_is_cached_for_one_figure_of_many(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        assert "replayed_costs" in warehouse.registry.needs("trend_v1()")
        warehouse.trend(figure="step_us").fetchall()
        assert not tables(warehouse)


def test_the_newest_tables_alone_are_cached(graphs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_cache, "MOST_ROWS", 2)
    with tracewh.open(graphs) as warehouse:
        serve = warehouse.operator_stats(run="serve")
        other = warehouse.operator_stats(run="other")
        assert tables(warehouse).keys() == {
            "replayed_events_4",
            "replayed_costs_5",
        }
        assert replayed(serve) == [("aten::mm", 3.0)]
        assert replayed(other) == [("aten::mm", 4.0)]


def test_too_many_rows_are_not_cached(graphs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_cache, "MOST_ROWS", 1)
    with tracewh.open(graphs) as warehouse:
        assert len(warehouse.operator_stats().fetchall()) == 2
        assert tables(warehouse) == {}
        written: list[object] = []
        monkeypatch.setattr(block_cache, "passed", written.append)  # what is written is named first
        assert len(warehouse.operator_stats().fetchall()) == 2
        assert written == []  # nobody tries again


def test_too_many_traces_are_not_cached(graphs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_cache, "MOST_TRACES", 1)
    with tracewh.open(graphs) as warehouse:
        assert len(warehouse.operator_stats().fetchall()) == 2
        assert tables(warehouse) == {}
        assert replayed(warehouse.operator_stats(run="other")) == [("aten::mm", 4.0)]
        assert len(tables(warehouse)) == 3


def test_a_server_of_many_traces_does_not_grow(
    graphs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_cache, "MOST_SCHEMAS", 2)
    view = installed().get("kernel_stats")
    filters: list[dict[str, Any]] = [{}, {"run": "serve"}, {"run": "other"}, {"worker": "w"}]
    with tracewh.open(graphs) as warehouse:
        first = [warehouse.view("kernel_stats", **given).fetchall() for given in filters]
        for _ in range(3):
            for given, rows in zip(filters, first, strict=True):
                warehouse.select_traces(view, given)
                assert warehouse.view("kernel_stats", **given).fetchall() == rows
                [(schemas,)] = warehouse._con.execute(
                    "SELECT count(*) FROM duckdb_schemas() WHERE schema_name LIKE 'cache\\_%' ESCAPE '\\'"
                ).fetchall()
                assert schemas <= 3


def test_a_selection_of_traces_caches_nothing_of_the_last_one(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        view = warehouse.registry.get("operator_stats")
        all_of_them = warehouse.operator_stats()
        assert len(all_of_them.fetchall()) == 2
        warehouse.select_traces(view, {"run": "serve"})
        assert tables(warehouse) == {}
        assert replayed(warehouse.operator_stats()) == [("aten::mm", 3.0)]
        warehouse.select_traces(None, {})
        assert len(warehouse.operator_stats().fetchall()) == 2


def test_a_damaged_trace_of_another_run_blocks_nothing(graphs: Path) -> None:
    for file in graphs.glob("data/run=other/*/*/*.parquet"):
        if file.name != "traces.parquet":
            file.write_text("no Parquet")
    with tracewh.open(graphs) as warehouse:
        view = warehouse.registry.get("operator_stats")
        warehouse.select_traces(view, {"run": "serve"})
        assert replayed(warehouse.operator_stats(run="serve")) == [("aten::mm", 3.0)]


def test_a_damaged_trace_is_an_error_and_no_table(graphs: Path) -> None:
    (broken,) = graphs.glob("data/run=serve/*/*/graph_nodes.parquet")
    with tracewh.open(graphs) as warehouse:
        warehouse.operator_stats(run="other").fetchall()
        broken.write_text("no Parquet")
        with pytest.raises(duckdb.InvalidInputException, match="graph_nodes"):
            warehouse.operator_stats(run="serve").fetchall()
        assert replayed(warehouse.operator_stats(run="other")) == [("aten::mm", 4.0)]


def test_an_interrupt_leaves_no_table_half_written(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        warehouse.operator_stats(run="other").fetchall()
        is_enough = threading.Event()

        def interrupt() -> None:
            while not is_enough.wait(0.002):
                warehouse.interrupt()

        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        end = time.monotonic() + 60
        try:
            with pytest.raises(duckdb.InterruptException):
                while time.monotonic() < end:
                    warehouse.operator_stats(run="serve").fetchall()
                    warehouse.select_traces(None, {})
        finally:
            is_enough.set()
            interrupting.join()
        assert replayed(warehouse.operator_stats(run="serve")) == [("aten::mm", 3.0)]
        assert replayed(warehouse.operator_stats(run="other")) == [("aten::mm", 4.0)]


def test_a_warehouse_that_nobody_uses_is_given_up(graphs: Path) -> None:
    warehouse = tracewh.open(graphs)
    assert replayed(warehouse.operator_stats(run="serve")) == [("aten::mm", 3.0)]
    known = weakref.ref(warehouse)
    del warehouse
    gc.collect()
    assert known() is None


def test_one_that_is_confined_caches_them_too(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        warehouse.confine(500)
        assert replayed(warehouse.operator_stats(run="serve")) == [("aten::mm", 3.0)]
        assert len(tables(warehouse)) == 3


#: Views that are made of the others, which take longest to plan.
MADE_OF_OTHERS = {"diff_overview", "diff_verdict", "recommendations", "trend", "verdict"}


def test_every_view_has_the_rows_that_it_has_without(tmp_path: Path) -> None:
    """SQL caches nothing. Of two workers and of the two sides of a comparison, each has its own."""
    ingest(tmp_path, "serve", "v", 5)
    ingest(tmp_path, "serve", "w", 3)
    path = ingest(tmp_path, "other", "w", 4)
    sides: list[dict[str, str]] = [
        {"baseline": "serve", "experiment": "other"},
        {"baseline": "serve", "baseline_worker": "w", "experiment": "serve"},
    ]
    asked: list[dict[str, str]] = [{}, {"run": "serve", "worker": "w"}]
    compared = set()
    with tracewh.open(path) as warehouse:
        for number, view in enumerate(installed()):
            needed = installed().needs(f"{view.object_name}()")
            if view.name in MADE_OF_OTHERS or "replay_matches" not in needed:
                continue
            is_diff = "baseline" in {param.name for param in view.params}
            arguments = (sides if is_diff else asked)[number % 2]
            sql = warehouse.registry.call(view.name, view.version, **arguments).sql
            found = warehouse.view(view.name, view.version, **arguments).fetchall()
            assert found == warehouse.sql(sql).fetchall(), f"{view.name} {arguments}"
            with warehouse.held_view(view.name, view.version, **arguments) as held:
                assert held.fetchall() == found, f"{view.name} {arguments}"
            if found:
                compared.add(view.name)
    assert len(compared) > 13, compared


def test_parameters_of_a_cached_view_are_filters(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        (step,) = warehouse.serving_steps(run="serve").fetchall()
        assert tables(warehouse).keys() == {"replayed_events_0", "serving_steps_v1_1"}
        number = step[3]
        assert warehouse.serving_steps(run="serve", step=number).fetchall() == [step]
        assert warehouse.serving_steps(run="serve", step=number + 1).fetchall() == []
        assert warehouse.serving_steps(run="serve", phase="decode").fetchall() == [step]
        assert warehouse.serving_steps(run="serve", phase="prefill").fetchall() == []


def test_what_is_held_reads_the_tables_and_writes_them(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        with warehouse.held_view("operator_stats", run="serve") as rows:
            assert replayed(rows) == [("aten::mm", 3.0)]
            assert is_stored(rows)
        first = tables(warehouse)
        assert first.keys() == {"replay_matches_0", "replayed_events_1", "replayed_costs_2"}
        assert warehouse.notes(warehouse.registry.get("operator_stats"), {"run": "serve"}) == []
        query = "FROM operator_stats(run := 'serve', worker := 'w', span := 'default')"
        for _ in range(2):
            with warehouse.held(query, "mine", ("serve", "w", "default")) as rows:
                assert replayed(rows) == [("aten::mm", 3.0)]
                assert replayed(warehouse.sql("FROM mine")) == [("aten::mm", 3.0)]
        both = tables(warehouse)
        assert both.items() > first.items()
        assert both.keys() - first.keys() == {"replayed_events_3", "replayed_costs_4"}
        with warehouse.held(query, "mine") as rows:  # it may call views of any trace
            assert replayed(rows) == [("aten::mm", 3.0)]
        assert tables(warehouse) == both
        with pytest.raises(duckdb.CatalogException, match="mine"):
            warehouse.sql("FROM mine")
        assert replayed(warehouse.operator_stats(run="other")) == [("aten::mm", 4.0)]


def test_what_is_held_is_not_found_again(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        with warehouse.held_view("operator_stats", run="serve") as rows:
            assert replayed(rows) == [("aten::mm", 3.0)]
        warehouse._con.execute("DELETE FROM cache.replayed_costs_2")
        with warehouse.held_view("operator_stats", run="serve") as rows:
            assert replayed(rows) != [("aten::mm", 3.0)]


def test_what_is_held_has_the_rows_of_a_replaced_trace(tmp_path: Path) -> None:
    with tracewh.open(ingest(tmp_path, "serve", "w", 3)) as warehouse:
        with warehouse.held_view("operator_stats", run="serve") as rows:
            assert replayed(rows) == [("aten::mm", 3.0)]
            ingest(tmp_path, "serve", "w", 5)
            assert replayed(rows) == [("aten::mm", 3.0)]
        with warehouse.held_view("operator_stats", run="serve") as rows:
            assert replayed(rows) == [("aten::mm", 5.0)]


def test_a_relation_finds_out_that_a_trace_was_replaced_after_others_were_held(
    tmp_path: Path,
) -> None:
    with tracewh.open(ingest(tmp_path, "serve", "w", 3)) as warehouse:
        with warehouse.held_view("operator_stats", run="serve") as rows:
            assert replayed(rows) == [("aten::mm", 3.0)]
        relation = warehouse.operator_stats(run="serve")
        assert replayed(relation) == [("aten::mm", 3.0)]
        ingest(tmp_path, "serve", "w", 5)
        assert replayed(relation) == [("aten::mm", 5.0)]
        with warehouse.held_view("operator_stats", run="serve") as rows:
            assert replayed(rows) == [("aten::mm", 5.0)]


def test_what_is_held_needs_no_numpy(graphs: Path) -> None:
    """Importing it takes longer than most queries."""
    code = f"""
        import sys
        import tracewh

        with tracewh.open({str(graphs)!r}) as warehouse:
            view = warehouse.registry.get("operator_stats")
            for run in ("serve", "other", "serve"):
                with warehouse.held_view("operator_stats", run=run) as rows:
                    assert rows.fetchall()
                warehouse.notes(view, {{"run": run}})
            tables = warehouse._con.execute("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'cache'")
            print(tables.fetchall(), "numpy" in sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[(6,)] False\n"


def test_an_error_in_what_is_held_leaves_no_search_path_behind(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        path = "SELECT current_setting('search_path')"
        warehouse.operator_stats(run="serve").fetchall()
        query = "SELECT 1 / 0, error('no') FROM operator_stats(run := 'serve', worker := 'w', span := 'default')"
        with (
            pytest.raises(duckdb.InvalidInputException, match="no"),
            warehouse.held(query, "mine", ("serve", "w", "default")),
        ):
            pass
        assert "cache" not in warehouse._con.execute(path).fetchall()[0][0]


def test_what_a_trace_lacks_is_found_once(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        found = warehouse.trace_quality(run="serve").fetchall()
        assert found
        first = tables(warehouse)
        assert "trace_quality_v1" in {name.rpartition("_")[0] for name in first}
        assert warehouse.trace_quality(run="serve", worker="w").fetchall() == found
        assert tables(warehouse).items() >= first.items()
        assert found == warehouse.sql("FROM trace_quality(run := 'serve')").fetchall()


def test_what_one_cached_block_alone_calls_is_not_cached(graphs: Path) -> None:
    with tracewh.open(graphs) as warehouse:
        warehouse.serving_steps(run="serve").fetchall()
        assert tables(warehouse).keys() == {"replayed_events_0", "serving_steps_v1_1"}
        warehouse.graph_replays(run="serve").fetchall()  # looks at the matches itself
        assert tables(warehouse).keys() == {
            *("replayed_events_0", "serving_steps_v1_1", "replay_matches_2"),
        }


def test_block_cache_take_names_of_traces_and_filters() -> None:
    for name in CACHED:
        spec = installed().named(name)
        names = [param.name for param in spec.params]
        assert names[:3] == ["run", "worker", "span"]
        assert {column.name for column in spec.columns}.issuperset(names[3:])
        assert all(param.default == "NULL" for param in spec.params)


def test_each_side_of_a_comparison_has_the_trace_that_it_chooses(tmp_path: Path) -> None:
    """The timeline of a run is that of its first trace: of several workers, not that of the one named."""
    path = tmp_path / "warehouse"
    tracewh.ingest([Path(__file__).parents[2] / "samples/ddp_gloo"], path)
    with tracewh.open(path) as warehouse:
        workers = [worker for _, worker, _ in warehouse.names()]
        assert len(set(workers)) > 1
        for worker in workers[:2]:
            arguments = {
                "baseline": "ddp_gloo",
                "baseline_worker": worker,
                "experiment": "ddp_gloo",
            }
            sql = warehouse.registry.call("diff_blocks", **arguments).sql
            found = warehouse.diff_blocks(**arguments).fetchall()
            assert found
            assert found == warehouse.sql(sql).fetchall()
        assert len(tables(warehouse)) == 3


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({}, [(None, None, None)]),
        ({"run": "a", "worker": None, "sort_by": "calls"}, [("a", None, None)]),
        (
            {"baseline": "a", "experiment": "b", "experiment_span": "1"},
            [("a", None, None), ("b", None, "1")],
        ),
    ],
)
def test_the_traces_that_arguments_name(arguments: dict[str, Any], wanted: Rows) -> None:
    assert wanted_traces(arguments) == wanted


def test_traces_that_are_not_selected_do_not_count(
    graphs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_cache, "MOST_TRACES", 1)
    with tracewh.open(graphs) as warehouse:
        assert replayed(warehouse.operator_stats()) == [("aten::mm", 4.0), ("aten::mm", 3.0)]
        assert tables(warehouse) == {}
        warehouse.select(lambda keys: keys[0] == "serve")
        assert replayed(warehouse.operator_stats()) == [("aten::mm", 3.0)]
        assert tables(warehouse)
        warehouse.select(lambda keys: keys[0] == "other")
        assert replayed(warehouse.operator_stats()) == [("aten::mm", 4.0)]
