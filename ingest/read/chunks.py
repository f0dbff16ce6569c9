"""Split a buffer into events: one string per event, over the same bytes.

The buffer is cut at each comma between a closing and an opening brace. There is such a comma between any two
events. It may also occur inside an event, in a list of objects or in a string, so each piece is checked to be
valid JSON. This check is exact: of all texts that begin at the start of an event, only the whole event is a
valid object. If a piece is invalid, `Resync` reads it, repairs it, and finds the end of the events.
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

#: Number of bytes to compare at a time. The result of more bytes would need new memory from the system, which
#: takes longer than the comparison.
CACHED_BYTES = 1 << 18

#: Number of blanks to skip at all positions at once. Longer runs are rare, and skipped one by one.
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
    """Consecutive events of a file.

    Attributes:
        events: Number of events.
        ids: Positions in the file, in order, of the events that are given as text.
        texts: The text of each of these.
        plain: The other events, as columns by kind.
    """

    events: int
    ids: pa.Int64Array
    texts: pa.StringArray
    plain: dict[str, pa.RecordBatch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """The result of splitting a buffer.

    Attributes:
        block: The events.
        used: Number of bytes that were processed. The rest belongs to the next buffer.
        ended: Whether the list of events ends there.
    """

    block: Block
    used: int
    ended: bool


class Splitter(Protocol):
    """Splits the buffers of one file into events.

    Attributes:
        resync: Reads damaged events, and counts what it repairs and skips.
    """

    resync: Resync

    def split(self, buffer: bytearray, last: bool) -> Cut:
        """Split a buffer that starts at an event, or at the end of the list.

        Args:
            buffer: The text. It may be changed.
            last: Whether the file ends with this buffer.
        """


class TextSplitter:
    """Splits buffers into events, all given as text; see `Splitter`."""

    def __init__(self) -> None:
        self.resync = Resync()
        self._events = 0
        self._check = duckdb.connect()
        self._check.execute("SET threads = 1")

    def split(self, buffer: bytearray, last: bool) -> Cut:
        """See `Splitter.split`."""
        data = np.frombuffer(buffer, np.uint8)
        cuts = find_separators(data)
        if not last and not len(cuts) and len(buffer) <= EVENT_BYTES:
            return self._cut(strings(buffer, cuts), 0, False)
        data[cuts] = _SPACE  # so that no piece begins with a comma
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
        """Return the positions of the pieces that are not valid JSON.

        NaN and Infinity count as valid; the SQL parser repairs them. DuckDB accepts a comma before a closing
        bracket, so the query checks that itself.
        """
        pieces = pa.table({"text": texts, "position": numbered(0, len(texts))})
        rows = self._check.execute(_INVALID).fetchall()
        assert len(pieces) == len(texts)  # the query reads this variable by its name
        return [position for (position,) in rows]

    def _resynced(
        self, buffer: bytearray, cuts: npt.NDArray[np.int64], bad: list[int], last: bool
    ) -> Cut:
        """Take valid pieces as they are, and read the text around each invalid one with `Resync`."""
        parts = _Parts(buffer)
        at = piece = (
            0  # all before this byte is processed; the number of the piece that starts there
        )
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
    """Events from pieces of a buffer and from repaired texts, in order."""

    def __init__(self, buffer: bytearray) -> None:
        self.data = bytearray()
        self._buffer = memoryview(buffer)
        self._ends: list[npt.NDArray[np.int64]] = []

    def add_pieces(self, start: int, commas: npt.NDArray[np.int64]) -> int:
        """Add the pieces that end at these commas, and return the byte after the last comma."""
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
        """Return the events. Nothing can be added after this call."""
        return strings(self.data, np.concatenate(self._ends))


def find_separators(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Find the commas between `}` and `{`, with optional whitespace around them."""
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
    """Move each position to the next byte that is not whitespace, or to the last byte."""
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
