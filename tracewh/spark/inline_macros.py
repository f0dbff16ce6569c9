"""A view as one query over the tables: what DuckDB does when it expands its macros, done by us.

Other engines have no table macros that take relations by name. Every block, and every view that a
view pins, becomes CTEs of the one query; the same call with the same arguments becomes them once. The
expression of a function takes the place of each of its calls. The house rules make that safe: a bare
name is always a parameter, and a column has its table before it (see tests/sql/test_sql_rules.py).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

import sqlglot
from sqlglot import exp

from tracewh.views.registry import Registry
from tracewh.views.spec import Spec


class InlineError(Exception):
    """A view is not one query, whatever its arguments."""


def inlined(registry: Registry, spec: Spec, arguments: Mapping[str, exp.Expression]) -> exp.Query:
    """The query of a view or slice, calling nothing but functions, in DuckDB's dialect.

    Args:
        registry: What the SQL may call.
        spec: The view or slice.
        arguments: What stands for each of its parameters.
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
    """The CTEs of a query that is being put together, in the order in which they need each other."""

    def __init__(self, registry: Registry) -> None:
        self._specs = {spec.object_name: spec for spec in registry.all()}
        # A CTE of such a name would hide the table from all that follow.
        self._taken = {s.name for s in registry.all() if s.kind in ("table", "slice")}
        self._names: dict[str, str] = {}
        self.ctes: dict[str, exp.Query] = {}
        self.recursive = False

    def query(
        self, spec: Spec, arguments: Mapping[str, exp.Expression], around: ChainMap[str, str]
    ) -> exp.Query:
        """The query of a file, its CTEs moved to ours.

        Args:
            arguments: Of its parameters.
            around: What the caller's CTEs are called here: a block reads them by name.
        """
        # A holder, for what is replaced needs a parent.
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
                self._move(cte, within)
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

    def _move(self, cte: exp.CTE, within: ChainMap[str, str]) -> None:
        recurs = any(table.name == cte.alias for table in cte.this.find_all(exp.Table))
        if recurs:
            self.recursive = True
            within[cte.alias] = self._name(cte.alias)
        self._resolve(cte, within)
        if recurs:
            self.ctes[within[cte.alias]] = cte.this
        else:
            within[cte.alias] = self._add(cte.alias, cte.this)

    def _add(self, name: str, query: exp.Query) -> str:
        """Take a CTE in, unless the same is there already; gives its name."""
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
        """Name what a part of a query reads as it is called here, and inline what it calls."""
        for table in list(part.find_all(exp.Table)):
            call = table.this
            if isinstance(call, exp.Identifier):
                if (own := within.maps[0].get(table.name)) is not None:
                    table.set("this", exp.to_identifier(own))
            elif isinstance(call, exp.Anonymous) and call.name == "query_table":
                (name,) = call.expressions
                if not isinstance(name, exp.Literal):
                    raise InlineError("it reads a relation that the caller names")
                table.set("this", exp.to_identifier(within.get(name.this, name.this)))
            elif isinstance(call, exp.Anonymous) and call.name in self._specs:
                callee = self._specs[call.name]
                query = self.query(callee, _arguments(callee, call), within)
                table.set("this", exp.to_identifier(self._add(callee.object_name, query)))


def _arguments(callee: Spec, call: exp.Anonymous) -> dict[str, exp.Expression]:
    """What a call passes for each parameter, by place, by name or by default."""
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
        # A NULL needs its type, and what is more than a name or a value its parentheses.
        name: exp.cast(value, types[name], dialect="duckdb")
        if isinstance(value, exp.Null)
        else value
        if isinstance(value, (exp.Literal, exp.Column, exp.Cast))
        else exp.paren(value)
        for name, value in given.items()
    }
