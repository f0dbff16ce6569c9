"""House rules for the .sql files that neither DuckDB nor sqlfluff checks for us.

The reasons are bugs that run without an error. In a DuckDB macro a bare name that equals a
parameter *is* the parameter, so `WHERE step = step` is always true. And a block that reads a
relation by name reads its own CTE instead when the two happen to be called the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from tracewh.views import Spec
from tracewh.views.registry import installed
from tracewh.views.spec import parse

MACROS = [spec for spec in installed().all() if spec.kind in ("block", "view")]
FUNCTIONS = [spec for spec in installed().all() if spec.kind == "function"]
TABLES = {spec.name for spec in installed().all() if spec.kind in ("table", "slice")}
each_macro = pytest.mark.parametrize("spec", MACROS, ids=lambda spec: spec.object_name)


@cache
def tree(spec: Spec) -> exp.Expr:
    """The body of a macro. sqlglot 30 cannot read a CREATE MACRO line with typed defaults."""
    return sqlglot.parse_one(spec.body, dialect="duckdb")


def body(spec: Spec) -> exp.Query:
    """The query of a table macro."""
    query = tree(spec)
    assert isinstance(query, exp.Query)
    return query


def bare_names(spec: Spec) -> set[str]:
    """Names without a table before them, but for those that a lambda brings along."""
    query = tree(spec)
    brought = {name.name for lam in query.find_all(exp.Lambda) for name in lam.expressions}
    return {c.name for c in query.find_all(exp.Column) if not c.table} - brought


@each_macro
def test_a_bare_name_is_a_parameter_and_a_dotted_name_is_a_column(spec: Spec) -> None:
    assert bare_names(spec) <= {param.name for param in spec.params}


@pytest.mark.parametrize("spec", FUNCTIONS, ids=lambda spec: spec.object_name)
def test_a_function_reads_its_parameters_and_nothing_else(spec: Spec) -> None:
    """A name with a table before it would be looked up in whatever query calls the function."""
    names = {column.sql() for column in tree(spec).find_all(exp.Column)}
    assert names == {param.name for param in spec.params}
    assert not tree(spec).find(exp.Query)


@each_macro
def test_only_blocks_have_ctes_that_start_with_an_underscore(spec: Spec) -> None:
    names = {cte.alias for cte in body(spec).find_all(exp.CTE)}
    assert {name for name in names if name.startswith("_") != (spec.kind == "block")} == set()


@each_macro
def test_a_table_is_not_a_cte_of_the_query_that_calls_a_macro(spec: Spec) -> None:
    query = body(replace(spec, sql=installed().qualified(spec)))
    read = {(table.db, table.name) for table in query.find_all(exp.Table)}
    assert {db for db, name in read if name in TABLES} <= {"main"}
    assert {name for db, name in read if db} <= TABLES
    assert TABLES.isdisjoint(cte.alias for cte in query.find_all(exp.CTE))


def sorts_names(select: exp.Select) -> bool:
    """Whether a SELECT sorts or collects rows that still have the list of all traces, as trace_names gives it."""

    def own(kind: type[exp.Expr]) -> list[exp.Expr]:
        return [each for each in select.find_all(kind) if each.find_ancestor(exp.Select) is select]

    lists = [column for column in own(exp.Column) if column.name == "names"]
    collected = any(column.find_ancestor(exp.AggFunc, exp.Select) is not select for column in lists)
    return bool(lists) and (bool(own(exp.Window)) or collected)


@each_macro
def test_no_row_that_is_sorted_holds_the_names_of_all_traces(spec: Spec) -> None:
    """DuckDB would write the list into each row, which takes the square of the traces."""
    assert not any(map(sorts_names, body(spec).find_all(exp.Select)))


@each_macro
def test_no_star_reaches_the_result(spec: Spec) -> None:
    assert not any(column.is_star for column in body(spec).selects)


def test_the_sql_folder_holds_nothing_but_sql() -> None:
    """An __init__.py here would hide jupysql, whose import name is `sql`, without an error."""
    files = [path for path in (Path(__file__).parents[2] / "sql").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".sql"}


def test_the_rules_catch_what_they_are_for() -> None:
    text = """\
-- view: wrong
-- version: 1
-- since: 0.1
-- summary: Breaks the first rule.
-- distributes: trace
-- order: step
--
-- params
--   step  BIGINT  -  NULL  Step.
-- columns
--   step  BIGINT  -  Step.
CREATE MACRO wrong_v1(step BIGINT := NULL) AS TABLE
    SELECT s.step, list_transform([1], lambda x: x + 1) FROM steps AS s WHERE step = name
"""
    assert bare_names(parse(text, "views/overview/wrong_v1.sql")) == {"step", "name"}
    numbered = "SELECT list_position(t.names, s.run) AS trace{} FROM steps AS s CROSS JOIN trace_names() AS t"
    for more, sorts in {
        "": False,
        ", row_number() OVER (ORDER BY s.step) AS number": True,
        ", any_value(t.names) AS names": True,
        ", count(*) AS steps": False,
    }.items():
        assert sorts_names(sqlglot.parse_one(numbered.format(more)).assert_is(exp.Select)) == sorts
