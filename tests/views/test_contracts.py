"""What must hold for every view, whatever it computes. One failure names one view and one fix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tracewh
from docs.reference import promise
from tests.cli.output.test_empty_result import OF_TRACES, is_replay
from tests.given import Tables
from tests.views.test_every_view import KEYS, TAKEN_TOGETHER
from tracewh.views import GROUPS, Param, Spec
from tracewh.views.registry import installed

REGISTRY = installed()
TESTS = Path(__file__).parents[1]
#: Where the .test files of each kind are.
FOLDERS = {
    "view": TESTS / "views",
    "block": TESTS / "sql" / "blocks",
    "function": TESTS / "sql" / "functions",
}

FUNCTIONS = [spec for spec in REGISTRY.all() if spec.kind == "function"]
#: By name.
Declared = dict[str, tuple[list[str], list[str], str]]
MACROS = [spec for spec in REGISTRY.all() if spec.kind in ("block", "view")]


@pytest.fixture(scope="module")
def tables() -> Tables:
    """All tables, and every macro: creating them anew for each test takes longer than all tests do."""
    tables = Tables()
    tables.prepare(None)
    return tables


@pytest.fixture(scope="module")
def declared(tables: Tables) -> Declared:
    """What DuckDB knows of each macro: names and types of its parameters, and its comment."""
    found = tables.con.execute(
        "SELECT function_name, parameters, parameter_types, comment FROM duckdb_functions()"
        " WHERE schema_name = 'main'"
    ).fetchall()
    return {name: (params, types, comment) for name, params, types, comment in found}


def each(specs: list[Spec]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("spec", specs, ids=lambda spec: spec.object_name)


def arguments(spec: Spec) -> str:
    """NULL for every parameter that has to be given: enough to bind a view."""
    return ", ".join(f"{p.name} := NULL::{p.type}" for p in spec.params if p.required)


def reads_by_name(spec: Spec) -> bool:
    named = any(param.meaning.startswith("Name of a relation") for param in spec.params)
    return named or "query_table(" in spec.sql or "rel" in {param.name for param in spec.params}


# A block that reads a relation by name has the types of that relation; its .test file shows them.
@each([spec for spec in MACROS if not reads_by_name(spec)])
def test_columns_are_the_ones_the_header_declares(tables: Tables, spec: Spec) -> None:
    query = f"FROM {spec.object_name}({arguments(spec)})"
    described = tables.con.execute(f"DESCRIBE {query}").fetchall()
    assert [row[:2] for row in described] == [(c.name, c.type) for c in spec.columns]


@each(FUNCTIONS)
def test_a_function_returns_the_type_that_the_header_declares(tables: Tables, spec: Spec) -> None:
    call = f"SELECT {spec.object_name}({arguments(spec)})"
    assert tables.con.sql(call).types == [spec.returns]


@each(FUNCTIONS + MACROS)
def test_parameters_are_the_ones_the_header_declares(declared: Declared, spec: Spec) -> None:
    assert declared[spec.object_name] == (
        [p.name for p in spec.params],
        [p.type for p in spec.params],
        spec.summary,
    )


@each(REGISTRY.newest())
def test_the_unversioned_name_takes_the_same_and_says_what_it_is(
    declared: Declared, spec: Spec
) -> None:
    comment = f"{spec.summary} (alias of {spec.object_name})"
    assert declared[spec.name] == (
        [p.name for p in spec.params],
        [p.type for p in spec.params],
        comment,
    )


@each(list(REGISTRY))
def test_rows_say_first_which_trace_they_are_of(spec: Spec) -> None:
    """A view of single traces takes and gives run, worker and span, in this order and first.

    One that takes workers together, which test_every_view lists, has the others.
    """
    if "span" in {column.name for column in spec.columns}:
        keys = [name for name in KEYS if name != "worker" or spec.object_name not in TAKEN_TOGETHER]
        assert [column.name for column in spec.columns[: len(keys)]] == keys
        assert [param.name for param in spec.params[: len(keys)]] == keys


def test_a_view_explains_its_emptiness_by_checks_that_exist() -> None:
    checks = REGISTRY.get("trace_quality").sql
    needs = {check for view in REGISTRY for check in view.needs}
    assert {check for check in needs if f"'{check}'" not in checks} == set()


def test_notes_are_blocks_that_say_what_is_missing_in_a_trace() -> None:
    notes = {name for view in REGISTRY for name in view.notes}
    assert notes
    for name in notes:
        columns = [column.name for column in REGISTRY.named(name).columns]
        assert columns == ["run", "worker", "span", "message"]


@each(FUNCTIONS + MACROS)
def test_there_is_a_test_file(spec: Spec) -> None:
    assert (FOLDERS[spec.kind] / f"{spec.object_name}.test").is_file()


def test_every_test_file_tests_something_that_exists() -> None:
    tested = {path.stem for folder in FOLDERS.values() for path in folder.glob("*.test")}
    assert tested <= {spec.object_name for spec in FUNCTIONS + MACROS}


@each(REGISTRY.tables())
def test_every_column_of_a_table_is_typed_and_explained(tables: Tables, spec: Spec) -> None:
    described = tables.con.execute(f"DESCRIBE {spec.name}").fetchall()
    assert [row[:2] for row in described] == [(c.name, c.type) for c in spec.columns]
    assert [c.name for c in spec.columns][:3] == ["run", "worker", "span"]


@each(REGISTRY.tables())
def test_a_warehouse_holds_the_columns_that_the_tables_promise(
    corpus: tracewh.Warehouse, spec: Spec
) -> None:
    described = corpus.sql(f"DESCRIBE {spec.name}").fetchall()
    assert [row[:2] for row in described] == [(c.name, c.type) for c in spec.columns]


@each([view for view in REGISTRY if view not in OF_TRACES or is_replay(view)])
def test_every_view_runs_on_real_traces(corpus: tracewh.Warehouse, spec: Spec) -> None:
    """Those that tests/cli/output/test_empty_result.py does not ask for the rows of all of them.

    tests/parity/test_what_if.py replays each trace, which what_if_best would do forty times.
    """
    run, other = corpus.sql("SELECT DISTINCT run FROM traces ORDER BY run LIMIT 2").fetchall()
    given: dict[str, str | int] = {
        p.name: run[0] for p in spec.params if p.required and p.type == "VARCHAR"
    }
    if "experiment" in given:
        given["experiment"] = other[0]
    if "figure" in given:
        given["figure"] = "step_us"
    if spec.name == "what_if_best":
        given |= {"run": "h100_bert_2025", "most": 1}
    table = corpus.view(spec.name, spec.version, **given).to_arrow_table()
    assert table.column_names == [column.name for column in spec.columns]


def test_views_lists_every_view_with_all_that_its_header_says(tables: Tables) -> None:
    rows = tables.con.execute("FROM views()").fetchall()
    assert rows == [
        (
            view.name,
            view.object_name,
            view.version,
            view in REGISTRY.newest(),
            view.group,
            view.summary,
            [
                {
                    "name": p.name,
                    "type": p.type,
                    "default": p.default,
                    "unit": p.unit,
                    "meaning": p.meaning,
                }
                for p in view.params
            ],
            [
                {"name": c.name, "type": c.type, "unit": c.unit, "meaning": c.meaning}
                for c in view.columns
            ],
            view.deprecated or None,
            view.doc,
            view.distributes,
        )
        for view in REGISTRY
    ]
    assert {view.group for view in REGISTRY} <= set(GROUPS)


def test_no_name_means_two_things() -> None:
    """A table, slice or view is an attribute of Warehouse, and must not hide one of its own."""
    tables = [spec.name for spec in (*REGISTRY.tables(), *REGISTRY.slices())]
    views = [view.name for view in REGISTRY.newest()]
    own = [name for name in vars(tracewh.Warehouse) if not name.startswith("_")]
    names = [*tables, *views, *own, "path", "registry"]
    assert sorted(set(names)) == sorted(names)


def test_released_views_still_promise_the_same() -> None:
    """Lines are only ever added to released.txt. A line that has to change is a new version.

    Parameters that may be left out may follow those that were released: calls say the same then.
    """
    released = (TESTS / "released.txt").read_text("utf-8").splitlines()
    kept = [promise(replace(view, params=params)) for view in REGISTRY for params in before(view)]
    assert set(released) <= set(kept)


def before(view: Spec) -> Iterator[tuple[Param, ...]]:
    """The parameters of a view, and what they may have been before some were added."""
    params = view.params
    yield params
    while params and not params[-1].required:
        params = params[:-1]
        yield params
