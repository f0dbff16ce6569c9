"""Ingest one trace file, or several small ones together: read, parse, link and write them to folders of Parquet files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb

from tracewh.errors import RefusedError
from tracewh.files import Stat
from tracewh.ingest.database_pool import Database, DatabasePool
from tracewh.ingest.error_messages import refusal
from tracewh.ingest.link import Writing, base_time_ns, folder_of, write_traces
from tracewh.ingest.parse import (
    FastParser,
    count_odd_values,
    end_lost_frames,
    is_available,
    is_unpadded,
    join_begins,
    parse_events,
    read_recordings,
    read_unpadded,
    rename_copies,
)
from tracewh.ingest.read import Block, TraceReader
from tracewh.ingest.result import FileResult
from tracewh.ingest.sources.discover import Source
from tracewh.ingest.sources.reader import Contents, Reading
from tracewh.ingest.sources.readers import table_reader
from tracewh.ingest.sources.source import KINETO
from tracewh.storage.staging import Session

#: Number of traces of a batch to commit at the same time. More threads wait for each other in Python.
COMMITS_AT_ONCE = 2
#: The most memory that linking needs per host event: that of an operator nested in many others.
HOST_EVENT_BYTES = 800


@dataclass(frozen=True, slots=True)
class _Trace:
    """A trace to ingest: its file, the size and times of the file before, and the folder for its Parquet files."""

    source: Source
    stat: Stat
    folder: Path


def ingest_traces(
    databases: DatabasePool,
    sources: Sequence[Source],
    on_bytes: Callable[[int], None],
    on_events: Callable[[int], None],
    commit: Callable[[int, Path, FileResult], None],
) -> None:
    """Ingest one file, or several small Kineto traces together.

    If there are several, a file that cannot be read is left out, and so is one with unpadded decimals or with
    the operators of several processes.

    Args:
        databases: The pool to take a database from.
        sources: The files.
        on_bytes: Called with the number of bytes read, as they are read.
        on_events: Called with the number of events read.
        commit: Called for each trace, with its position in `sources`, its folder, and its result without the
            span. It moves the folder into the warehouse. Several threads call it.

    Raises:
        RefusedError: A file changed, or the only one is not a trace, is damaged, was merged from others, or
            cannot be read, or the traces cannot be written.
    """
    session = databases.session
    try:
        with ExitStack() as stack:
            staged = stack.enter_context(session.staging())
            traces = [
                _Trace(source, source.path.stat(), folder_of(staged, number, len(sources)))
                for number, source in enumerate(sources)
            ]
            results = _ingest(databases, traces, on_bytes, on_events)

            def commit_one(number: int) -> None:
                before, after = traces[number].stat, sources[number].path.stat()
                if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                    raise RefusedError(
                        "it changed while it was read: ingest it again when it is whole"
                    )
                commit(number, traces[number].folder, results[number])

            # A commit mostly waits for the disk, which writes the files of several traces at once.
            pool = stack.enter_context(ThreadPoolExecutor(min(len(results), COMMITS_AT_ONCE) or 1))
            list(pool.map(commit_one, results))
    except InterruptedError:
        raise
    except (duckdb.Error, OSError) as error:
        raise refusal(error, sources[0].path, session.full, databases.limits) from None


def _ingest(
    databases: DatabasePool,
    traces: Sequence[_Trace],
    on_bytes: Callable[[int], None],
    on_events: Callable[[int], None],
    unpadded: bool = False,
) -> dict[int, FileResult]:
    """Write the Parquet files of traces. Return the results of those that were not left out."""
    source = traces[0].source
    with databases.empty() as database:
        con = database.con
        if unpadded:
            read_unpadded(con)
        readers: Sequence[TraceReader | Contents]
        odd_kinds, left_out = set[str](), set[int]()
        if source.reader == KINETO:
            found = [_reader(con, trace.source, on_bytes, unpadded) for trace in traces]
            # Only one thread writes the files of several traces in the order of their rows.
            threads = databases.limits.threads if len(traces) == 1 else 1
            odd_kinds, left_out = parse_events(con, found, threads, on_events, database.expect)
            readers = found
        else:
            readers = [_read_tables(databases.session, database, source, on_bytes, on_events)]
        others = set[int]()
        if source.reader == KINETO:
            merged = _merged(con)
            if merged and len(traces) == 1:
                raise RefusedError(_why_merged(merged[0]))
            left_out |= merged.keys()
        if source.reader == KINETO and not unpadded:
            maybe = _perhaps_unpadded(con) - left_out
            others = {
                number for number in maybe if is_unpadded(_first_block(traces[number].source))
            }
        if not others or len(traces) > 1:
            odd = count_odd_values(con, odd_kinds)
            lost = Counter[int]()
            if source.reader == KINETO:
                join_begins(con)
                lost = end_lost_frames(con, unpadded)
                rename_copies(con)
            writing = []
            for number, (trace, reader) in enumerate(zip(traces, readers, strict=True)):
                if number in left_out | others:
                    continue
                reasons = {**reader.reasons, **odd.get(number, {})}
                if lost[number]:
                    reasons["lost_frame_ends"] = lost[number]
                if trace.source.recordings:
                    base_ns = base_time_ns(reader.metadata)
                    reasons |= read_recordings(con, trace.source.recordings, base_ns)
                facts = _facts(trace, reader, unpadded)
                writing.append(Writing(number, trace.folder, reader.metadata, facts, reasons))
            [(host_events,)] = con.execute("SELECT count(*) FROM raw_host").fetchall()
            database.expect(host_events * HOST_EVENT_BYTES)
            if writing:
                at_once = _statements_at_once(con)
                is_batch = len(traces) > 1
                write_traces(con, writing, databases.session.running, at_once, is_batch)
            return {each.number: _result(traces[each.number], each) for each in writing}
    return _ingest(databases, traces, on_bytes, on_events, unpadded=True)


def _reader(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    on_bytes: Callable[[int], None],
    unpadded: bool,
) -> TraceReader:
    # If decimals are unpadded, 123.5 is 123 us and 5 ns. The fast parser always reads 123 us and 500 ns.
    parser = FastParser(con.cursor()) if is_available() and not unpadded else None
    return TraceReader(source.path, on_bytes, parser)


def _facts(trace: _Trace, reader: TraceReader | Contents, unpadded: bool) -> dict[str, Any]:
    """The columns of `traces` that do not come from events or metadata, and what their computation needs."""
    named = re.search(r"rank[-_ ]?(\d+)", trace.source.trace_name, re.IGNORECASE)
    return {
        "source_path": str(trace.source.path),
        "source_bytes": trace.stat.st_size,
        "source_mtime_ns": trace.stat.st_mtime_ns,
        "content_hash": reader.content_hash,
        "trace_name": trace.source.trace_name,
        "rank": named[1] if named and trace.source.is_rank_named else None,
        "worker": trace.source.worker,
        "unpadded": unpadded,
        "events": reader.events,
        "skipped_events": reader.skipped_events,
        "tracewh_version": _version(),
        "source": trace.source.reader,
        "generation": None if isinstance(reader, TraceReader) else reader.generation,
    }


@cache
def _version() -> str:
    return version("tracewh")


def _result(trace: _Trace, written: Writing) -> FileResult:
    return FileResult(
        trace.source.path,
        "ingested",
        run=trace.source.run,
        worker=trace.source.worker,
        source_bytes=trace.stat.st_size,
        stored_bytes=sum(path.stat().st_size for path in trace.folder.iterdir()),
        events=written.source["events"],
        skipped_events=written.source["skipped_events"],
        repairs=written.reasons,
    )


def _read_tables(
    session: Session,
    database: Database,
    source: Source,
    on_bytes: Callable[[int], None],
    on_events: Callable[[int], None],
) -> Contents:
    """Let the reader of a source fill the raw tables."""
    with session.staging() as scratch:
        reading = Reading(database.con, scratch, on_bytes, on_events, database.expect)
        return table_reader(source.reader).read(source, reading)


def _perhaps_unpadded(con: duckdb.DuckDBPyConnection) -> set[int]:
    """The traces whose times are absolute and have decimals, as only files of early 2024 do."""
    rows = con.execute("""
        SELECT trace_of(h.event_id)
        FROM raw_host AS h
        GROUP BY ALL
        HAVING bool_or(h.ts_ns % 1000 <> 0) AND min(h.ts_ns) > epoch_ns(TIMESTAMP '2010-01-01')
    """)
    return {trace for (trace,) in rows.fetchall()}


def _merged(con: duckdb.DuckDBPyConnection) -> dict[int, list[str]]:
    """The traces with operators of several processes, and the ids of these. The profiler records one.

    A few operators with another process are damaged.
    """
    rows = con.execute("""
        SELECT o.trace, list(o.pid ORDER BY o.pid)
        FROM (
            SELECT trace_of(h.event_id) AS trace, h.pid, count(*) AS operators
            FROM raw_host AS h
            WHERE h.category = 'cpu_op' AND h.pid IS NOT NULL
            GROUP BY ALL
        ) AS o
        GROUP BY o.trace
        HAVING max(o.operators) < 0.99 * sum(o.operators)
    """)
    return dict(rows.fetchall())


def _why_merged(pids: Sequence[str]) -> str:
    return (
        f"it has the operators of {len(pids)} processes ({', '.join(pids[:3])}{', ...' if pids[3:] else ''}): "
        "their traces were merged, and ids of operators and kernels repeat in it; ingest the traces that were "
        "merged"
    )


def _statements_at_once(con: duckdb.DuckDBPyConnection) -> int:
    """The number of statements to run at once: one per thread, or 1 if the events do not fit into memory.

    In that case DuckDB also gets a single thread.
    """
    [(spilled, threads)] = con.execute("""
        SELECT sum(m.temporary_storage_bytes), current_setting('threads')
        FROM duckdb_memory() AS m
    """).fetchall()
    if spilled:
        con.execute("SET threads = 1")
    return 1 if spilled else int(threads)


def _first_block(source: Source) -> Block:
    return next(TraceReader(source.path).blocks())
