"""Link the rows of a trace and write one Parquet file per table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from tracewh.ingest.link.link_tasks import LINK_TASKS
from tracewh.ingest.link.task_graph import Running, Task, run_tasks
from tracewh.schema import Table, tables
from tracewh.sql_files import create_block, create_function, create_table, derive, query
from tracewh.storage.parquet import write_parquet

#: Version of the Parquet layout. Increase it when a table or column is renamed or dropped.
LAYOUT_VERSION = 1
#: Traces with fewer events are compressed harder: the schemas of a dozen tables are as large as their events,
#: and it takes no noticeable time.
FEW_EVENTS = 10_000
#: The link tasks that a table needs. Tables that take long come first.
NEEDS = {
    "host_events": ("costs",),
    "step_activity": ("steps",),
    "device_events": ("launches",),
    "steps": ("steps",),
    "memory_records": ("links_in_order",),
    "flows": ("flows",),
    "stacks": ("stacks",),
    "graphs": ("graphs",),
    "graph_nodes": ("graphs",),
    "traces": (),
}
#: Temporary tables to drop, to free memory, and the files that must be written before.
DROPS = {
    "drop flows": (("raw_flow", "linked_flows"), ("flows.parquet", "traces.parquet")),
    "drop memory": (("raw_memory", "memory_links"), ("memory_records.parquet",)),
}
#: For each kind of events, the tasks that a trace without such events does not need, and the tables that are
#: then empty. What these tasks would write is ready-made.
WITHOUT = {
    "flow": (("flows", "drop flows"), ("flows",)),
    "memory": (("drop memory",), ("memory_records",)),
    "device": (("launched", "launches"), ("device_events", "counters")),
    "counter": ((), ("counter_samples",)),
    "other": ((), ("other_events", "processes")),
    "pipeline_operators": ((), ("data_pipeline_operators",)),
    "pipeline_batches": ((), ("data_pipeline_batches",)),
    "pipeline_operations": ((), ("pipeline_operations",)),
}
#: The tables whose rows may lack columns that are NULL in the whole trace, and do not take memory then.
NARROW = ("host_events", "device_events")
#: The tables of CUDA graphs, which few traces have.
GRAPHS = ("graphs", "graph_nodes")
#: Parquet files without rows, by table and level of compression.
_EMPTY: dict[tuple[str, int], bytes] = {}
#: Tasks to start first: those that free memory, and the tasks that they need.
FIRST = (
    *("flows", "traces.parquet", "flows.parquet", "drop flows"),
    *("nesting", "stacks", "links_in_order", "memory_records.parquet", "drop memory"),
)
#: The blocks that linking calls, in the order in which they call each other, and the tables that they read.
BLOCKS = (
    *("kernel_patterns", "tensor_core_operators"),
    *("event_roles", "interval_totals", "merged_intervals", "step_slots"),
    *("step_intervals", "step_roles"),
)
BLOCK_TABLES = ("traces", "host_events", "device_events", "steps")
#: The largest base time, in the year 2096: sums with the largest times and durations stay within 64 bits.
MOST_BASE_NS = 4 * 10**18


def create_link_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Create the macros that linking calls.

    Args:
        con: Connection to a database with the raw tables.
    """
    create_function(con, "is_wanted")
    # DuckDB checks that the tables of a macro exist. Each trace creates them later as views.
    for table in BLOCK_TABLES:
        create_table(con, table)
    for block in BLOCKS:
        create_block(con, block)
    for table in BLOCK_TABLES:
        con.execute(f"DROP TABLE {table}")
    con.execute("CREATE MACRO base_ns() AS 0::BIGINT")
    derive(con, "out_traces")
    derive(con, "device_links")


def write_trace(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    metadata: Mapping[str, Any],
    source: Mapping[str, Any],
    reasons: Mapping[str, int],
    running: Running,
    at_once: int,
) -> int:
    """Link the rows of a trace, and write all of its tables to a folder.

    Args:
        con: Connection to the database with the raw tables and the macros of `create_link_macros`.
        folder: An existing, empty folder.
        metadata: The file's top-level keys besides traceEvents.
        source: Values for the columns of `traces` that do not come from events.
        reasons: Counts of what was odd, repaired or skipped, by reason.
        running: See `run_tasks`.
        at_once: Maximum number of statements that run at the same time.

    Returns:
        The number of bytes written.
    """
    if base_ns := base_time_ns(metadata):
        # A macro, because a variable belongs to one connection.
        con.execute(f"CREATE OR REPLACE MACRO base_ns() AS {base_ns}::BIGINT")
    # These return the relation with the rows of a table. The rows of all others are those of one query.
    prepare: dict[str, Callable[[duckdb.DuckDBPyConnection], str]] = {
        "traces": partial(_traces, metadata=metadata, source=source, reasons=reasons),
        "devices": partial(_devices, metadata=metadata),
        "host_events": _host_events,
        "step_activity": partial(_step_activity, metadata=metadata),
        # Their link tasks wrote the rows.
        "stacks": lambda _: "out_stacks",
        "graphs": lambda _: "out_graphs",
        "graph_nodes": lambda _: "out_graph_nodes",
    }
    level = 12 if source["events"] < FEW_EVENTS else 3
    missing = [WITHOUT[kind] for kind in WITHOUT.keys() - _kinds(con)]
    left_out = {task for tasks, _ in missing for task in tasks}
    empty = {table for _, tables in missing for table in tables}
    if not _device_properties(metadata):
        empty.add("devices")

    def write_table(con: duckdb.DuckDBPyConnection, name: str) -> None:
        if name in empty:
            _write_empty(con, tables()[name], folder, level)
            return
        rows = prepare[name](con) if name in prepare else f"({query(f'out_{name}')})"
        if name in GRAPHS and not con.execute(f"FROM {rows} LIMIT 1").fetchone():
            _write_empty(con, tables()[name], folder, level)
            return
        _write(con, tables()[name], rows, folder, level)

    def writing(name: str) -> Task:
        return Task(partial(write_table, name=name), NEEDS.get(name, ()))

    files = {
        f"{name}.parquet": writing(name) for name in [*NEEDS, *sorted(tables().keys() - NEEDS)]
    }
    drops = {
        name: Task(partial(_drop, names=names), needs) for name, (names, needs) in DROPS.items()
    }
    tasks = LINK_TASKS | files | drops
    tasks |= {name: Task(lambda _: None, tasks[name].needs) for name in left_out}
    run_tasks(con, {name: tasks[name] for name in [*FIRST, *tasks]}, running, at_once)
    return sum(path.stat().st_size for path in folder.iterdir())


def _write(
    con: duckdb.DuckDBPyConnection, table: Table, rows: str, folder: Path, level: int
) -> None:
    known = {column.name for column in table.columns}
    if table.name in NARROW:
        known = {name for name, *_ in con.execute(f"DESCRIBE FROM {rows} AS t").fetchall()}
    columns = ", ".join(
        f"{f't.{column.name}' if column.name in known else 'NULL'}::{column.type} AS {column.name}"
        for column in table.columns
    )
    # Rows stay in the order of the file. Each kind of event is sorted by time in it, so a time range is in
    # few row groups, and nothing needs sorting.
    write_parquet(
        con, f"SELECT {columns} FROM {rows} AS t", folder / f"{table.name}.parquet", level
    )


def _write_empty(con: duckdb.DuckDBPyConnection, table: Table, folder: Path, level: int) -> None:
    """Write a file without rows. DuckDB writes the first of a process, which is kept."""
    path = folder / f"{table.name}.parquet"
    known = _EMPTY.get((table.name, level))
    if known is not None:
        path.write_bytes(known)
        return
    columns = ", ".join(f"NULL AS {column.name}" for column in table.columns)
    _write(con, table, f"(SELECT {columns} WHERE false)", folder, level)
    _EMPTY[table.name, level] = path.read_bytes()


def _kinds(con: duckdb.DuckDBPyConnection) -> set[str]:
    """The kinds of events that the trace has."""
    kinds = " UNION ALL ".join(f"(SELECT '{kind}' FROM raw_{kind} LIMIT 1)" for kind in WITHOUT)
    kinds += " UNION ALL (SELECT 'counter' FROM raw_samples LIMIT 1)"
    return {kind for (kind,) in con.execute(kinds).fetchall()}


def _drop(con: duckdb.DuckDBPyConnection, names: tuple[str, ...]) -> None:
    for name in names:
        con.execute(f"DROP TABLE {name}")


def base_time_ns(metadata: Mapping[str, Any]) -> int:
    """The base time to add to each time of the file; 0 if its times are absolute."""
    return _integer(metadata.get("baseTimeNanoseconds"), MOST_BASE_NS) or 0


def _host_events(con: duckdb.DuckDBPyConnection) -> str:
    derive(con, "out_host_events")
    return "out_host_events"


def _step_activity(con: duckdb.DuckDBPyConnection, metadata: Mapping[str, Any]) -> str:
    derive(con, "out_step_activity")
    distributed = _distributed(metadata)
    con.execute(
        "CREATE TABLE traces AS SELECT '' AS run, '' AS worker, '' AS span,"
        " $backend AS backend, $metadata::JSON AS metadata",
        {
            "backend": _text(distributed.get("backend")),
            "metadata": json.dumps({"distributedInfo": distributed}),
        },
    )
    con.execute("CREATE TABLE role_intervals AS FROM step_intervals()")
    return "step_roles('role_intervals')"


def _distributed(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The `distributedInfo` of a file; empty if it is missing or not an object."""
    found = metadata.get("distributedInfo")
    return found if isinstance(found, dict) else {}


def _traces(
    con: duckdb.DuckDBPyConnection,
    metadata: Mapping[str, Any],
    source: Mapping[str, Any],
    reasons: Mapping[str, int],
) -> str:
    distributed = _distributed(metadata)
    rank = _integer(distributed.get("rank"))
    if rank is None and (named := re.search(r"rank[-_ ]?(\d+)", source["trace_name"])):
        rank = int(named[1])
    values: dict[str, Any] = {
        **source,
        "schema_version": _integer(metadata.get("schemaVersion")),
        "base_time_ns": _integer(metadata.get("baseTimeNanoseconds"), MOST_BASE_NS),
        "framework": _text(metadata.get("Framework")),
        "hostname": _text(metadata.get("host_name") or metadata.get("hostname")),
        "rank": rank,
        "world_size": _integer(distributed.get("world_size")),
        "backend": _text(distributed.get("backend")),
        "skipped_reasons": json.dumps(reasons, sort_keys=True),
        "metadata": json.dumps({k: v for k, v in metadata.items() if not _has_column(k, v)}),
        "layout_version": LAYOUT_VERSION,
        "ingested_at": datetime.now(UTC),
    }
    columns = ", ".join(
        f"${name} AS {name}"
        for name in values
        if name not in ("hostname", "generation", "unpadded")
    )
    con.execute(
        f"CREATE TABLE out_traces AS SELECT {columns}, f.* REPLACE ("
        " coalesce($generation, f.generation) AS generation),"
        " coalesce($hostname, f.worker_hostname) AS hostname"
        " FROM trace_facts($base_time_ns, $worker, $unpadded) AS f",
        values,
    )
    return "out_traces"


def _has_column(key: str, value: Any) -> bool:
    """Whether a column of `traces` or `devices` stores the value of a top-level key exactly."""
    if key in ("schemaVersion", "baseTimeNanoseconds"):
        most = MOST_BASE_NS if key == "baseTimeNanoseconds" else 2**31 - 1
        return type(value) is int and abs(value) <= most
    if key == "Framework":
        return _text(value) is not None
    if key == "deviceProperties":
        return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)
    return False


def _devices(con: duckdb.DuckDBPyConnection, metadata: Mapping[str, Any]) -> str:
    columns = tables()["devices"].columns
    read = ", ".join(
        f"""try_cast(nullif(json_extract_string(e.entry, '$."{column.keys[0]}"'), '') AS {column.type})"""
        f" AS {column.name}"
        for column in columns
        if column.keys
    )
    con.execute(
        f"CREATE TABLE out_devices AS SELECT {read}, e.entry::JSON AS properties"
        " FROM (SELECT unnest(?::VARCHAR[]) AS entry) AS e",
        [[json.dumps(entry) for entry in _device_properties(metadata)]],
    )
    return "out_devices"


def _device_properties(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects in the `deviceProperties` of a file."""
    found = metadata.get("deviceProperties")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _integer(value: Any, most: int = 2**31 - 1) -> int | None:
    """An integer, or the integer in a text; None for any other value or a larger number."""
    if isinstance(value, bool):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) <= most else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
