"""Ingest one trace file: read, parse, link and write it to a folder of Parquet files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import duckdb

from tracewh.errors import RefusedError
from tracewh.ingest.database_pool import Database, DatabasePool
from tracewh.ingest.error_messages import refusal
from tracewh.ingest.link import base_time_ns, write_trace
from tracewh.ingest.parse import (
    FastParser,
    count_odd_values,
    is_available,
    is_unpadded,
    parse_events,
    read_recordings,
    read_unpadded,
)
from tracewh.ingest.read import Block, TraceReader
from tracewh.ingest.result import FileResult
from tracewh.ingest.sources.discover import Source
from tracewh.ingest.sources.reader import Contents, Reading
from tracewh.ingest.sources.readers import table_reader
from tracewh.ingest.sources.source import KINETO
from tracewh.storage.staging import Session

#: The most memory that linking needs per host event: that of an operator nested in many others.
HOST_EVENT_BYTES = 800


def ingest_trace(
    databases: DatabasePool,
    source: Source,
    on_bytes: Callable[[int], None],
    on_events: Callable[[int], None],
    commit: Callable[[Path], str],
) -> FileResult:
    """Ingest one file. Readers of the warehouse see the whole trace or nothing of it.

    Args:
        databases: The pool to take a database from.
        source: The file.
        on_bytes: Called with the number of bytes read, as they are read.
        on_events: Called with the number of events read.
        commit: Moves the folder of the trace into the warehouse, and returns its span.

    Raises:
        RefusedError: The file is not a trace, is damaged, or cannot be read or written.
    """
    session = databases.session
    try:
        with session.staging() as staged:
            before = source.path.stat()
            result = _ingest(databases, source, staged, on_bytes, on_events)
            after = source.path.stat()
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise RefusedError("it changed while it was read: ingest it again when it is whole")
            return replace(result, span=commit(staged))
    except InterruptedError:
        raise
    except (duckdb.Error, OSError) as error:
        raise refusal(error, source.path, session.full, databases.limits) from None


def _ingest(
    databases: DatabasePool,
    source: Source,
    staged: Path,
    on_bytes: Callable[[int], None],
    on_events: Callable[[int], None],
    unpadded: bool = False,
) -> FileResult:
    stat = source.path.stat()
    with databases.empty() as database:
        con = database.con
        if unpadded:
            read_unpadded(con)
        reader: TraceReader | Contents
        is_kineto = source.reader == KINETO
        odd_kinds: set[str] = set()
        if is_kineto:
            # If decimals are unpadded, 123.5 is 123 us and 5 ns. The fast parser always reads 123 us and
            # 500 ns.
            parser = FastParser(con.cursor()) if is_available() and not unpadded else None
            reader = TraceReader(source.path, on_bytes, parser)
            odd_kinds = parse_events(
                con, reader, databases.limits.threads, on_events, database.expect
            )
        else:
            reader = _read_tables(databases.session, database, source, on_bytes, on_events)
        is_right = unpadded or not is_kineto or not _may_be_unpadded(con)
        if is_right or not is_unpadded(_first_block(source)):
            facts = {
                "source_path": str(source.path),
                "source_bytes": stat.st_size,
                "source_mtime_ns": stat.st_mtime_ns,
                "content_hash": reader.content_hash,
                "trace_name": source.trace_name,
                "worker": source.worker,
                "unpadded": unpadded,
                "events": reader.events,
                "skipped_events": reader.skipped_events,
                "tracewh_version": version("tracewh"),
                "source": source.reader,
                "generation": None if isinstance(reader, TraceReader) else reader.generation,
            }
            odd = count_odd_values(con, odd_kinds)
            if source.recordings:
                odd |= read_recordings(con, source.recordings, base_time_ns(reader.metadata))
            [(host_events,)] = con.execute("SELECT count(*) FROM raw_host").fetchall()
            database.expect(host_events * HOST_EVENT_BYTES)
            at_once = _statements_at_once(con)
            reasons = {**reader.reasons, **odd}
            running = databases.session.running
            stored = write_trace(con, staged, reader.metadata, facts, reasons, running, at_once)
            return FileResult(
                source.path,
                "ingested",
                run=source.run,
                worker=source.worker,
                source_bytes=stat.st_size,
                stored_bytes=stored,
                events=reader.events,
                skipped_events=reader.skipped_events,
                repairs=reasons,
            )
    return _ingest(databases, source, staged, on_bytes, on_events, unpadded=True)


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


def _may_be_unpadded(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether times are absolute and have decimals, as only files of early 2024 do."""
    row = con.execute("""
        SELECT bool_or(h.ts_ns % 1000 <> 0) AND min(h.ts_ns) > epoch_ns(TIMESTAMP '2010-01-01')
        FROM raw_host AS h
    """).fetchone()
    assert row is not None
    return bool(row[0])


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
