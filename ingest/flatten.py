"""Blocks of event texts in, typed rows out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracewh.ingest import fields, plain
from tracewh.ingest.reader import Block
from tracewh.ingest.repair import Scanner
from tracewh.ingest.scan import HINTS, scan
from tracewh.ingest.split import from_numpy, joined, numbered
from tracewh.ingest.tables import derive

#: Events that are not plain wait until there are so many bytes of them: there may be few.
HELD_BYTES = 4 << 20
#: Older profilers write hardly any plain events. Where a block has fewer than this part of them, the
#: next ones are not searched for any.
FEWEST_PLAIN = 0.25
BLOCKS_WITHOUT = 8
_OTHERS = pa.schema([("event_id", pa.int64()), ("text", pa.string())])
_PIECES = pa.schema([
    ("event_id", pa.int64()),
    ("text", pa.string()),
    ("hint", pa.int8()),
    ("keys", pa.int32()),
    ("is_odd", pa.bool_()),
    ("ts_ns", pa.int64()),
])  # fmt: skip


def prepare(con: duckdb.DuckDBPyConnection, unpadded: bool = False) -> None:
    """Create the tables that are filled, named raw_<what>, with times as the file has them.

    Args:
        con: Connection to an empty database.
        unpadded: Read decimals as sql/derive/unpadded.sql says.
    """
    derive(con, "event_kinds")
    if unpadded:
        derive(con, "unpadded")
    for name, table in fields.TYPED.items():
        con.execute(f"CREATE TABLE raw_{name} ({fields.raw_columns(table)})")
    for name in fields.UNTYPED:
        con.execute(f"CREATE TABLE raw_{name} ({fields.raw_columns()})")


def is_unpadded(block: Block) -> bool:
    """Whether the times of a block have decimals that count nanoseconds, and are absolute."""
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


class Flattener:
    """Appends blocks to the raw tables. Several, each on a cursor of one database, may run at once.

    Plain events are read by the one parse of `plain`, the others by the full parse of `fields`. Statements
    are prepared where they can be: planning them for every block would cost as much as running them.

    Attributes:
        in_vain: How many blocks more are not searched for plain events.
        reasons: What was repaired, and how often.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, unpadded: bool = False) -> None:
        self._con = con
        self._unpadded = unpadded
        self._prepared: set[str] = set()
        self._pieces, self._others = _Pieces(_PIECES), _Pieces(_OTHERS)
        self._base: _Pieces | None = None
        self._held: list[pa.RecordBatch] = []
        self.in_vain = 0
        self.reasons: Counter[str] = Counter()
        con.register("pieces", self._pieces)
        con.register("others", self._others)

    def flatten(self, block: Block) -> None:
        """Append the rows of a block, but for a few that wait for `finish`."""
        texts = block.texts
        ids = numbered(block.first_event_id, len(texts))
        if self.in_vain:
            self.in_vain -= 1
        elif not self._unpadded:
            taken = self._flatten_plain(block.first_event_id, ids, texts)
            if np.mean(taken) < FEWEST_PLAIN:
                self.in_vain = BLOCKS_WITHOUT
            positions = from_numpy(np.flatnonzero(~taken))
            ids, texts = ids.take(positions), texts.take(positions)
        self._held.append(pa.record_batch([ids, texts], _OTHERS))
        if sum(batch.nbytes for batch in self._held) > HELD_BYTES:
            self.finish()

    def finish(self) -> None:
        """Append the rows that wait."""
        held = pa.Table.from_batches(self._held, _OTHERS).combine_chunks().to_batches()
        self._held = []
        if held:
            self._flatten_others(held[0])

    def _flatten_plain(
        self, first: int, ids: pa.Int64Array, texts: pa.StringArray
    ) -> npt.NDArray[np.bool_]:
        """Append the plain events, and say which they were."""
        scanned = scan(texts)
        is_odd = plain.are_odd(texts)
        hints, keys = from_numpy(scanned.hints), from_numpy(scanned.keys)
        times = from_numpy(scanned.times)
        self._pieces.batch = pa.record_batch([ids, texts, hints, keys, is_odd, times], _PIECES)
        taken = np.zeros(len(texts), np.bool_)
        for kind in plain.KINDS:
            if not (scanned.hints == HINTS[kind]).any():
                continue
            self._run(f"plain_{kind}", partial(plain.insert_sql, kind))
            found = self._con.execute(
                f"SELECT r.event_id FROM raw_{kind} AS r WHERE r.event_id BETWEEN ? AND ?",
                [first, first + len(texts) - 1],
            ).fetchnumpy()["event_id"]
            taken[found - first] = True
        return taken

    def _flatten_others(self, batch: pa.RecordBatch) -> None:
        """Append events of any kind."""
        texts = self._without_odd_numbers(batch.column("text"))
        self._others.batch = pa.record_batch([batch.column("event_id"), texts], _OTHERS)
        [(duplicates,)] = self._con.execute(fields.DUPLICATE_KEYS).fetchall()
        self.reasons["duplicate_keys"] += duplicates
        older_keys = _has_older_keys(texts)
        # Not through a table: a statement that reads one is planned anew whenever it runs.
        self._prepare("base", fields.base_sql)
        base = self._con.sql("EXECUTE base").to_arrow_table().combine_chunks()
        if self._base is None:
            self._base = _Pieces(base.schema)
            self._con.register("base", self._base)
        [self._base.batch] = base.to_batches()
        for kind in pc.unique(base["tbl"]).to_pylist():
            self._run(f"{kind}_{older_keys}", partial(fields.insert_sql, kind, older_keys))

    def _without_odd_numbers(self, texts: pa.StringArray) -> pa.StringArray:
        """NaN and Infinity, which DuckDB takes for numbers, as the strings they should have been."""
        found = pc.match_substring_regex(texts, r"[:,\[]\s*-?(?:nan|inf)", ignore_case=True)
        if not pc.any(found).as_py():
            return texts
        mended = [text.encode() for text in texts.to_pylist()]
        for position in pc.indices_nonzero(found).to_pylist():
            value = Scanner(mended[position], 0).read()
            self.reasons.update(value.causes)
            mended[position] = value.text
        return joined(mended)

    def _run(self, name: str, statement: Callable[[], str]) -> None:
        self._prepare(name, statement)
        self._con.execute(f"EXECUTE {name}")

    def _prepare(self, name: str, statement: Callable[[], str]) -> None:
        if name not in self._prepared:
            self._con.execute(f"PREPARE {name} AS {statement()}")
            self._prepared.add(name)


class _Pieces:
    """What prepared statements read: the batch that is set when they run."""

    def __init__(self, schema: pa.Schema) -> None:
        self.batch = pa.record_batch([pa.nulls(0, field.type) for field in schema], schema)

    def __arrow_c_schema__(self) -> object:
        return self.batch.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.batch.schema, [self.batch])
        return reader.__arrow_c_stream__(requested_schema)


def _has_older_keys(texts: pa.StringArray) -> bool:
    data = memoryview(texts.buffers()[2])
    return any(re.search(f'"{key}"'.encode(), data) for key in fields.OLDER_KEYS)
