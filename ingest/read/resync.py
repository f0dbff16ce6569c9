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

#: No event is longer, in bytes.
EVENT_BYTES = 32 << 20
#: So many bytes are read twice at most, for the sake of events that hold events.
_READ_TWICE = 8 << 20
#: What follows a bracket, so far ahead, decides whether it ends the array.
_LOOK_AHEAD = 4096

_PHASE = re.compile(rb'"ph"\s*:')
#: What may be the end of the events, where the events themselves cannot tell.
_ARRAY_END = re.compile(rb'\}\s*(\])\s*(?:,\s*"[^"\\]*+"\s*:|\}\s*\Z)')
#: After these bytes more events follow: the brackets before them end nothing.
_GOES_ON = re.compile(rb"[\s\]}]*,[\s\]},]*\{|[\s\]},]*" + EVENT_START.pattern)
#: What follows the array, or as much of it as there is.
_AFTER_ARRAY = re.compile(
    rb'\s*(?:[^\s,]|\Z|,\s*(?:\}|\Z|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:\Z|"\s*(?::|\Z))))', re.DOTALL
)
_BRACKETS = re.compile(rb"\](?:\s*+\])*+")
_PUNCTUATION = re.compile(rb"[\s,\[\]{}]*+")
_COMMA, _END, _OPEN = b",]{"


@dataclass(frozen=True, slots=True)
class Walk:
    """The events of a range of text, and where and why it ends.

    `cut`: behind a comma that the caller named. `ended`: at the bracket that ends the array.
    `more`: at the first byte that is not dealt with, because the text ends.
    """

    stopped: Literal["cut", "ended", "more"]
    at: int
    events: list[bytes]


class Resync:
    """Reads elements of the array, and counts what it repairs and what it leaves out."""

    def __init__(self) -> None:
        self.skipped_events = 0
        self.reasons: Counter[str] = Counter()
        self.is_lost = False  # the next text starts inside what cannot be read
        self._sought = 0  # up to there in that text no event starts
        self._dropped = 0  # events that seemed to start in texts before it
        self._read_twice = 0

    def walk(
        self, text: bytes | bytearray, at: int, cuts: npt.NDArray[np.int64], last: bool
    ) -> Walk:
        """Read on from the start of an element.

        Args:
            text: What is there of the array; nothing follows it where it is the last.
            cuts: Positions of commas, in order: the walk stops where one follows an element.
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
                # What holds of the first of them holds of all.
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
        """The value at a position, or what is wrong with it; None where more text would tell."""
        may_grow = not last and len(text) - at <= EVENT_BYTES
        try:
            # A list is no event, and must not swallow those that follow.
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
            # An event that lacks a bracket may have got it from the end of the file.
            return IncompleteError() if value.holds_events else value
        # What was repaired so that it ends in the middle of nowhere was not understood.
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
        """Leave out what cannot be read from `lost` on. Stops, as if at a cut, at the next event."""
        self.is_lost = False
        cut_off = lost if truncated else None  # where the file ends inside what may be an event
        # What may start inside an event must end the reading of it where reading twice has to stop.
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
        """Continue to search in the next text, which starts at the lost event, or later if that is long."""
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
    """Whether a bracket between elements ends the array; None where more text would tell."""
    if not last and len(text) - at < _LOOK_AHEAD:
        return None
    return not _GOES_ON.match(text, at + 1) and _AFTER_ARRAY.match(text, at + 1) is not None


def _array_end(text: bytes | bytearray, start: int) -> int | None:
    """The bracket after which the rest is the metadata of a sound file."""
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
