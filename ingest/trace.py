"""One trace file into one folder of Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import duckdb

from tracewh.ingest.discover import Source
from tracewh.ingest.errors import RefusedError
from tracewh.ingest.faults import refusal
from tracewh.ingest.flatten import Flattener, is_unpadded, prepare
from tracewh.ingest.plain import Parser, is_available
from tracewh.ingest.reader import TraceReader
from tracewh.ingest.split import Block
from tracewh.ingest.staging import Session, spill_folder
from tracewh.ingest.write import odd_values, write

#: What the databases of all traces that are taken in side by side may use; beyond it they spill to disk.
MEMORY_BYTES = 896 << 20
#: What traces take that are taken in side by side, their databases and their reading together: the
#: smallest, with each stored byte of it, the largest, and all of them.
_LEAST_BYTES, _PER_BYTE, _MOST_BYTES, _ALL_BYTES = 64 << 20, 80, 640 << 20, 1280 << 20
#: More would wait for each other.
_MOST_THREADS = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """What the ingest of one trace may use, and what to do where that is too little memory."""

    threads: int
    memory_bytes: int
    remedy: str = "use fewer --jobs"


def side_by_side(sizes: Sequence[int], jobs: int | None) -> tuple[int, Limits]:
    """How many files to take in at a time, and what each of them may use.

    Args:
        sizes: Stored bytes of each file that is not in yet; there may be none.
        jobs: How many. If None, one per core, or as many as fit into 1.5 GiB with all else.
    """
    cores = os.cpu_count() or 1
    fitting = _ALL_BYTES // min(_LEAST_BYTES + _PER_BYTE * max(sizes, default=0), _MOST_BYTES)
    workers = min(jobs or min(cores, fitting), max(1, len(sizes)))
    threads = min(max(1, cores // workers), _MOST_THREADS)
    return workers, Limits(threads, MEMORY_BYTES // min(workers, fitting))


@dataclass(frozen=True, slots=True)
class Taken:
    """What a trace holds, the bytes that it takes in the warehouse, and the span that it got."""

    events: int
    skipped_events: int
    stored_bytes: int
    span: str = ""


def take_in(
    session: Session,
    source: Source,
    limits: Limits,
    on_bytes: Callable[[int], None],
    on_events: Callable[[int], None],
    commit: Callable[[Path], str],
) -> Taken:
    """Ingest one file. The trace is in the warehouse as a whole, or not at all.

    Args:
        session: Where to write it.
        source: The file.
        limits: What its ingest may use.
        on_bytes: Called with the number of bytes read, as they are read.
        on_events: Called with the number of events read.
        commit: Puts the folder that holds the trace into the warehouse, and gives its span.

    Raises:
        RefusedError: The file is no trace, is damaged, or cannot be read or written.
    """
    try:
        with session.staging() as staged:
            before = source.path.stat()
            taken = _take_in(session, source, staged, limits, on_bytes, on_events)
            after = source.path.stat()
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise RefusedError("it changed while it was read: ingest it again when it is whole")
            return replace(taken, span=commit(staged))
    except InterruptedError:
        raise
    except (duckdb.Error, OSError) as error:
        raise refusal(error, source.path, session.full, limits) from None


def _take_in(
    session: Session,
    source: Source,
    staged: Path,
    limits: Limits,
    on_bytes: Callable[[int], None],
    on_events: Callable[[int], None],
    unpadded: bool = False,
) -> Taken:
    stat = source.path.stat()
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": limits.threads,
        "memory_limit": f"{limits.memory_bytes // 2**20}MiB",
        "temp_directory": str(spill_folder(staged)),
        # Else the tables are compressed now and then, which costs more than it saves.
        "checkpoint_threshold": "1TB",
    }
    with duckdb.connect(config=config) as con, session.running(con):
        prepare(con, unpadded)
        # Plain events are taken for what they seem to be.
        parser = Parser(con.cursor()) if is_available() and not unpadded else None
        reader = TraceReader(source.path, on_bytes, parser)
        is_all_plain = _flatten_all(con, reader, limits.threads, on_events)
        if unpadded or not _may_be_unpadded(con) or not is_unpadded(_first_block(source)):
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
            }
            at_once = _statements_at_once(con)
            reasons = {**reader.reasons, **({} if is_all_plain else odd_values(con))}
            stored = write(con, staged, reader.metadata, facts, reasons, session.running, at_once)
            return Taken(reader.events, reader.skipped_events, stored)
    return _take_in(session, source, staged, limits, on_bytes, on_events, unpadded=True)


def _may_be_unpadded(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether times are absolute and have decimals, as only files of early 2024 do."""
    row = con.execute("""
        SELECT bool_or(h.ts_ns % 1000 <> 0) AND min(h.ts_ns) > epoch_ns(TIMESTAMP '2010-01-01')
        FROM raw_host AS h
    """).fetchone()
    assert row is not None
    return bool(row[0])


def _statements_at_once(con: duckdb.DuckDBPyConnection) -> int:
    """One, on one thread, where the events alone do not fit into memory; else one per thread."""
    [(spilled, threads)] = con.execute("""
        SELECT sum(m.temporary_storage_bytes), current_setting('threads')
        FROM duckdb_memory() AS m
    """).fetchall()
    if spilled:
        con.execute("SET threads = 1")
    return 1 if spilled else int(threads)


def _first_block(source: Source) -> Block:
    return next(TraceReader(source.path).blocks())


def _flatten_all(
    con: duckdb.DuckDBPyConnection,
    reader: TraceReader,
    threads: int,
    on_events: Callable[[int], None],
) -> bool:
    """Fill the raw tables; whether all events were plain."""
    # One thread a block: the database's own would only get in each other's way. A filter that is
    # pushed down would parse every event a second time.
    con.execute("SET threads = 1; SET disabled_optimizers = 'filter_pushdown'")
    with Flattener(con, threads) as flattener:
        for block in reader.blocks():
            flattener.add(block)
            on_events(block.events)
        flattener.finish()
    reader.reasons.update(flattener.reasons)
    con.execute(f"SET threads = {threads}; RESET disabled_optimizers")
    return flattener.is_all_plain
