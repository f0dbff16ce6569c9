"""Blocks of bytes cut into one string per event, over the same bytes.

A cut is made wherever a closing brace, a comma and an opening brace follow each other. Between two
events they always do; inside an event they may, in a list of objects or in a string, so every piece
is checked to be valid JSON. That check is exact: read from the start of an event, only the whole
event is a valid object. A piece that fails is cut again by a JSON parser, which also finds where
the events end.
"""

from __future__ import annotations

import json
import re
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.ingest.errors import RefusedError

#: No event is longer, in bytes.
EVENT_BYTES = 32 << 20

_CLOSE, _OPEN, _COMMA, _SPACE = b"}{, "
_WHITESPACE = b" \t\r\n"
_ENDED = re.compile(rb"\s*\]")


class Splitter:
    """Cuts buffers into events."""

    def __init__(self) -> None:
        self._check = duckdb.connect()
        self._check.execute("SET threads = 1")
        self._decoder = json.JSONDecoder(strict=False)

    def split(
        self, buffer: bytearray, last: bool, offset: int
    ) -> tuple[pa.StringArray | None, int, bool]:
        """Cut a buffer that starts at an event, or at the end of the array.

        Returns:
            The events, the number of bytes they take, and whether the array ends there. What
            follows the last cut belongs to the next call.
        """
        if _ENDED.match(buffer):
            return None, 0, True
        data = np.frombuffer(buffer, np.uint8)
        cuts = _separators(data)
        data[cuts] = _SPACE  # a piece is then an object and nothing else
        ends = np.append(cuts, len(data)) if last else cuts
        kept = np.ones(len(ends), np.bool_)
        settled = 0  # pieces whose events are known
        for bad in self._invalid(_strings(buffer, ends)):
            if bad < settled:
                continue
            start = int(ends[bad - 1]) if bad else 0
            where = f"the event that starts at byte {offset + start} (decompressed)"
            found = self._end_of_event(buffer, start, ends[bad:], offset)
            if found is None:
                if last or len(buffer) - start > EVENT_BYTES:
                    raise RefusedError(
                        f"not valid JSON in {where}: the file was cut off or damaged; "
                        "record or copy it again"
                    )
                data[cuts[bad:]] = _COMMA  # the event goes on in the next block
                ends, kept = ends[:bad], kept[:bad]
                break
            end, closed = found
            if closed:
                data[cuts[bad:]] = _COMMA  # what follows is not events
                ends = np.append(ends[:bad][kept[:bad]], end)
                return _strings(buffer, ends), end, True
            true_end = int(np.searchsorted(ends, end))
            if true_end == bad:
                raise RefusedError(f"not valid JSON in {where}")
            data[ends[bad:true_end]] = _COMMA
            kept[bad:true_end] = False
            settled = true_end + 1
        ends = ends[kept]
        if not len(ends):
            return None, 0, False
        return _strings(buffer, ends), int(ends[-1]), False

    def _invalid(self, texts: pa.StringArray) -> list[int]:
        pieces = pa.table({"text": texts, "position": numbered(0, len(texts))})
        rows = self._check.execute(
            "SELECT p.position FROM pieces AS p WHERE NOT json_valid(p.text) ORDER BY p.position"
        ).fetchall()
        assert len(pieces) == len(texts)  # DuckDB found it by its name
        return [position for (position,) in rows]

    def _end_of_event(
        self, buffer: bytearray, start: int, ends: npt.NDArray[np.int64], offset: int
    ) -> tuple[int, bool] | None:
        """Where the event at `start` ends by a real parse, and whether the array ends there.

        The end is the cut after the event, or the byte after the event at the array's end. None
        when no whole event stands there. Latin-1 keeps one character per byte.
        """
        reach = 1
        while True:
            stop = int(ends[min(reach, len(ends)) - 1])
            text = buffer[start:stop]
            for cut in ends[: min(reach, len(ends)) - 1] - start:
                text[cut] = _COMMA
            try:
                value, end = self._decoder.raw_decode(text.lstrip(_WHITESPACE).decode("latin-1"))
            except ValueError:
                if reach >= len(ends):
                    return None
                reach *= 2
                continue
            if not isinstance(value, dict):
                raise RefusedError(
                    f"traceEvents holds a {type(value).__name__} at byte {offset + start} "
                    "(decompressed), where only events may stand"
                )
            end += start + len(text) - len(text.lstrip(_WHITESPACE))
            after = buffer[end:stop].lstrip(_WHITESPACE)[:1]
            if after == b"]":
                return end, True
            return int(ends[np.searchsorted(ends, end)]), False


def _separators(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Positions of the commas in every `}`, `,`, `{` with nothing but whitespace between."""
    after = np.flatnonzero(data == _CLOSE) + 1
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
    while len(moving):
        at[moving] += 1
        moving = moving[(data[at[moving]] <= _SPACE) & (at[moving] < last)]
    return at


def numbered(first: int, count: int) -> pa.Int64Array:
    """The whole numbers from `first` on."""
    return from_numpy(np.arange(first, first + count))


def from_numpy(values: npt.NDArray[Any]) -> pa.Array:
    """A column over the same bytes. (pa.array would load pandas, where it is installed.)"""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _strings(buffer: bytearray, ends: npt.NDArray[np.int64]) -> pa.StringArray:
    """The pieces of a buffer between its start and each end, as strings over the same bytes."""
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(buffer)
    )
