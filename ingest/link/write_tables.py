"""Link the rows of one trace, or of several small ones, and write one Parquet file per table and trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import duckdb

from tracewh.ingest.link.file_tables import (
    Writing,
    base_time_ns,
    create_devices,
    create_traces,
    device_properties,
    distributed,
    text,
)
from tracewh.ingest.link.link_tasks import LINK_TASKS
from tracewh.ingest.link.task_graph import Running, Task, run_tasks
from tracewh.schema import Column, Table, tables
from tracewh.sql_files import create_block, create_function, create_table, derive, query
from tracewh.storage.parquet import write_parquet

#: Compression level of zstd. At higher levels files are a few percent smaller, and those of small traces take twice
#: as long.
LEVEL = 3
#: The number of a row's trace, for tables whose rows do not have it in `event_id`.
TRACES = {
    "devices": "t.trace",
    "flows": "trace_of(coalesce(t.source_event_id, t.target_event_id))",
    "processes": "t.trace",
    "stacks": "t.trace",
    "step_activity": "t.worker::BIGINT",
    "steps": "t.trace",
    "traces": "t.trace",
}
#: The column with that number when the tables of several traces are written.
PARTITION = "trace"
#: The columns of the tables of a trace file that hold an `event_id`, or a list of them.
EVENTS = frozenset(
    {
        *("event_id", "parent_id", "op_id", "parent_op_id", "launch_id", "capture_id"),
        *("source_event_id", "target_event_id", "step_event_id"),
    }
)
EVENT_LISTS = frozenset({"operator_ids", "module_ids", "annotation_ids"})
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
#: Parquet files without rows, by table.
_EMPTY: dict[str, bytes] = {}
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


def folder_of(staged: Path, number: int, traces: int) -> Path:
    """Create the folder for the files of a trace, within the folder for those of all.

    DuckDB names the folders of several traces when it writes each table of all of them by one statement.
    """
    if traces == 1:
        return staged
    folder = staged / f"{PARTITION}={number}"
    folder.mkdir()
    return folder


def create_link_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Create the macros that linking calls.

    Args:
        con: Connection to a database with the raw tables.
    """
    for function in ("is_label", "is_wanted"):
        create_function(con, function)
    # DuckDB checks that the tables of a macro exist. Each trace creates them later as views.
    for table in BLOCK_TABLES:
        create_table(con, table)
    for block in BLOCKS:
        create_block(con, block)
    for table in BLOCK_TABLES:
        con.execute(f"DROP TABLE {table}")
    con.execute("CREATE MACRO base_ns(trace) AS 0::BIGINT")
    derive(con, "out_traces")
    derive(con, "device_links")


def write_traces(
    con: duckdb.DuckDBPyConnection,
    traces: Sequence[Writing],
    running: Running,
    at_once: int,
    is_batch: bool = False,
) -> None:
    """Link the rows of traces, and write all of their tables.

    Args:
        con: Connection to the database with the raw tables and the macros of `create_link_macros`. It has one
            thread for a batch.
        traces: The traces, one or several.
        running: See `run_tasks`.
        at_once: Maximum number of statements that run at the same time.
        is_batch: Whether the database has the rows of several traces. Those of traces that are not given are not
            written.
    """
    _create_base_times(con, traces)
    # These return the relation with the rows of a table. The rows of all others are those of one query.
    prepare: dict[str, Callable[[duckdb.DuckDBPyConnection], str]] = {
        "traces": partial(create_traces, traces=traces),
        "devices": partial(create_devices, traces=traces),
        "host_events": _host_events,
        "step_activity": partial(_step_activity, traces=traces),
        # Their link tasks wrote the rows.
        "stacks": lambda _: "out_stacks",
        "graphs": lambda _: "out_graphs",
        "graph_nodes": lambda _: "out_graph_nodes",
    }
    missing = [WITHOUT[kind] for kind in WITHOUT.keys() - _kinds(con)]
    left_out = {task for tasks, _ in missing for task in tasks}
    empty = {table for _, tables in missing for table in tables}
    if not any(device_properties(trace.metadata) for trace in traces):
        empty.add("devices")
    output = _Output(traces, is_batch)

    def write_table(con: duckdb.DuckDBPyConnection, name: str) -> None:
        if name in empty:
            output.write_empty(con, tables()[name])
            return
        rows = prepare[name](con) if name in prepare else f"({query(f'out_{name}')})"
        if name in GRAPHS and not con.execute(f"FROM {rows} LIMIT 1").fetchone():
            output.write_empty(con, tables()[name])
            return
        output.write(con, tables()[name], rows)

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


def _create_base_times(con: duckdb.DuckDBPyConnection, traces: Sequence[Writing]) -> None:
    """Create the macro that returns the base time of a trace. A variable would belong to one connection."""
    times = {trace.number: base_time_ns(trace.metadata) for trace in traces}
    base_ns = f"{times[traces[0].number]}::BIGINT"
    if len(set(times.values())) > 1:
        by_number = [times.get(number, 0) for number in range(max(times) + 1)]
        base_ns = f"({by_number}::BIGINT[])[trace + 1]"
    if base_ns != "0::BIGINT":
        con.execute(f"CREATE OR REPLACE MACRO base_ns(trace) AS {base_ns}")


class _Output:
    """Writes the tables of traces to their folders.

    Args:
        traces: The traces.
        is_batch: See `write_traces`.
    """

    def __init__(self, traces: Sequence[Writing], is_batch: bool) -> None:
        self._traces, self._is_batch = traces, is_batch

    def write(self, con: duckdb.DuckDBPyConnection, table: Table, rows: str) -> None:
        """Write the rows of a table, which are in the order of the file.

        Each kind of event is sorted by time in it, so a time range is in few row groups, and nothing needs
        sorting.
        """
        known = {column.name for column in table.columns}
        if table.name in NARROW:
            known = {name for name, *_ in con.execute(f"DESCRIBE FROM {rows} AS t").fetchall()}
        columns = [
            f"{_value(column, self._is_batch) if column.name in known else 'NULL'}::{column.type} AS {column.name}"
            for column in table.columns
        ]
        if not self._is_batch:
            path = self._traces[0].folder / f"{table.name}.parquet"
            write_parquet(con, f"SELECT {', '.join(columns)} FROM {rows} AS t", path, LEVEL)
            return
        columns.append(f"{TRACES.get(table.name, 'trace_of(t.event_id)')} AS {PARTITION}")
        select = f"SELECT {', '.join(columns)} FROM {rows} AS t"
        staged = self._traces[0].folder.parent / f"{table.name}.parquet"
        write_parquet(con, select, staged, LEVEL, by=PARTITION)
        without = []
        for trace in self._traces:
            try:
                written = trace.folder / f"{table.name}0.parquet"  # as DuckDB names it
                written.rename(trace.folder / f"{table.name}.parquet")
            except FileNotFoundError:
                without.append(trace)
        self._write_empty(con, table, without)

    def write_empty(self, con: duckdb.DuckDBPyConnection, table: Table) -> None:
        """Write files without rows."""
        self._write_empty(con, table, self._traces)

    def _write_empty(
        self, con: duckdb.DuckDBPyConnection, table: Table, traces: Sequence[Writing]
    ) -> None:
        """Write files without rows. DuckDB writes the first of a process, which is kept."""
        for trace in traces:
            path = trace.folder / f"{table.name}.parquet"
            if table.name not in _EMPTY:
                columns = ", ".join(f"NULL::{c.type} AS {c.name}" for c in table.columns)
                write_parquet(con, f"SELECT {columns} WHERE false", path, LEVEL)
                _EMPTY[table.name] = path.read_bytes()
            else:
                path.write_bytes(_EMPTY[table.name])


def _value(column: Column, is_batch: bool) -> str:
    """SQL for the value of a column. In a batch event ids become positions in their file."""
    value = f"t.{column.name}"
    if is_batch and column.name in EVENTS:
        return f"position_of({value})"
    if is_batch and column.name in EVENT_LISTS:
        return f"list_transform({value}, LAMBDA id: position_of(id))"
    return value


def _kinds(con: duckdb.DuckDBPyConnection) -> set[str]:
    """The kinds of events that the trace has."""
    kinds = " UNION ALL ".join(f"(SELECT '{kind}' FROM raw_{kind} LIMIT 1)" for kind in WITHOUT)
    kinds += " UNION ALL (SELECT 'counter' FROM raw_samples LIMIT 1)"
    return {kind for (kind,) in con.execute(kinds).fetchall()}


def _drop(con: duckdb.DuckDBPyConnection, names: tuple[str, ...]) -> None:
    for name in names:
        con.execute(f"DROP TABLE {name}")


def _host_events(con: duckdb.DuckDBPyConnection) -> str:
    derive(con, "out_host_events")
    return "out_host_events"


def _step_activity(con: duckdb.DuckDBPyConnection, traces: Sequence[Writing]) -> str:
    derive(con, "out_step_activity")
    found = [distributed(trace.metadata) for trace in traces]
    con.execute(
        "CREATE TABLE traces AS SELECT '' AS run, g.worker, '' AS span, g.backend, g.metadata::JSON AS metadata"
        " FROM (SELECT unnest($numbers::BIGINT[])::VARCHAR AS worker, unnest($backends::VARCHAR[]) AS backend,"
        " unnest($metadata::VARCHAR[]) AS metadata) AS g",
        {
            "numbers": [trace.number for trace in traces],
            "backends": [text(job.get("backend")) for job in found],
            "metadata": [json.dumps({"distributedInfo": job}) for job in found],
        },
    )
    con.execute("CREATE TABLE role_intervals AS FROM step_intervals()")
    return "step_roles('role_intervals')"
