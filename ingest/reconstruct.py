"""Reconstruct the events of a trace from its Parquet files, as JSON.

Each column becomes the key that it was read from. The trace of another profiler than Kineto becomes a Chrome
trace with the same events, not the file that it was read from.

Values in `args` and `raw` take precedence: they are there because a column could not store them exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from tracewh.quoting import quote_file
from tracewh.schema import Column, later_tables, tables
from tracewh.sql_files import derive

_TIMED = {
    "host_events": "start_ns",
    "device_events": "start_ns",
    "memory_records": "time_ns",
    "other_events": "time_ns",
}
#: Columns whose value does not come from an argument, with the condition on the row.
_NOT_READ = {("device_events", "device_id"): "has_device_as_process(t.category)"}
#: Number of positions in the file to reconstruct at a time, to limit memory.
_AT_A_TIME = 50_000


def events(folder: Path) -> Iterator[str]:
    """Yield every event of a trace as JSON text, in the order of the file.

    Args:
        folder: The trace's folder in a warehouse.
    """
    for batch in batches(folder):
        yield from batch.to_pylist()


def batches(folder: Path, path: pa.Table | None = None) -> Iterator[pa.Array]:
    """Yield every event of a trace as JSON text, in the order of the file, in batches.

    Args:
        folder: The trace's folder in a warehouse.
        path: Critical paths, as for `arrows`. Events on them get the argument `critical` with the value 1.
    """
    with _opened(folder) as con:
        if path is not None:
            con.register("critical_pieces", path)
        last = _last_ids(con)
        # DuckDB takes longer to plan a table than to read a small one: empty ones are left out.
        parts = [
            _table_sql(name, time, path is not None)
            for name, time in _TIMED.items()
            if name in last
        ]
        parts += [f"FROM rebuilt_{name}()" for name in ("flows", "counter_samples") if name in last]
        sql = f"SELECT event_id, text FROM ({' UNION ALL '.join(parts)})"
        for first in range(0, max(last.values(), default=-1) + 1, _AT_A_TIME):
            yield from _texts(
                con,
                f"{sql} WHERE event_id >= {first} AND event_id < {first + _AT_A_TIME}"
                " ORDER BY event_id",
            )


def arrows(folder: Path, path: pa.Table) -> Iterator[pa.Array]:
    """Yield flow events as JSON text: a start and an end wherever a path changes its thread or stream.

    Args:
        folder: The trace's folder in a warehouse.
        path: Critical paths. Each row is a time range in which an event is on a path, with `chain` (the
            number of the path), `event_id`, `start_ns` and `end_ns`.
    """
    with _opened(folder) as con:
        con.register("critical_pieces", path)
        derive(con, "critical_arrows")
        yield from _texts(con, "FROM critical_arrows() ORDER BY flow_id, at_ns")


def head(folder: Path) -> str:
    """Return the top-level keys of a trace other than traceEvents, as a JSON object.

    Args:
        folder: The trace's folder in a warehouse.
    """
    with _opened(folder) as con:
        [(text,)] = con.execute("FROM rebuilt_head()").fetchall()
    return str(text)


def source_of(folder: Path) -> str:
    """Return the name of the source of a trace, e.g. 'kineto' or 'nsys'.

    Args:
        folder: The trace's folder in a warehouse.
    """
    path = quote_file(folder / "traces.parquet")
    with duckdb.connect() as con:
        query = f"SELECT t.source FROM read_parquet({path}, hive_partitioning = false) AS t"
        [(source,)] = con.execute(query).fetchall()
    return source or "kineto"


@contextmanager
def _opened(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        for name in tables().keys() - later_tables():  # those hold no events
            path = quote_file(folder / f"{name}.parquet")
            con.execute(
                f"CREATE VIEW {name} AS FROM read_parquet({path}, hive_partitioning = false)"
            )
        derive(con, "event_kinds")
        derive(con, "written_numbers")
        derive(con, "rebuild")
        con.execute("SET VARIABLE base_ns = (SELECT coalesce(t.base_time_ns, 0) FROM traces AS t)")
        con.execute(
            "SET VARIABLE is_kineto = (SELECT coalesce(t.source, 'kineto') = 'kineto' FROM traces AS t)"
        )
        con.execute("SET VARIABLE unpadded = (SELECT t.generation = '2024-03' FROM traces AS t)")
        yield con


def _last_ids(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the highest event_id of each table; tables without events are not in it."""
    ids = [f"SELECT '{name}', max(event_id) FROM {name}" for name in (*_TIMED, "counter_samples")]
    ids.append("SELECT 'flows', greatest(max(source_event_id), max(target_event_id)) FROM flows")
    rows = con.execute(" UNION ALL ".join(ids)).fetchall()
    return {name: last for name, last in rows if last is not None}


def _texts(con: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.Array]:
    for batch in con.sql(sql).to_arrow_reader(_AT_A_TIME):
        yield batch.column("text")


def _table_sql(name: str, time: str, marked: bool) -> str:
    names = {column.name for column in tables()[name].columns}
    category = "t.raw_category" if "raw_category" in names else "t.category"
    if {"category", "raw_category"} <= names:
        # The words of other profilers say nothing to a viewer of Chrome traces.
        category = "CASE WHEN getvariable('is_kineto') THEN t.raw_category ELSE t.category END"
    phase = {"memory_records": "'i'", "other_events": "t.phase"}.get(name, "'X'")
    event_name = "'[memory]'" if name == "memory_records" else "t.name"
    duration = "t.duration_ns" if "duration_ns" in names else "NULL"
    if name == "host_events":  # an event that two rows of the file tell has no duration in either
        duration = "CASE WHEN coalesce(t.raw ->> '$.ph', 'X') = 'X' THEN t.duration_ns END"
    arguments = [_argument(name, column) for column in tables()[name].arguments]
    if marked and name in ("host_events", "device_events"):
        arguments.append(
            """CASE WHEN t.event_id IN (SELECT c.event_id FROM critical_pieces AS c)
            THEN '"critical":1' END"""
        )
    # Nested, because a macro copies its arguments into every place that uses them.
    return f"""
    SELECT t.event_id, overlaid(t.members, t.raw) AS text
    FROM (
        SELECT
            t.event_id,
            t.raw,
            present([
                member('ph', to_json({phase})),
                member('cat', to_json({category})),
                member('name', to_json({event_name})),
                member('pid', place(t.pid)),
                member('tid', place(t.tid)),
                member('ts', microseconds(t.{time} - getvariable('base_ns'))),
                member('dur', microseconds({duration})),
                '"args":' || rebuilt_args(t.members, t.args)
            ]) AS members
        FROM (SELECT t.*, present([{", ".join(arguments)}]::VARCHAR[]) AS members FROM {name} AS t) AS t
    ) AS t"""


def _argument(table: str, column: Column) -> str:
    """Return SQL for a column as a member of args; NULL if args already has the key, or the column is NULL."""
    value = f"to_json(t.{column.name})"
    if column.as_text:
        value = f"to_json('[' || array_to_string(t.{column.name}, ', ') || ']')"
    first, *older = column.keys
    key = f"'{first}'"
    if older:
        # A null under an older key marks that the event had the value under that key.
        cases = " ".join(
            f"""WHEN json_type(t.args, '$."{name}"') = 'NULL' THEN '{name}'""" for name in older
        )
        key = f"CASE {cases} ELSE '{first}' END"
    said = " OR ".join(
        f"""coalesce(json_type(t.args, '$."{name}"') <> 'NULL', false)""" for name in older
    )
    said = " OR ".join(filter(None, (f"""json_exists(t.args, '$."{first}"')""", said)))
    skip = " OR ".join(filter(None, (said, _NOT_READ.get((table, column.name), ""))))
    return f"CASE WHEN NOT coalesce({skip}, false) THEN member({key}, {value}) END"
