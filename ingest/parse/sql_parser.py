"""The SQL parser: appends blocks of events to raw tables, and parses in full all events that are not plain."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Self

import duckdb
import pyarrow as pa

from tracewh.arrow_columns import from_numpy, joined, to_numpy
from tracewh.errors import RefusedError
from tracewh.ingest.parse import event_columns, fast_parser
from tracewh.ingest.parse.event_layout import event_layout
from tracewh.ingest.read import Block, Scanner, TraceReader
from tracewh.sql_files import derive, query, run

#: Events that are not plain are collected until they have this many bytes: a block may have few.
HELD_BYTES = 4 << 20
#: Number of blocks of plain events that may wait to be appended.
BLOCKS_AHEAD = 2
#: Plain events are appended this many at a time, or a block if it has more: those of several small traces.
EVENTS_AT_ONCE = 20_000
#: The number of an event's trace is above these bits of its event_id; see `trace_of` in sql/derive/event_kinds.sql.
POSITION_BITS = 40
_OTHERS = pa.schema([("event_id", pa.int64()), ("text", pa.string())])


def create_raw_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Create the raw tables, named raw_<kind>, and the macros that parsing and linking call.

    The times of the raw tables are those of the file, without the base time.

    Those of sql/derive/pipeline_layout.sql hold what is recorded beside a trace, and have final times.

    Args:
        con: Connection to an empty database.
    """
    for name in ("event_kinds", "written_numbers", "full_parse"):
        derive(con, name)
    layout = event_layout(con)
    for kind in layout.kinds:
        con.execute(f"CREATE TABLE raw_{kind} ({layout.raw_columns(kind)})")
    derive(con, "pipeline_layout")
    # The launch of a device event and the host event of its operator, from sources that name them.
    con.execute("CREATE TABLE raw_link (event_id BIGINT, launch_id BIGINT, caller_id BIGINT)")


def read_unpadded(con: duckdb.DuckDBPyConnection) -> None:
    """Read the decimals of times as unpadded from here on; see sql/derive/unpadded.sql."""
    derive(con, "unpadded")


def is_unpadded(block: Block) -> bool:
    """Whether the times of a block are absolute and have unpadded decimals; see sql/derive/unpadded.sql."""
    pieces = pa.table({"text": block.texts})
    with duckdb.connect() as con:
        derive(con, "event_kinds")
        derive(con, "unpadded")
        row = con.execute(
            "SELECT are_unpadded(p.decimals) FROM ("
            r" SELECT regexp_extract(t.text, '\"ts\"\s*:\s*\d{15,}\.(\d+)', 1) AS decimals"
            " FROM pieces AS t) AS p WHERE p.decimals <> ''"
        ).fetchone()
    assert row is not None and len(pieces)
    return bool(row[0])


def parse_events(
    con: duckdb.DuckDBPyConnection,
    readers: Sequence[TraceReader],
    threads: int,
    on_events: Callable[[int], None],
    expect: Callable[[int], None],
) -> tuple[set[str], set[int]]:
    """Parse all events of some files into the raw tables.

    Args:
        con: Connection to a database with these tables.
        readers: Of the files, one or several; the causes of repairs are added to their reasons.
        threads: Number of threads of DuckDB, and maximum number of blocks to parse in full at the same time.
        on_events: Called with the number of events read.
        expect: Called with the bytes of memory that the events read so far may need.

    Returns:
        The kinds of the events that the fast parser did not read, and the positions in `readers` of files that
        cannot be read. Some of their events may be in the raw tables.

    Raises:
        RefusedError, OSError: The only file cannot be read.
    """
    # Each block has a thread, so DuckDB gets one thread per statement. Filter pushdown would parse every
    # event twice.
    con.execute("SET threads = 1; SET disabled_optimizers = 'filter_pushdown'")
    with SqlParser(con, threads) as sql_parser:
        failed = set()
        before = checked = 0
        for number, reader in enumerate(readers):
            try:
                for block in reader.blocks():
                    sql_parser.add(block, number)
                    if (size := before + reader.text_bytes) > checked + HELD_BYTES:
                        expect(size)
                        checked = size
                    on_events(block.events)
            except InterruptedError:
                raise
            except (RefusedError, OSError):
                if len(readers) == 1:
                    raise
                failed.add(number)
            before += reader.text_bytes
        sql_parser.finish()
    for number, reader in enumerate(readers):
        reader.reasons.update(sql_parser.reasons[number])
    con.execute(f"SET threads = {threads}; RESET disabled_optimizers")
    return sql_parser.kinds, failed


class SqlParser:
    """Appends blocks to the raw tables, in other threads than the one that reads them.

    Args:
        con: Connection to a database with these tables; statements run on cursors of it.
        threads: Maximum number of blocks to parse in full at the same time.

    Attributes:
        reasons: Counts of repairs, by trace and cause; complete after `finish`.
        kinds: The kinds of the events that needed the full parse; complete after `finish`.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, threads: int) -> None:
        self._con = con
        self._threads = threads
        self._pool, self._line = ThreadPoolExecutor(threads), ThreadPoolExecutor(1)
        self._plain: _PlainRows | None = None
        self._waiting: defaultdict[str, list[pa.RecordBatch]] = defaultdict(list)
        self._appending: deque[Future[None]] = deque()
        self._held: list[pa.RecordBatch] = []
        self._idle: list[_FullParse] = []
        self._parsing: set[Future[None]] = set()
        self.reasons: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.kinds: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
        self._line.shutdown()

    def add(self, block: Block, trace: int = 0) -> None:
        """Append a block. Some of its rows may wait until `finish`. Waits if all threads are busy.

        Args:
            block: The block.
            trace: The number of its trace. Those of several traces must be in order.
        """
        for kind, batch in block.plain.items():
            ids = _with_trace(batch.column("event_id"), trace)
            at = batch.schema.get_field_index("event_id")
            self._waiting[kind].append(batch.set_column(at, "event_id", ids))
        if (
            sum(len(batch) for waiting in self._waiting.values() for batch in waiting)
            > EVENTS_AT_ONCE
        ):
            self._append_waiting()
        ids = _with_trace(block.ids, trace)
        self._held.append(pa.record_batch([ids, block.texts], _OTHERS))
        if sum(batch.nbytes for batch in self._held) > HELD_BYTES:
            self._parse_held()

    def finish(self) -> None:
        """Append the rows that are still waiting, and wait for all threads."""
        self._parse_held()
        self._append_waiting()
        for future in self._appending:
            future.result()
        if self._plain:
            self._plain.commit()
            self._plain = None
        for future in self._parsing:
            future.result()
        for parse in self._idle:
            for trace, reasons in parse.reasons.items():
                self.reasons[trace].update(reasons)
            self.kinds |= parse.kinds

    def _append_waiting(self) -> None:
        if self._waiting:
            self._plain = self._plain or _PlainRows(self._con.cursor())
            if len(self._appending) == BLOCKS_AHEAD:
                self._appending.popleft().result()
            self._appending.append(self._line.submit(self._plain.append, self._waiting))
            self._waiting = defaultdict(list)

    def _parse_held(self) -> None:
        batches = pa.Table.from_batches(self._held, _OTHERS).combine_chunks().to_batches()
        self._held = []
        for batch in batches:  # one or none
            self._parse(batch)

    def _parse(self, batch: pa.RecordBatch) -> None:
        if len(self._parsing) >= self._threads:
            done, self._parsing = wait(self._parsing, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
        # Created when needed: a small file needs only one.
        parse = self._idle.pop() if self._idle else _FullParse(self._con.cursor())

        def work() -> None:
            parse.append(batch)
            self._idle.append(parse)

        self._parsing.add(self._pool.submit(work))


class _PlainRows:
    """Appends plain events, all in one transaction: DuckDB would move rows of several transactions twice."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._layout = event_layout(con)
        self._rows: dict[str, _Rows] = {}
        con.execute("BEGIN")

    def append(self, batches: Mapping[str, list[pa.RecordBatch]]) -> None:
        for kind, found in batches.items():
            if kind not in self._rows:
                self._rows[kind] = _Rows(found[0].schema)
                self._con.register(f"plain_{kind}", self._rows[kind])
            self._rows[kind].batches = found
            run(self._con, fast_parser.insert_sql(self._layout, kind))

    def commit(self) -> None:
        self._con.execute("COMMIT")


class _FullParse:
    """Parses the texts of events of any kind, and appends their rows."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._layout = event_layout(con)
        self._others = _Rows(_OTHERS)
        self.reasons: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.kinds: set[str] = set()
        con.register("others", self._others)

    def append(self, batch: pa.RecordBatch) -> None:
        self._others.batches = [batch]
        texts = self._without_odd_numbers(batch)
        self._others.batches = [pa.record_batch([batch.column("event_id"), texts], _OTHERS)]
        for trace, duplicates in self._con.execute(query("duplicate_keys")).fetchall():
            self.reasons[trace]["duplicate_keys"] += duplicates
        older_keys = _has_any_key(texts, self._layout.older_keys)
        run(self._con, f"CREATE OR REPLACE TEMP TABLE base AS {query('event_columns')}")
        for (kind,) in self._con.execute("SELECT DISTINCT b.tbl FROM base AS b").fetchall():
            self.kinds.add(kind)
            run(self._con, event_columns.insert_sql(self._layout, kind, older_keys))

    def _without_odd_numbers(self, batch: pa.RecordBatch) -> pa.StringArray:
        """Quote NaN and Infinity in the events of `others`, which has this batch."""
        found = {event_id for (event_id,) in self._con.execute(query("odd_numbers")).fetchall()}
        if not found:
            return batch.column("text")
        ids = batch.column("event_id").to_pylist()
        repaired = [text.encode() for text in batch.column("text").to_pylist()]
        for position, event_id in enumerate(ids):
            if event_id in found:
                value = Scanner(repaired[position], 0).read()
                self.reasons[event_id >> POSITION_BITS].update(value.causes)
                repaired[position] = value.text
        return joined(repaired)


class _Rows:
    """An Arrow stream that is registered once; each statement reads the batches that are set when it runs."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self.batches: list[pa.RecordBatch] = []

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self.batches)
        return reader.__arrow_c_stream__(requested_schema)


def _with_trace(ids: pa.Int64Array, trace: int) -> pa.Int64Array:
    """Write the number of the trace into the upper bits of event ids."""
    return from_numpy(to_numpy(ids) + (trace << POSITION_BITS)) if trace else ids


def _has_any_key(texts: pa.StringArray, keys: list[str]) -> bool:
    data = memoryview(texts.buffers()[2])
    return any(re.search(f'"{key}"'.encode(), data) for key in keys)
