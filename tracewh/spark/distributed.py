"""Run a view on groups of traces separately. The tasks of a cluster use it; it needs no cluster itself.

The line `distributes:` in the header of a view names the group that its rows depend on. With
`distributes: run`, the rows of a run depend only on the traces of that run. So each task can run the view on
one run or several, and the results together are the whole result.

A view with partial queries (tracewh/views/partial_queries.py) combines their rows instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from tracewh.arrow_batches import read_batches
from tracewh.storage.layout import KEYS, replaying_run
from tracewh.temporary import temporary
from tracewh.views.listing import Listing, Trace
from tracewh.views.needed_traces import reads_captures
from tracewh.views.partial_queries import KEY, combined_names, create_combined, partial_sql
from tracewh.views.registry import ArgumentError, Call, installed
from tracewh.views.spec import Spec
from tracewh.views.trace_groups import divide, group_keys, groups_of
from tracewh.views.warehouse import SLOW_OPTIMIZER, create, plan_without

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows per batch of a result.
ROWS = 10_000

#: Settings of DuckDB that limit its use of the machine.
Settings = Mapping[str, Any]


def select_traces(call: Call, listing: Listing) -> Listing:
    """The traces that the result of a call can depend on, by the names in its arguments."""
    values = call.values
    if sides := _sides(call):
        traces = [
            trace
            for trace in listing.traces
            if any(
                (trace.run == values[side] and _matches(trace, values, KEYS[1:], f"{side}_"))
                or _is_captured_for(call, trace, values[side])
                for side in sides
            )
        ]
    else:
        keys = group_keys(call.distributes)
        traces = [
            trace
            for trace in listing.traces
            if _matches(trace, values, keys) or _is_captured_for(call, trace, values.get("run"))
        ]
    if (pattern := values.get("runs")) is not None:
        with duckdb.connect() as con:
            sql = "SELECT list_filter($1::VARCHAR[], lambda run: run GLOB $2)"
            found = con.execute(sql, [[trace.run for trace in traces], pattern]).fetchall()
        traces = [trace for trace in traces if trace.run in found[0][0]]
    return listing.only(traces)


def first_traces(call: Call, listing: Listing) -> Listing:
    """The first trace of each side of a comparison: all that a call without partial queries reads."""
    wanted = set()
    with _connected() as con:
        create(con, installed(), ["traces", "first_trace"], listing)
        for side in _sides(call):
            names = [call.values.get(name) for name in (side, f"{side}_worker", f"{side}_span")]
            wanted.update(con.execute("FROM first_trace($1, $2, $3)", names).fetchall())
    return listing.only(trace for trace in listing.traces if trace.keys in wanted)


def split_into_tasks(
    listing: Listing, size: str, most: int, call: Call | None = None
) -> list[Listing]:
    """Distribute the groups of a listing over at most `most` tasks with about as many bytes each, in order.

    Args:
        listing: The traces.
        size: The size of a group: trace, worker, run or warehouse. No group is split.
        most: Maximum number of tasks.
        call: The call; if its view reads captured graphs, a run and its captures are one group.
    """

    def weight(group: list[Trace]) -> int:
        return 1 + sum(file.bytes for trace in group for file in trace.files.values())

    view = call.view if call else None
    groups = groups_of(listing.traces, lambda trace: trace.keys, size, view)
    return [listing.only(chain(*part)) for part in divide(groups, weight, most)]


def restrict_to_tables(sql: str, listing: Listing, given: Iterable[str] = ()) -> Listing:
    """A listing with only the files that a query reads.

    Args:
        sql: The query.
        listing: The traces.
        given: Macros and tables whose rows the query gets from elsewhere.
    """
    tables = {table.name for table in installed().tables()} & set(installed().needs(sql, given))
    return listing.only(
        replace(trace, files={name: trace.files[name] for name in tables & trace.files.keys()})
        for trace in listing.traces
    )


def files_to_combine(call: Call, listing: Listing) -> Listing:
    """The files that `combine` reads besides the partial rows."""
    return restrict_to_tables(call.sql, listing, combined_names(call))


def empty_result(call: Call) -> pa.Table:
    """The result of a call without traces: column names and types, and for a few views a row.

    Raises:
        ArgumentError: The view rejects an argument, whatever the traces are.
    """
    try:
        with _connected() as con:
            installed().create(con, installed().needs(call.sql))
            found = con.sql(call.sql)
            # LIMIT 0, or the view would report the block as unknown: which blocks exist depends on the traces.
            return (found.limit(0) if call.values.get("block") else found).to_arrow_table()
    except duckdb.InvalidInputException as error:  # views reject arguments with error('...')
        raise ArgumentError(str(error).removeprefix("Invalid Input Error: ")) from None


def run_query(sql: str, settings: Settings, listing: Listing) -> Iterator[pa.RecordBatch]:
    """The rows of a query over the traces of a listing, in their order."""
    with _connected(settings) as con:
        create(con, installed(), installed().needs(sql), listing)
        yield from read_batches(con.sql(sql).to_arrow_reader(ROWS))


def partial_schema(call: Call) -> pa.Schema:
    """The schema of `partial_rows`."""
    with _connected() as con:
        installed().create(con, installed().needs(" ".join(call.view.combines)))
        return con.sql(partial_sql(call)).to_arrow_table().schema


def partial_rows(call: Call, settings: Settings, listing: Listing) -> Iterator[pa.RecordBatch]:
    """The rows of all partial queries over the traces of a listing; see `partial_sql`."""
    with _connected(settings) as con:
        create(con, installed(), installed().needs(" ".join(call.view.combines)), listing)
        yield from read_batches(con.sql(partial_sql(call)).to_arrow_reader(ROWS))


def combine(
    call: Call, settings: Settings, listing: Listing, rows: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The result of a call, or its rows for some groups, from the partial rows of all their traces.

    Args:
        call: The call.
        settings: Settings of DuckDB.
        listing: The result of `files_to_combine`.
        rows: Batches of `partial_rows`.
    """
    import pyarrow as pa

    batches = iter(rows)
    if (first := next(batches, None)) is None:
        return
    reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
    with _connected(settings) as con:
        con.register("incoming", reader)
        con.execute("CREATE SCHEMA parts; CREATE TABLE parts.rows AS FROM incoming")
        if call.distributes != "warehouse":
            runs = {
                run for (run,) in con.execute(f"SELECT DISTINCT {KEY} FROM parts.rows").fetchall()
            }
            listing = listing.only(trace for trace in listing.traces if trace.run in runs)
        create_combined(con, installed(), call)
        create(con, installed(), installed().needs(call.sql, combined_names(call)), listing)
        yield from read_batches(con.sql(call.sql).to_arrow_reader(ROWS))


def sort_rows(
    con: duckdb.DuckDBPyConnection, view: Spec, rows: pa.Table
) -> duckdb.DuckDBPyRelation:
    """Sort the rows of all groups in the order of the view, and cast text to the JSON type where it is JSON.

    Rows that are equal in this order stay in the order in which they arrived.
    """
    con.register("answer", rows)
    columns = ", ".join(f'CAST("{c.name}" AS {c.type}) AS "{c.name}"' for c in view.columns)
    return con.sql(
        f"SELECT {columns} FROM (SELECT *, row_number() OVER () AS place FROM answer)"
        f" ORDER BY {view.order}, place"
    )


@contextmanager
def _connected(settings: Settings | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A new DuckDB database that spills to a new folder, inside the `temp_directory` of the settings."""
    config = dict(settings or {})
    where = config.pop("temp_directory", None)
    with (
        temporary(Path(str(where)) if where else None) as folder,
        duckdb.connect(config={**config, "temp_directory": str(folder)}) as con,
    ):
        plan_without(con, SLOW_OPTIMIZER)
        yield con


def _sides(call: Call) -> list[str]:
    """The parameters that name runs to compare: baseline and experiment, or none."""
    names = [param.name for param in call.view.params]
    return [name for name in names if f"{name}_worker" in names]


def _is_captured_for(call: Call, trace: Trace, run: str | None) -> bool:
    """Whether a trace may hold captured graphs that a call for a run looks for."""
    return (
        replaying_run(trace.run) != trace.run
        and (run is None or replaying_run(trace.run) == replaying_run(run))
        and reads_captures(call.view.object_name)
    )


def _matches(
    trace: Trace, values: Mapping[str, Any], keys: Iterable[str], prefix: str = ""
) -> bool:
    """Whether a trace has the names in the arguments, compared for some of the keys."""
    return all(values.get(prefix + key) in (None, getattr(trace, key)) for key in keys)
