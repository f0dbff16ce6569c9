"""What the bytes of a block tell before any of it is parsed: what each event seems to be, how many
keys it has, and when it happened.

That makes the parse cheaper. An event of which a typed parse finds as many values as there are keys
has nothing else in it; and a time read from its digits keeps the nanoseconds that a double loses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.ingest.split import CACHED_BYTES

_QUOTE, _COLON, _MINUS, _DOT, _ZERO, _SPACE = b'":-.0 '
#: Longer numbers are left to the full parse.
_DIGITS = 24


#: More keys than any event has.
MANY = np.int32(2**30)
NO_TIME = np.int64(-(2**63))
#: What an event seems to be by its first two keys, as the profiler writes them: ph and cat.
HINTS = {"host": 1, "device": 2, "memory": 3, "flow": 4}
_PHASES = {b"X": "host", b"i": "memory", b"s": "flow", b"t": "flow", b"f": "flow"}
#: How the categories of device events begin; those of host events are the others.
_DEVICE = [
    int.from_bytes(word, "little")
    for word in (b"kernel", b"gpu_me", b"gpu_us", b"cuda_s", b"cuda_e", b"mtia_c", b"xpu_sy")
]


@dataclass(frozen=True, slots=True)
class Scan:
    """One value per event.

    Attributes:
        hints: What it seems to be, of `HINTS`; 0 where that is not told.
        keys: How many keys it has, at all depths: never fewer than there are, and more where a
            string looks like a key or a key is written in an unusual way.
        times: The value of its only "ts", in ns; `NO_TIME` where there is none or several, or where
            it is no plain number.
    """

    hints: npt.NDArray[np.int8]
    keys: npt.NDArray[np.int32]
    times: npt.NDArray[np.int64]


def scan(texts: pa.StringArray) -> Scan:
    """Look through the events of a block."""
    _, offsets_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32)[texts.offset :][: len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8)[: offsets[-1]]
    keys, spaced = _colons(data)
    first = np.searchsorted(keys, offsets)
    counts = np.diff(first).astype(np.int32)
    hints = _hints(data, keys, first[:-1], counts)
    if len(spaced):
        counts[np.searchsorted(offsets, spaced, "right") - 1] = MANY
    times = keys[data[keys - 2] == ord("s")]
    times = times[(data[times - 3] == ord("t")) & (data[times - 4] == _QUOTE)]
    return Scan(hints, counts, _times(data, offsets, times))


def _colons(data: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Positions of the colons that follow a quote, and of those that follow whitespace."""
    keys, spaced = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start in range(1, len(data), CACHED_BYTES):
        colons = np.flatnonzero(data[start : start + CACHED_BYTES] == _COLON) + start
        before = data[colons - 1]
        keys.append(colons[before == _QUOTE])
        spaced.append(colons[before <= _SPACE])
    return np.concatenate(keys), np.concatenate(spaced)


def _hints(
    data: npt.NDArray[np.uint8],
    keys: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int32],
) -> npt.NDArray[np.int8]:
    hints = np.zeros(len(first), np.int8)
    several = np.flatnonzero(counts > 1)
    if not len(several):
        return hints
    phase, category = keys[first[several]], keys[first[several] + 1]
    value = _value_at(data, phase)
    is_phase = (data[phase - 2] == ord("h")) & (data[phase - 3] == ord("p"))
    found = np.zeros(len(several), np.int8)
    for letter, kind in _PHASES.items():
        found[data[value] == letter[0]] = HINTS[kind]
    value = _value_at(data, category)
    is_category = (data[category - 2] == ord("t")) & (data[category - 3] == ord("a"))
    words = _words(data, value)
    is_device = np.logical_or.reduce([words == word for word in _DEVICE])
    found[(found == HINTS["host"]) & is_category & is_device] = HINTS["device"]
    hints[several] = np.where(is_phase, found, 0)
    return hints


def _words(data: npt.NDArray[np.uint8], at: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Six bytes from each position on, as a number."""
    windows = np.lib.stride_tricks.sliding_window_view(data, 8)[np.minimum(at, len(data) - 8)]
    return windows.view("<u8").ravel() & np.uint64(2**48 - 1)


def _value_at(data: npt.NDArray[np.uint8], colons: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where the text of a string begins, after a colon, at most one space and a quote."""
    last = len(data) - 1
    at = np.minimum(colons + 1, last)
    at = at + (data[at] <= _SPACE) + 1
    return np.minimum(at, last)


def _times(
    data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32], found: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    first = np.searchsorted(found, offsets)
    alone = np.flatnonzero(np.diff(first) == 1)
    times = np.full(len(offsets) - 1, NO_TIME)
    at = found[first[alone]] + 1
    for _ in range(2):
        at += data[np.minimum(at, len(data) - 1)] <= _SPACE
    inside = at + _DIGITS <= len(data)
    alone, at = alone[inside], at[inside]
    if len(at):
        windows = np.lib.stride_tricks.sliding_window_view(data, _DIGITS)[at]
        times[alone] = _nanoseconds(windows)
    return times


def _nanoseconds(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Rows of characters that start with microseconds, in ns."""
    count = len(text)
    value = np.zeros(count, np.int64)
    whole, decimals, dots = np.zeros((3, count), np.uint8)
    is_open, is_ended = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    negative = text[:, 0] == _MINUS
    for position, character in enumerate(np.ascontiguousarray(text.T)):
        digit = character - np.uint8(_ZERO)  # wraps: what is no digit becomes 10 or more
        is_digit = is_open & (digit < 10)
        is_dot = is_open & (character == _DOT)
        ends = is_open & ~is_digit & ~is_dot
        if position == 0:
            ends &= ~negative
        is_ended |= ends & (
            (character == ord(",")) | (character == ord("}")) | (character <= _SPACE)
        )
        is_open &= ~ends
        if not is_open.any():
            break
        dots += is_dot
        whole += is_digit & (dots == 0)
        decimals += is_digit & (dots > 0)
        value = np.where(is_digit, value * 10 + digit, value)
    value *= np.where(negative, -1, 1)
    value *= np.array([1000, 100, 10, 1])[np.minimum(decimals, 3)]
    plain = (
        is_ended
        & (whole >= 1)
        & (whole <= 15 + 1)
        & (decimals <= 3)
        & ((dots == 0) | ((dots == 1) & (decimals > 0)))
    )
    return np.where(plain, value, NO_TIME)
