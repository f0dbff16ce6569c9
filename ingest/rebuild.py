"""The events of a trace as they were, put together again from its Parquet files.

Each table gives its columns back as the keys they were read from. What stands in `args` or `raw`
is there because a column could not say it exactly, so it wins over the columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb

from tracewh.ingest.tables import Column, derive, tables

_TIMED = {
    "host_events": "start_ns",
    "device_events": "start_ns",
    "memory_records": "time_ns",
    "other_events": "time_ns",
}
#: Columns that were read from elsewhere on the rows of some categories.
_NOT_READ = {("device_events", "device_id"): "has_device_as_process(t.category)"}


def events(folder: Path) -> Iterator[str]:
    """Every event of a trace as JSON text, in the order of the file.

    Args:
        folder: The trace's folder in a warehouse.
    """
    with duckdb.connect() as con:
        for name in tables():
            path = str(folder / f"{name}.parquet").replace("'", "''")
            con.execute(
                f"CREATE VIEW {name} AS FROM read_parquet('{path}', hive_partitioning = false)"
            )
        derive(con, "event_kinds")
        derive(con, "rebuild")
        con.execute("SET VARIABLE base_ns = (SELECT coalesce(t.base_time_ns, 0) FROM traces AS t)")
        con.execute("SET VARIABLE unpadded = (SELECT t.generation = '2024-03' FROM traces AS t)")
        parts = [_table_sql(name, time) for name, time in _TIMED.items()]
        parts += ["FROM rebuilt_flows()", "FROM rebuilt_counter_samples()"]
        rows = con.execute(f"SELECT text FROM ({' UNION ALL '.join(parts)}) ORDER BY event_id")
        while batch := rows.fetchmany(10_000):
            yield from (text for (text,) in batch)


def _table_sql(name: str, time: str) -> str:
    names = {column.name for column in tables()[name].columns}
    category = "raw_category" if "raw_category" in names else "category"
    phase = {"memory_records": "'i'", "other_events": "t.phase"}.get(name, "'X'")
    event_name = "'[memory]'" if name == "memory_records" else "t.name"
    duration = "t.duration_ns" if "duration_ns" in names else "NULL"
    arguments = [_argument(name, column) for column in tables()[name].arguments]
    # In layers: a macro copies what it is given into every place that names it.
    return f"""
    SELECT t.event_id, overlaid(t.members, t.raw) AS text
    FROM (
        SELECT
            t.event_id,
            t.raw,
            present([
                member('ph', to_json({phase})),
                member('cat', to_json(t.{category})),
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
    """A column as the key it was read from; NULL where args has the key or the column says nothing."""
    value = f"to_json(t.{column.name})"
    if column.as_text:
        value = f"to_json('[' || array_to_string(t.{column.name}, ', ') || ']')"
    first, *older = column.keys
    key = f"'{first}'"
    if older:
        # A null under an older key marks that the value stood there.
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
