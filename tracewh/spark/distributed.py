"""Compute a view for groups of traces separately, as the tasks of a cluster do. This module knows no cluster.

The header of a view says what its rows depend on. With `distributes: run`, the rows of a run depend on the
traces of that run alone. So the view can run on one run or several at a time, and the results together are the
whole result.

`combines:` names what can be computed trace by trace before that: calls of blocks and views, and tables. The
view then reads the rows of these. It is the same SQL, whatever it reads from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from tracewh.storage.layout import KEYS
from tracewh.temporary import temporary
from tracewh.views.listing import Listing, Trace
from tracewh.views.registry import ArgumentError, Call, installed
from tracewh.views.spec import SIZES, Spec
from tracewh.views.warehouse import create

if TYPE_CHECKING:
    import pyarrow as pa

#: So many rows come at once.
ROWS = 10_000

#: The column of `parts` that says which group a row is of.
KEY = "key"

#: Settings of DuckDB that say how much of the machine it may take.
Share = Mapping[str, Any]


def touched(call: Call, listing: Listing) -> Listing:
    """The traces that the answer can depend on, by the names that the caller gave."""
    values = call.values
    if sides := _sides(call):
        traces = [
            trace
            for trace in listing.traces
            if any(
                trace.run == values[side] and _is_of(trace, values, KEYS[1:], f"{side}_")
                for side in sides
            )
        ]
    else:
        keys = _keys(call.view.distributes)
        traces = [trace for trace in listing.traces if _is_of(trace, values, keys)]
    if (pattern := values.get("runs")) is not None:
        with duckdb.connect() as con:
            sql = "SELECT list_filter($1::VARCHAR[], lambda run: run GLOB $2)"
            found = con.execute(sql, [[trace.run for trace in traces], pattern]).fetchall()
        traces = [trace for trace in traces if trace.run in found[0][0]]
    return listing.only(traces)


def combines(call: Call) -> tuple[str, ...]:
    """The calls and tables that are computed trace by trace; none for a block, which is about two traces."""
    return () if call.values.get("block") is not None else call.view.combines


def first_traces(call: Call, listing: Listing) -> Listing:
    """The one trace of each side that is read where nothing is combined."""
    wanted = set()
    with _connected() as con:
        create(con, installed(), ["traces", "first_trace"], listing)
        for side in _sides(call):
            names = [call.values.get(name) for name in (side, f"{side}_worker", f"{side}_span")]
            wanted.update(con.execute("FROM first_trace($1, $2, $3)", names).fetchall())
    return listing.only(trace for trace in listing.traces if trace.keys in wanted)


def packed(listing: Listing, size: str, most: int) -> list[Listing]:
    """The groups of a size, in order, as listings for `most` tasks with about as many bytes each."""
    keys = len(_keys(size))
    groups = [list(g) for _, g in groupby(listing.traces, lambda trace: trace.keys[:keys])]
    weights = [1 + sum(f.bytes for trace in g for f in trace.files.values()) for g in groups]
    tasks: dict[int, list[Trace]] = {}
    before = 0
    for group, weight in zip(groups, weights, strict=True):
        middle = before + weight / 2  # of the group, on the way from the first byte to the last
        tasks.setdefault(int(most * middle / sum(weights)), []).extend(group)
        before += weight
    return [listing.only(task) for task in tasks.values()]


def read_by(sql: str, listing: Listing, given: Iterable[str] = ()) -> Listing:
    """A listing with no more files of its traces than SQL reads where macros and tables are given."""
    tables = {table.name for table in installed().tables()} & set(installed().needs(sql, given))
    return listing.only(
        replace(trace, files={name: trace.files[name] for name in tables & trace.files.keys()})
        for trace in listing.traces
    )


def rest(call: Call, listing: Listing) -> Listing:
    """What `combined` may still read."""
    return read_by(call.sql, listing, map(_called, call.view.combines))


def without_traces(call: Call) -> pa.Table:
    """The answer where there are no traces: names, types, and seldom a row.

    Values that a view refuses whatever it finds are refused here.

    Raises:
        ArgumentError: The view refuses a value.
    """
    try:
        with _connected() as con:
            installed().create(con, installed().needs(call.sql))
            found = con.sql(call.sql)
            # Which blocks there are is for the traces to say.
            return (found.limit(0) if call.values.get("block") else found).to_arrow_table()
    except duckdb.InvalidInputException as error:  # a view refuses a value by error('...')
        raise ArgumentError(str(error).removeprefix("Invalid Input Error: ")) from None


def answer(sql: str, share: Share, listing: Listing) -> Iterator[pa.RecordBatch]:
    """The rows of a query over the traces of a listing, in their order."""
    with _connected(share) as con:
        create(con, installed(), installed().needs(sql), listing)
        yield from con.sql(sql).to_arrow_reader(ROWS)


def parts_schema(call: Call) -> pa.Schema:
    """Names and types of what `parts` gives."""
    with _connected() as con:
        installed().create(con, installed().needs(" ".join(call.view.combines)))
        return con.sql(_parts(con, call)).to_arrow_table().schema


def parts(call: Call, share: Share, listing: Listing) -> Iterator[pa.RecordBatch]:
    """The rows that are computed trace by trace: each has one row of one part, and its group as `key`."""
    with _connected(share) as con:
        create(con, installed(), installed().needs(" ".join(call.view.combines)), listing)
        yield from con.sql(_parts(con, call)).to_arrow_reader(ROWS)


def combined(
    call: Call, share: Share, listing: Listing, rows: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The answer, or that for some of the groups, from the parts of all their traces.

    Args:
        listing: What else the view may have to read, as that of a block where the caller names one.
        rows: What `parts` gave.
    """
    import pyarrow as pa

    batches = iter(rows)
    if (first := next(batches, None)) is None:
        return
    reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
    with _connected(share) as con:
        con.register("incoming", reader)
        con.execute("CREATE SCHEMA parts; CREATE TABLE parts.rows AS FROM incoming")
        if call.view.distributes != "warehouse":
            runs = {
                run for (run,) in con.execute(f"SELECT DISTINCT {KEY} FROM parts.rows").fetchall()
            }
            listing = listing.only(trace for trace in listing.traces if trace.run in runs)
        given = [_called(text) for text in call.view.combines]
        for number, name in enumerate(given):
            con.execute(_in_place(installed().named(name), f"part_{number}"))
        create(con, installed(), installed().needs(call.sql, given), listing)
        yield from con.sql(call.sql).to_arrow_reader(ROWS)


def in_order(con: duckdb.DuckDBPyConnection, view: Spec, rows: pa.Table) -> duckdb.DuckDBPyRelation:
    """The rows of all groups, which came one group after the other, in the order of the view.

    Text of columns that are JSON is JSON again. What the order leaves open stays as it came.
    """
    con.register("answer", rows)
    columns = ", ".join(f'CAST("{c.name}" AS {c.type}) AS "{c.name}"' for c in view.columns)
    return con.sql(
        f"SELECT {columns} FROM (SELECT *, row_number() OVER () AS place FROM answer)"
        f" ORDER BY {view.order}, place"
    )


def _parts(con: duckdb.DuckDBPyConnection, call: Call) -> str:
    """A query for all parts; what it calls is created."""
    declared = ", ".join(param.declaration for param in call.view.params)
    arguments = call.sql.removeprefix(f"FROM {call.view.object_name}")
    key = "''" if call.view.distributes == "warehouse" else f"r.{call.view.distributes}"
    # A row of none of the parts says that somebody looked: no rows at all would be no task.
    queries = [f"SELECT '' AS {KEY}"] if call.view.distributes == "warehouse" else []
    for number, text in enumerate(call.view.combines):
        con.execute(f"CREATE MACRO of_part_{number}({declared}) AS TABLE FROM {text}")
        queries.append(
            f"SELECT {key} AS {KEY}, r AS part_{number} FROM of_part_{number}{arguments} AS r"
        )
    return " UNION ALL BY NAME ".join(queries)


def _in_place(spec: Spec, part: str) -> str:
    """SQL that creates a table, block or view over the rows of a part, which say what it would."""
    columns = ", ".join(f"CAST(r.{part}.{c.name} AS {c.type}) AS {c.name}" for c in spec.columns)
    rows = f"SELECT {columns} FROM parts.rows AS r WHERE r.{part} IS NOT NULL"
    if spec.kind == "table":
        return f"CREATE TABLE {spec.name} AS {rows}"
    wanted = " AND ".join(f"({key} IS NULL OR p.{key} = {key})" for key in KEYS)
    return f"{spec.signature} SELECT p.* FROM ({rows}) AS p WHERE {wanted}"


def _called(text: str) -> str:
    """The table, block or view that a part is of."""
    return re.split(r"\W", text, maxsplit=1)[0]


@contextmanager
def _connected(share: Share | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of its own, which spills into a folder of its own, in the one that `share` names."""
    config = dict(share or {})
    where = config.pop("temp_directory", None)
    with (
        temporary(Path(str(where)) if where else None) as folder,
        duckdb.connect(config={**config, "temp_directory": str(folder)}) as con,
    ):
        yield con


def _sides(call: Call) -> list[str]:
    """The parameters that name runs to compare: baseline and experiment, or none."""
    names = [param.name for param in call.view.params]
    return [name for name in names if f"{name}_worker" in names]


def _is_of(trace: Trace, values: Mapping[str, Any], keys: Iterable[str], prefix: str = "") -> bool:
    """Whether a trace has the names that are given, of those that count."""
    return all(values.get(prefix + key) in (None, getattr(trace, key)) for key in keys)


def _keys(size: str) -> tuple[str, ...]:
    """What the groups of a size are known by."""
    return KEYS[: len(KEYS) - list(SIZES).index(size)]
