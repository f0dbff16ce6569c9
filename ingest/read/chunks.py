"""Blocks of bytes cut into one string per event, over the same bytes.

A cut is made wherever a closing brace, a comma and an opening brace follow each other. Between two
events they always do; inside an event they may, in a list of objects or in a string, so every piece
is checked to be valid JSON. That check is exact: read from the start of an event, only the whole
event is a valid object. A piece that fails is read the slow way, which also finds where the events
end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.arrow_columns import ends, numbered, strings
from tracewh.ingest.read.json_repair import SPACE
from tracewh.ingest.read.resync import EVENT_BYTES, Resync

#: How many bytes are compared at a time: what is made of more than that goes to fresh memory, and
#: getting it from the system takes longer than comparing.
CACHED_BYTES = 1 << 18

#: So many blanks are skipped everywhere at a time; there are few longer runs of them.
FEW_BLANKS = 64

_CLOSE, _OPEN, _COMMA, _SPACE = b"}{, "
_STARTS = re.compile(rb"\s*\{")
_INVALID = r"""
    SELECT p.position
    FROM pieces AS p
    WHERE
        NOT json_valid(p.text)
        OR CASE
            WHEN regexp_matches(p.text, ',\s*[\]}]')
                THEN regexp_matches(
                    regexp_replace(p.text, '"(?:[^"\\]|\\.)*"', '""', 'g'), ',\s*[\]}]'
                )
        END
    ORDER BY p.position
"""


@dataclass(frozen=True, slots=True)
class Block:
    """Events of a file that stand together.

    Attributes:
        events: How many.
        ids: Positions in the file, in order, of those that are not in `plain`.
        texts: The text of each of these.
        plain: The others by kind, as columns.
    """

    events: int
    ids: pa.Int64Array
    texts: pa.StringArray
    plain: dict[str, pa.RecordBatch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """The events of a buffer.

    Attributes:
        block: All that were read.
        used: Bytes of the buffer that are dealt with; what follows belongs to the next call.
        ended: Whether the array ends there.
    """

    block: Block
    used: int
    ended: bool


class Splitter(Protocol):
    """Cuts the buffers of one file into events.

    Attributes:
        resync: Reads what is damaged, and counts what it repairs and leaves out.
    """

    resync: Resync

    def split(self, buffer: bytearray, last: bool) -> Cut:
        """Cut a buffer that starts at an event, or at the end of the array.

        Args:
            buffer: The text; it may change.
            last: Whether the file ends with it.
        """


class TextSplitter:
    """Cuts buffers into events, all as texts; see `Splitter`."""

    def __init__(self) -> None:
        self.resync = Resync()
        self._events = 0
        self._check = duckdb.connect()
        self._check.execute("SET threads = 1")

    def split(self, buffer: bytearray, last: bool) -> Cut:
        """See `Splitter.split`."""
        data = np.frombuffer(buffer, np.uint8)
        cuts = separators(data)
        if not last and not len(cuts) and len(buffer) <= EVENT_BYTES:
            return self._cut(strings(buffer, cuts), 0, False)
        data[cuts] = _SPACE  # a piece is then an object and nothing else
        ends = np.append(cuts, len(data)) if last else cuts
        texts = strings(buffer, ends)
        bad = self._invalid(texts)
        if self.resync.is_lost or not len(cuts) or not _STARTS.match(buffer):
            bad = [0, *bad]
        if bad:
            data[cuts] = _COMMA
            return self._resynced(buffer, cuts, bad, last)
        return self._cut(texts, len(buffer) if last else int(cuts[-1]) + 1, False)

    def _cut(self, texts: pa.StringArray, used: int, ended: bool) -> Cut:
        ids = numbered(self._events, len(texts))
        self._events += len(texts)
        return Cut(Block(len(texts), ids, texts), used, ended)

    def _invalid(self, texts: pa.StringArray) -> list[int]:
        """Positions of the pieces that are not JSON, but for the numbers that `flatten` looks for.

        DuckDB also takes a comma before a closing bracket.
        """
        pieces = pa.table({"text": texts, "position": numbered(0, len(texts))})
        rows = self._check.execute(_INVALID).fetchall()
        assert len(pieces) == len(texts)  # DuckDB found it by its name
        return [position for (position,) in rows]

    def _resynced(
        self, buffer: bytearray, cuts: npt.NDArray[np.int64], bad: list[int], last: bool
    ) -> Cut:
        """The sound pieces as they are, and between them what a walk over the others gives."""
        parts = _Parts(buffer)
        at = piece = 0  # up to here all is dealt with: the byte, and the piece that starts there
        for position in bad:
            if position < piece:
                continue
            if position > piece:
                at = parts.add_pieces(at, cuts[piece:position])
            walk = self.resync.walk(buffer, at, cuts, last)
            parts.add_events(walk.events)
            at = walk.at
            if walk.stopped != "cut":
                return self._cut(parts.texts(), at, walk.stopped == "ended")
            piece = int(np.searchsorted(cuts, at))
        at = parts.add_pieces(at, cuts[piece:])
        if last:
            parts.add_events([bytes(buffer[at:])])
            at = len(buffer)
        return self._cut(parts.texts(), at, False)


class _Parts:
    """Events put together from pieces of a buffer and from texts of their own."""

    def __init__(self, buffer: bytearray) -> None:
        self.data = bytearray()
        self._buffer = memoryview(buffer)
        self._ends: list[npt.NDArray[np.int64]] = []

    def add_pieces(self, start: int, commas: npt.NDArray[np.int64]) -> int:
        """Add the pieces before each comma; returns the byte after the last one."""
        if not len(commas):
            return start
        self._ends.append(commas - start + len(self.data))
        first = len(self.data)
        self.data += self._buffer[start : commas[-1]]
        np.frombuffer(self.data, np.uint8)[commas[:-1] - start + first] = _SPACE
        return int(commas[-1]) + 1

    def add_events(self, events: list[bytes]) -> None:
        self._ends.append(ends(events) + len(self.data))
        self.data += b"".join(events)

    def texts(self) -> pa.StringArray:
        """All of them. Nothing can be added any more."""
        return strings(self.data, np.concatenate(self._ends))


def separators(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Positions of the commas in every `}`, `,`, `{` with nothing but whitespace between."""
    after = np.concatenate([
        np.flatnonzero(data[start : start + CACHED_BYTES] == _CLOSE) + (start + 1)
        for start in range(0, len(data), CACHED_BYTES)
    ] or [np.empty(0, np.int64)])  # fmt: skip
    commas = _skip_whitespace(data, after)
    commas = commas[data[commas] == _COMMA]
    opening = _skip_whitespace(data, commas + 1)
    cuts: npt.NDArray[np.int64] = commas[data[opening] == _OPEN]
    return cuts


def _skip_whitespace(
    data: npt.NDArray[np.uint8], at: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Move every position to the first byte that is no whitespace; the end counts as one."""
    last = len(data) - 1
    at = np.minimum(at, last)
    moving = np.flatnonzero((data[at] <= _SPACE) & (at < last))
    for _ in range(FEW_BLANKS):
        if not len(moving):
            return at
        at[moving] += 1
        moving = moving[(data[at[moving]] <= _SPACE) & (at[moving] < last)]
    for position in moving:
        blanks = SPACE.match(data.data, int(at[position]))
        at[position] = min(blanks.end(), last) if blanks else last
    return at
