"""Run a view on a few traces at a time, on each core, and put the rows together.

The line `distributes:` in the header of a view names the group that its rows depend on. With `distributes: run`, the
rows of a run depend only on the traces of that run. So the rows of each group are found without the others, and
together they are the whole result. Most views sort the events of their traces. One query that sorts those of all
traces needs memory for all of them, and its running sums use a single core.

On a cluster, tracewh/spark divides a view in the same way.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from tracewh.quoting import quote_file, quote_identifier
from tracewh.storage.layout import KEYS, TraceKeys, replaying_run
from tracewh.views.empty_blocks import RARE
from tracewh.views.needed_traces import is_among, needed_traces, reads_captures, wanted_traces
from tracewh.views.partial_queries import combined_names, create_combined, partial_queries
from tracewh.views.registry import Call, Registry
from tracewh.views.spec import SIZES, Spec
from tracewh.views.warehouse import (
    SLOW_OPTIMIZER,
    Warehouse,
    plan_without,
    sort_asof_joins,
)

T = TypeVar("T")

#: The events that the traces of a task have together, unless a single group has more.
TASK_EVENTS = 1_000_000
#: The same for a view that sorts no events, which takes less memory and time.
UNSORTED_TASK_EVENTS = 4_000_000
#: The tables with a row for each event. A view that reads none of them reads all traces at once.
EVENT_TABLES = frozenset(
    {
        *("counter_samples", "counters", "data_pipeline_batches", "device_events", "flows"),
        *("host_events", "memory_records", "other_events", "pipeline_operations"),
    }
)
#: Matches SQL that sorts rows. The order of the result is not meant: it has few rows.
_SORTS = re.compile(r"\bOVER\s*\(|\bASOF\b")
#: The most traces whose events are counted. Of more traces, each of the others counts as their mean.
MOST_COUNTED = 64
#: The memory of a task in MB. Where there is less for each core, fewer tasks run at the same time.
TASK_MB = 1_000


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a view in its order, in files that the warehouse removes when it is closed.

    Attributes:
        rows: The rows.
        notes: The notes on the rows; None if they are still to be found.
    """

    rows: duckdb.DuckDBPyRelation
    notes: list[tuple[TraceKeys, str]] | None


@dataclass(frozen=True, slots=True)
class _Task:
    """The traces of a task, and the file for its rows."""

    traces: frozenset[TraceKeys]
    file: Path


def group_keys(size: str) -> tuple[str, ...]:
    """Return the keys that identify a group of a size: trace, worker, run or warehouse."""
    return KEYS[: len(KEYS) - list(SIZES).index(size)]


def groups_of(
    traces: Iterable[T], keys: Callable[[T], TraceKeys], size: str, view: Spec | None
) -> list[list[T]]:
    """Return the groups of traces, in order.

    Args:
        traces: The traces.
        keys: Returns run, worker and span of a trace.
        size: The size of a group: trace, worker, run or warehouse.
        view: The view; if it reads captured graphs, a run and its captures are one group.
    """
    traces = list(traces)
    number = len(group_keys(size))
    with_captures = number and view and has_captures(map(keys, traces), view)

    def group_of(trace: T) -> tuple[str, ...]:
        found = keys(trace)
        return (replaying_run(found[0]),) if with_captures else found[:number]

    return [list(group) for _, group in groupby(sorted(traces, key=group_of), group_of)]


def has_captures(traces: Iterable[TraceKeys], view: Spec) -> bool:
    """Whether a view finds out which captured graphs were replayed, and a trace holds such captures."""
    return reads_captures(view.object_name) and any(replaying_run(run) != run for run, *_ in traces)


def divide(groups: Iterable[T], weight: Callable[[T], float], most: int) -> list[list[T]]:
    """Divide groups into at most `most` parts of about the same weight, in order."""
    weights = [(group, weight(group)) for group in groups]
    whole = sum(each for _, each in weights)
    parts: dict[int, list[T]] = {}
    before = 0.0
    for group, each in weights:
        parts.setdefault(int(most * (before + each / 2) / whole), []).append(group)
        before += each
    return list(parts.values())


def run_in_groups(opened: Warehouse, view: Spec, arguments: Mapping[str, Any]) -> Result | None:
    """Run a view on groups of traces; return None if they are too small, or if there is only one.

    A view with partial queries runs them on each trace, and combines their rows.

    Args:
        opened: The warehouse.
        view: The view.
        arguments: Its arguments, with full names.

    Raises:
        ViewError: See `Warehouse.view`.
        duckdb.Error: A task failed.
    """
    call = opened.registry.call(view.name, view.version, **arguments)
    traces = _divided(opened, call)
    if not traces:
        return None
    folder = opened.temporary_folder()
    tasks = [_Task(each, folder / f"{number:06}.parquet") for number, each in enumerate(traces)]
    notes: list[tuple[TraceKeys, str]] | None = _run(opened, call, tasks)
    files, in_order = [task.file for task in tasks], True
    if partial_queries(call):
        files, notes = [_combine(opened, call, files, folder)], None
    else:
        keys = group_keys(call.distributes)
        # In the order of names, other runs may lie between a run and its captures.
        in_order = view.order.split(", ")[: len(keys)] == list(keys) and not has_captures(
            (keys for task in tasks for keys in task.traces), view
        )
    rows = opened.read_temporary(_rows(view, files, in_order))
    return Result(rows, notes if notes is None else sorted(notes))


def _divided(opened: Warehouse, call: Call) -> list[frozenset[TraceKeys]]:
    """Return the traces of each task, or none if one query is enough."""
    combines = bool(partial_queries(call))
    size = "trace" if combines else call.distributes
    task_events = _task_events(opened.registry, call)
    if not task_events or not group_keys(size):
        return []
    if combines and any(any(names[1:]) for names in wanted_traces(call.values)):
        return []  # a query for some traces of a run reads less of the others than the partial queries
    is_needed = needed_traces(call.view, call.values) or (lambda keys: True)
    names = sorted({keys for keys in opened.names() if is_needed(keys)})
    if len(names) < 2:
        return []
    counted = names[:: -(-len(names) // MOST_COUNTED)]
    try:
        events = opened.events(counted)
    except duckdb.Error:  # damaged; the query of all traces says it if it needs what is damaged
        return []
    mean = sum(events.values()) // len(counted)
    groups = groups_of(names, lambda keys: keys, size, call.view)
    if not combines:
        [wanted] = wanted_traces(call.values)
        groups = [group for group in groups if any(is_among(keys, wanted) for keys in group)]

    def weight(group: list[TraceKeys]) -> int:
        return 1 + sum(events.get(keys, mean) for keys in group)

    most = sum(map(weight, groups)) // task_events
    if most < 2 or len(groups) < 2:
        return []
    return [frozenset().union(*part) for part in divide(groups, weight, most)]


def _task_events(registry: Registry, call: Call) -> int:
    """Return the number of events for a task; 0 if one query reads all traces."""
    rare = [block for blocks in RARE for block in blocks]  # without rows for most traces
    needed = registry.needs(call.sql, rare)
    if EVENT_TABLES.isdisjoint(needed):
        needed = registry.needs(call.sql)
    if EVENT_TABLES.isdisjoint(needed):
        return 0
    sorts = any(_SORTS.search(registry.named(name).sql) for name in needed)
    return TASK_EVENTS if sorts else UNSORTED_TASK_EVENTS


def _run(opened: Warehouse, call: Call, tasks: list[_Task]) -> list[tuple[TraceKeys, str]]:
    """Write the rows of all tasks, and return the notes of all traces."""
    notes: list[tuple[TraceKeys, str]] = []
    count = min(len(tasks), opened.most_parts(TASK_MB))
    while tasks:
        too_large = _run_at_once(opened, call, tasks, count, notes)
        # With the memory of all, one after the other. An error there is that of the view.
        tasks, count = too_large if count > 1 else [], 1
    return notes


def _run_at_once(
    opened: Warehouse,
    call: Call,
    tasks: list[_Task],
    count: int,
    notes: list[tuple[TraceKeys, str]],
) -> list[_Task]:
    """Run tasks, `count` at the same time; add their notes, and return those that need more memory."""
    waiting, ended = iter(tasks), threading.Event()
    too_large: list[_Task] = []
    busy: set[Warehouse] = set()

    def write(part: Warehouse, task: _Task) -> None:
        part.select(frozenset(task.traces))
        if partial_queries(call):
            part.partial_rows(call).write_parquet(str(task.file))
            return
        view = call.view
        part.view(view.name, view.version, **call.values).write_parquet(str(task.file))
        notes.extend(part.notes(view, call.values))

    def run(part: Warehouse) -> None:
        busy.add(part)  # before it asks whether all has ended
        try:
            for task in waiting:
                if ended.is_set():
                    return
                try:
                    write(part, task)
                except duckdb.OutOfMemoryException:
                    if count == 1:
                        raise
                    too_large.append(task)
        except BaseException:
            ended.set()
            raise
        finally:
            busy.remove(part)

    with ExitStack() as stack:
        parts = [stack.enter_context(opened.part(count)) for _ in range(count)]
        pool = stack.enter_context(ThreadPoolExecutor(count))
        try:
            for running in [pool.submit(run, part) for part in parts]:
                running.result()
        except BaseException:
            ended.set()
            # Again and again: a query may begin after an interrupt. The pool does not know a thread whose start
            # was interrupted.
            while busy:
                for part in parts:
                    part.interrupt()
                time.sleep(0.05)
            raise
    return too_large


def _combine(opened: Warehouse, call: Call, files: list[Path], folder: Path) -> Path:
    """Combine the partial rows of all tasks, and return a file with the rows of the view."""
    registry, file = opened.registry, folder / "combined.parquet"
    with duckdb.connect(config=opened.limits_of_another()) as con:
        plan_without(con, SLOW_OPTIMIZER)
        sort_asof_joins(con)
        con.execute(f"CREATE SCHEMA parts; CREATE VIEW parts.rows AS FROM {_read(files)}")
        create_combined(con, registry, call)
        registry.create(con, registry.needs(call.sql, combined_names(call)))
        con.sql(call.sql).write_parquet(str(file))
    return file


def _rows(view: Spec, files: list[Path], in_order: bool) -> str:
    """Return a query of the rows of all tasks, in the order of the view."""
    columns = ", ".join(
        f"r.{name}::{column.type} AS {name}"
        for column in view.columns
        for name in [quote_identifier(column.name)]
    )
    order = "" if in_order else f" ORDER BY {view.order}, r.filename, r.file_row_number"
    return f"SELECT {columns} FROM {_read(files, 'filename = true, file_row_number = true')} AS r{order}"


def _read(files: list[Path], *options: str) -> str:
    paths = ", ".join(map(quote_file, files))
    return f"read_parquet({', '.join([f'[{paths}]', 'hive_partitioning = false', *options])})"
