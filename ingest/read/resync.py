"""Read damaged events one by one, and repair those that can be repaired.

Events that cannot be repaired are left out and counted, and reading continues at the next event.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tracewh.ingest.read.json_repair import (
    COMMAS,
    EVENT_START,
    SPACE,
    SURE_START,
    IncompleteError,
    Scanner,
    UnreadableError,
    Value,
)

#: The most bytes of an event.
EVENT_BYTES = 32 << 20
#: The most bytes to read twice, because events seem to contain other events.
_READ_TWICE = 8 << 20
#: Number of bytes after a bracket that decide whether it ends the list of events.
_LOOK_AHEAD = 4096

_PHASE = re.compile(rb'"ph"\s*:')
#: A possible end of the events, to look for if the events are damaged.
_ARRAY_END = re.compile(rb'\}\s*(\])\s*(?:,\s*"[^"\\]*+"\s*:|\}\s*\Z)')
#: A match means that more events follow, so the bracket before it does not end the list.
_MORE_EVENTS = re.compile(rb"[\s\]}]*,[\s\]},]*\{|[\s\]},]*" + EVENT_START.pattern)
#: Text that may follow the list of events, or the part of it that was read.
_AFTER_ARRAY = re.compile(
    rb'\s*(?:[^\s,]|\Z|,\s*(?:\}|\Z|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:\Z|"\s*(?::|\Z))))', re.DOTALL
)
_BRACKETS = re.compile(rb"\](?:\s*+\])*+")
_PUNCTUATION = re.compile(rb"[\s,\[\]{}]*+")
_COMMA, _END, _OPEN = b",]{"


@dataclass(frozen=True, slots=True)
class Walk:
    """The events that `Resync.walk` read, and where and why it stopped.

    Attributes:
        stopped: 'cut' after one of the given commas; 'ended' at the bracket that ends the list; 'more' at the
            first byte that was not processed, because the text ends.
        at: The position.
        events: The text of each event.
    """

    stopped: Literal["cut", "ended", "more"]
    at: int
    events: list[bytes]


class Resync:
    """Reads the elements of the list one by one, and counts what it repairs and skips.

    Attributes:
        skipped_events: Number of events that were skipped.
        reasons: Counts of repairs and skipped data, by cause.
        is_lost: Whether the next text starts inside an element that cannot be read.
    """

    def __init__(self) -> None:
        self.skipped_events = 0
        self.reasons: Counter[str] = Counter()
        self.is_lost = False
        self._sought = 0  # if lost: no event starts before this position of the next text
        self._dropped = 0  # if lost: number of events that seemed to start in earlier texts
        self._read_twice = 0

    def walk(
        self, text: bytes | bytearray, at: int, cuts: npt.NDArray[np.int64], last: bool
    ) -> Walk:
        """Read elements one by one.

        Args:
            text: A part of the list.
            at: The start of an element.
            cuts: Positions of commas, in order. The walk stops after an element that one of them follows.
            last: Whether the file ends with this text.
        """
        events: list[bytes] = []
        if self.is_lost:
            walk = self._find_next(text, at, self._sought, last, events)
            if walk.stopped != "cut":
                return walk
            at = walk.at
        while True:
            at = _skip(text, at)
            if at == len(text):
                return Walk("more", at, events)
            if commas := COMMAS.match(text, at):
                self.reasons["stray_commas"] += text.count(b",", at, commas.end())
                at = commas.end()
                continue
            if text[at] == _END:
                ended = _is_end(text, at, last)
                if ended is not False:
                    return Walk("ended" if ended else "more", at, events)
                brackets = _BRACKETS.match(text, at)
                assert brackets
                # If the first of several brackets does not end the list, none of them does.
                self.reasons["stray_bytes"] += text.count(b"]", at, brackets.end())
                at = brackets.end()
                continue
            value = self._read(text, at, last)
            if value is None:
                return Walk("more", at, events)
            if isinstance(value, Exception):
                truncated = last and isinstance(value, IncompleteError)
                walk = self._find_next(text, at, at + 1, last, events, truncated)
                if walk.stopped != "cut":
                    return walk
                at = walk.at
                continue
            self._count(value, events)
            at = _skip(text, value.end)
            if at < len(text) and text[at] == _OPEN:
                self.reasons["missing_commas"] += 1
            elif at < len(text) and text[at] == _COMMA:
                cut = np.searchsorted(cuts, at)
                at += 1
                if cut < len(cuts) and cuts[cut] == at - 1:
                    return Walk("cut", at, events)

    @property
    def _is_wary(self) -> bool:
        return self._read_twice > _READ_TWICE

    def _count(self, value: Value, events: list[bytes]) -> None:
        if value.text[:1] == b"{":
            events.append(value.text)
            self.reasons.update(value.causes)
        else:
            self.skipped_events += 1
            self.reasons["not_an_object"] += 1

    def _read(
        self, text: bytes | bytearray, at: int, last: bool
    ) -> Value | UnreadableError | IncompleteError | None:
        """Read the value at a position. Return it, its error, or None if more text is needed to decide."""
        may_grow = not last and len(text) - at <= EVENT_BYTES
        try:
            # A list is not an event. If it is not closed, it must not contain the events that follow.
            wary = text[at] != _OPEN or self._is_wary
            value = Scanner(text, at, may_grow, wary).read()
        except UnreadableError as error:
            self._read_twice += error.reached - at
            return error
        except IncompleteError as error:
            if may_grow:
                return None
            self._read_twice += len(text) - at
            return error
        end = _skip(text, value.end)
        if end == len(text):
            if may_grow:
                return None
            # The closing brackets of the file may have completed an event that lacks one.
            return IncompleteError() if value.holds_events else value
        # If a repaired value is not followed by a comma or bracket, the repair was wrong.
        if value.causes and text[end] not in b",]{":
            return UnreadableError(end)
        return value

    def _find_next(
        self,
        text: bytes | bytearray,
        lost: int,
        sought: int,
        last: bool,
        events: list[bytes],
        truncated: bool = False,
    ) -> Walk:
        """Skip what cannot be read from `lost` on, up to the next event. Stops there as at a cut."""
        self.is_lost = False
        cut_off = (
            lost if truncated else None
        )  # start of a possible event inside which the file ends
        # Once too many bytes were read twice, search only for texts that surely start an event.
        starts = SURE_START if self._is_wary else EVENT_START
        while start := starts.search(text, sought):
            sought = start.start()
            value = self._read(text, sought, last)
            if value is None:
                return self._lose(text, lost, sought, events)
            if isinstance(value, Value):
                end = _skip(text, value.end)
                is_event = _PHASE.search(value.text) is not None
                if is_event and (end == len(text) or text[end] in b",]{"):
                    self._leave_out(text[lost:sought])
                    return Walk("cut", sought, events)
                sought = value.end
                continue
            if last and isinstance(value, IncompleteError) and cut_off is None:
                cut_off = sought
            sought += 1
        if not last:
            brace = text.rfind(b"{", sought)
            return self._lose(text, lost, len(text) if brace < 0 else brace, events)
        array_end = _array_end(text, lost)
        if array_end is not None:
            self._leave_out(text[lost:array_end])
            return Walk("ended", array_end, events)
        end = len(text) if cut_off is None else cut_off
        if lost < end:
            self._leave_out(text[lost:end])
        return Walk("more", end, events)

    def _lose(self, text: bytes | bytearray, lost: int, sought: int, events: list[bytes]) -> Walk:
        """Continue the search in the next text. It starts at the lost event, or later if that is too long."""
        self.is_lost = True
        if sought - lost > EVENT_BYTES:
            self._dropped += _events_in(text[lost:sought])
            lost = sought
        self._sought = sought - lost
        return Walk("more", lost, events)

    def _leave_out(self, text: bytes | bytearray) -> None:
        if not self._dropped and _PUNCTUATION.fullmatch(text):
            self.reasons["stray_bytes"] += len(text)
            return
        count = max(1, self._dropped + _events_in(text))
        self._dropped = 0
        self.skipped_events += count
        self.reasons["unreadable_event"] += count


def _skip(text: bytes | bytearray, at: int) -> int:
    white = SPACE.match(text, at)
    return white.end() if white else at


def _events_in(text: bytes | bytearray) -> int:
    return sum(1 for _ in _PHASE.finditer(text))


def _is_end(text: bytes | bytearray, at: int, last: bool) -> bool | None:
    """Whether a bracket between elements ends the list; None if more text is needed to decide."""
    if not last and len(text) - at < _LOOK_AHEAD:
        return None
    return not _MORE_EVENTS.match(text, at + 1) and _AFTER_ARRAY.match(text, at + 1) is not None


def _array_end(text: bytes | bytearray, start: int) -> int | None:
    """Find the bracket after which the rest of the file is valid metadata."""
    for tries, end in enumerate(_ARRAY_END.finditer(text, start)):
        if tries > 8:
            return None
        rest = b'{"":0' + text[end.end(1) :].rstrip()
        try:
            value = Scanner(rest, 0).read()
        except (IncompleteError, UnreadableError):
            continue
        if value.end == len(rest) and not value.causes:
            return end.start(1)
    return None
