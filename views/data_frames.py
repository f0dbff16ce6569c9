"""Let a query read the data frames of whoever asks, and none of the variables of this package."""

from __future__ import annotations

import inspect
import re
import sys
from types import FrameType

import duckdb

#: DuckDB looks for data frames in the function that calls it: here only in what is given to this one.
_CALL = compile("_tracewh_sql(_tracewh_query, params=_tracewh_params)", __file__, "eval")


def variables_of_caller(query: str) -> dict[str, object]:
    """Return the variables whose names are words of a query, of the nearest callers outside of this package."""
    words = set(re.findall(r"\w+", query))
    found: dict[str, object] = {}
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and words:
        if str(frame.f_globals.get("__name__")).partition(".")[0] != "tracewh":
            code = frame.f_code
            local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
            scopes = [frame.f_globals]
            # Python copies the variables of a function, and the copy keeps all of them for as long as that runs.
            if not (code.co_flags & inspect.CO_OPTIMIZED and words.isdisjoint(local)):
                scopes.insert(0, frame.f_locals)
            for scope in scopes:
                found |= {word: scope[word] for word in words if word in scope}
                words.difference_update(found)
        frame = frame.f_back
    return found


def sql_with(
    variables: dict[str, object], con: duckdb.DuckDBPyConnection, query: str, params: object
) -> duckdb.DuckDBPyRelation:
    """Plan a query, which finds these variables where it names no table.

    Args:
        variables: What `variables_of_caller` returns.
        con: The database.
        query: The query.
        params: Values for its placeholders.
    """
    names = {"_tracewh_sql": con.sql, "_tracewh_query": query, "_tracewh_params": params}
    planned: duckdb.DuckDBPyRelation = eval(_CALL, names, variables)
    return planned
