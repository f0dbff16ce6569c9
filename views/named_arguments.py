"""Find an argument of a view that a query passes with `=`.

To DuckDB that is a comparison, whose result becomes the first argument: the view then has no rows, or DuckDB reports
an ambiguous column of its SQL.
"""

from __future__ import annotations

import duckdb

from tracewh.views.registry import ArgumentError, Registry, UnknownViewError


def check_named_arguments(sql: str, registry: Registry) -> None:
    """Refuse a call of a view with `=` between a parameter and its value.

    Raises:
        ArgumentError: There is one.
    """
    tokens = _tokens(sql)
    calls = [""]  # for each open bracket, the word before it
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else ""
        if token in ("(", "[", "{"):
            calls.append(before if token == "(" else "")
        elif token in (")", "]", "}") and len(calls) > 1:
            calls.pop()
        elif token in ("=", "==") and number > 1 and tokens[number - 2] in ("(", ","):
            _check(calls[-1], before.lower(), registry)


def _check(called: str, name: str, registry: Registry) -> None:
    try:
        view = registry.get(called.lower())
    except UnknownViewError:
        return
    if any(param.name == name for param in view.params):
        raise ArgumentError(
            f"{called}: in SQL an argument has := after its name, as in {called}({name} := ...); "
            f"{name} = ... is a comparison"
        )


def _tokens(sql: str) -> list[str]:
    """Return the words and operators of an SQL text, without comments and without the quotes of names."""
    text = sql.encode()  # the positions of tokens are bytes
    found = duckdb.tokenize(sql)
    ends = [start for start, _ in found[1:]] + [len(text)]
    return [
        text[start:end].decode().strip().strip('"')
        for (start, kind), end in zip(found, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]
