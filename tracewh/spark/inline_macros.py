"""Expand a view's macros into one query over the tables, as DuckDB does internally.

Other engines have no table macros that read relations by name. Each block, and each view that a view
calls, becomes CTEs of one query. Calls with the same arguments share their CTEs. A call of a function is
replaced by the expression of the function. The SQL rules of this project make that safe: an unqualified
name is always a parameter, and columns are always qualified (tests/sql/test_sql_rules.py).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace

import sqlglot
from sqlglot import exp

from tracewh.views.empty_blocks import OF_GRAPHS, empty_macro
from tracewh.views.registry import Registry
from tracewh.views.spec import Spec


class InlineError(Exception):
    """A view cannot be expanded into one query."""


def inline_macros(
    registry: Registry, spec: Spec, arguments: Mapping[str, exp.Expression]
) -> exp.Query:
    """The query of a view or slice in DuckDB's dialect, with all table macros expanded.

    Args:
        registry: The views and blocks that the SQL may call.
        spec: The view or slice.
        arguments: The expression for each of its parameters.
    """
    inliner = _Inliner(registry)
    query = inliner.query(spec, arguments, ChainMap())
    ctes = [
        exp.CTE(this=cte, alias=exp.TableAlias(this=exp.to_identifier(name)))
        for name, cte in inliner.ctes.items()
    ]
    if ctes:
        query.set("with_", exp.With(expressions=ctes, recursive=inliner.recursive))
    return query


class _Inliner:
    """Collects the CTEs of a query, in the order of their dependencies."""

    def __init__(self, registry: Registry) -> None:
        self._specs = {spec.object_name: spec for spec in registry.all()}
        # Spark SQL cannot match the replays of graphs.
        for name in OF_GRAPHS:
            spec = self._specs[name]
            self._specs[name] = replace(spec, sql=empty_macro(spec))
        # A CTE with the name of a table would hide the table from all later CTEs.
        self._taken = {s.name for s in registry.all() if s.kind in ("table", "slice")}
        self._names: dict[str, str] = {}
        self.ctes: dict[str, exp.Query] = {}
        self.recursive = False

    def query(
        self, spec: Spec, arguments: Mapping[str, exp.Expression], around: ChainMap[str, str]
    ) -> exp.Query:
        """The query of a view, block or slice, with its CTEs moved to `ctes`.

        Args:
            arguments: The expression for each of its parameters.
            around: The new names of the caller's CTEs. A block reads them by name.
        """
        # A wrapper: sqlglot can only replace nodes that have a parent.
        holder = exp.Subquery(this=sqlglot.parse_one(spec.body.rstrip(";"), dialect="duckdb"))
        for column in list(holder.find_all(exp.Column)):
            if not column.table and column.name in arguments:
                column.replace(arguments[column.name].copy())
        self._expand(holder)
        within = around.new_child()
        query = holder.this
        if with_ := query.args.get("with_"):
            query.set("with_", None)
            for cte in with_.expressions:
                self._add_cte(cte, within)
        self._resolve(holder, within)
        found: exp.Query = holder.this
        return found

    def _expand(self, part: exp.Expression) -> None:
        """Replace calls of functions by their expressions, the inner calls first."""
        for call in reversed(list(part.find_all(exp.Anonymous))):
            callee = self._specs.get(call.name)
            if callee is not None and callee.kind == "function":
                arguments = _arguments(callee, call)
                expression = sqlglot.parse_one(callee.body.rstrip(";"), dialect="duckdb")
                body = exp.Paren(this=expression.unnest())
                for column in list(body.find_all(exp.Column)):
                    column.replace(arguments[column.name].copy())
                self._expand(body)
                call.replace(body)

    def _add_cte(self, cte: exp.CTE, within: ChainMap[str, str]) -> None:
        is_recursive = any(table.name == cte.alias for table in cte.this.find_all(exp.Table))
        if is_recursive:
            self.recursive = True
            within[cte.alias] = self._name(cte.alias)
        self._resolve(cte, within)
        if is_recursive:
            self.ctes[within[cte.alias]] = cte.this
        else:
            within[cte.alias] = self._add(cte.alias, cte.this)

    def _add(self, name: str, query: exp.Query) -> str:
        """Add a CTE unless an identical one exists, and return its name."""
        text = query.sql("duckdb")
        if text not in self._names:
            self._names[text] = self._name(name)
            self.ctes[self._names[text]] = query
        return self._names[text]

    def _name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _resolve(self, part: exp.Expression, within: ChainMap[str, str]) -> None:
        """Rename the CTEs that a part of a query reads, and expand the macros that it calls."""
        for table in list(part.find_all(exp.Table)):
            call = table.this
            if isinstance(call, exp.Identifier):
                if (own := within.maps[0].get(table.name)) is not None:
                    table.set("this", exp.to_identifier(own))
            elif isinstance(call, exp.Anonymous) and call.name == "query_table":
                (name,) = call.expressions
                if not isinstance(name, exp.Literal):
                    raise InlineError("it reads a relation whose name is an argument")
                table.set("this", exp.to_identifier(within.get(name.this, name.this)))
            elif isinstance(call, exp.Anonymous) and call.name in self._specs:
                callee = self._specs[call.name]
                query = self.query(callee, _arguments(callee, call), within)
                table.set("this", exp.to_identifier(self._add(callee.object_name, query)))


def _arguments(callee: Spec, call: exp.Anonymous) -> dict[str, exp.Expression]:
    """The argument of a call for each parameter: positional, named, or the default."""
    given = {
        param.name: sqlglot.parse_one(param.default, dialect="duckdb")
        for param in callee.params
        if not param.required
    }
    for param, argument in zip(callee.params, call.expressions, strict=False):
        if isinstance(argument, exp.PropertyEQ):
            break
        given[param.name] = argument
    given |= {a.name: a.expression for a in call.expressions if isinstance(a, exp.PropertyEQ)}
    types = {param.name: param.type for param in callee.params}
    return {
        # A NULL needs its type, and an expression that is not a name or value needs parentheses.
        name: exp.cast(value, types[name], dialect="duckdb")
        if isinstance(value, exp.Null)
        else value
        if isinstance(value, (exp.Literal, exp.Column, exp.Cast))
        else exp.paren(value)
        for name, value in given.items()
    }
