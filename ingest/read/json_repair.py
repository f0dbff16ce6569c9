"""Find the end of a damaged JSON value and repair its text.

Only values that the JSON parser rejected get here, so this may be slow. But its time must be proportional to
the number of bytes for any input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracewh.ingest.read.json_check import LAST_REPAIRS, is_json, is_strict

_WHITE = rb"[\x00-\x20]*+"
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_SCALAR = (
    rb"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)"
    rb"(?=[\x00-\x20,\]}]|\Z)"
)
_ANY_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Text that may follow a string that is a value. A quote before any other text is part of the string: its
# writer did not escape it.
_IN_OBJECT = (
    rb"(?:\}" + _WHITE + rb"(?:[,}\]{]|\Z)|," + _WHITE
    + b"(?:" + _ANY_STRING + _WHITE + rb":|\}))"
)  # fmt: skip
_IN_LIST = rb"(?:\]" + _WHITE + rb"(?:[,}\]]|\Z)|," + _WHITE + rb'["\-0-9\[{tfnNIi\]])'

SPACE = re.compile(_WHITE)
COMMAS = re.compile(b",(?:" + _WHITE + b",)*+")
_SOUND = re.compile(_STRING)
_MEMBER = re.compile(
    _STRING + _WHITE + b":" + _WHITE
    + b"(?:" + _SCALAR + b"|" + _STRING + b"(?=" + _WHITE + _IN_OBJECT + b"))",
    re.DOTALL,
)  # fmt: skip
_PLAIN_SCALAR = re.compile(_SCALAR)
_AFTER_KEY = re.compile(_WHITE + b":")
_AFTER_VALUE = {
    ord("{"): re.compile(_WHITE + _IN_OBJECT, re.DOTALL),
    ord("["): re.compile(_WHITE + _IN_LIST),
}
#: Matches if the text ends too early to decide what follows a string.
_TOO_SHORT = re.compile(
    _WHITE + rb"(?:[,}\]]" + _WHITE + b"(?:" + _ANY_STRING[:-1] + b'"?' + _WHITE + rb")?)?\Z",
    re.DOTALL,
)
_UNENDED = re.compile(_STRING[:-1] + rb"(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*+')
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_BARE = re.compile(rb'[^\x00-\x20"{}\[\],:][^\x00-\x1f"{}\[\],:]{0,99}+')
_NOT_A_NUMBER = re.compile(
    rb"[+-]?(?:nan(?:\(\w*\))?|inf(?:inity)?|1\.#(?:inf|qnan|snan|ind)\w*)|n/a", re.IGNORECASE
)
_FIELD = rb'"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s)"' + _WHITE + b":"
#: No string contains a field of an event. If one seems to, its closing quote is missing.
_NEXT_FIELD = re.compile(_FIELD)
#: A possible start of an event.
EVENT_START = re.compile(rb"\{" + _WHITE + _FIELD)
#: A certain start of an event. (The arguments of an event may begin with a name or an id.)
SURE_START = re.compile(rb"\{" + _WHITE + b'"ph"' + _WHITE + b":")

_QUOTE, _BACKSLASH, _COMMA, _COLON, _OBJECT, _LIST = b'"\\,:{['


class UnreadableError(Exception):
    """The text is not a JSON value and cannot be repaired. `reached` is the position where that showed."""

    def __init__(self, reached: int) -> None:
        self.reached = reached


class IncompleteError(Exception):
    """The text ends inside the value."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that was read.

    Attributes:
        end: Position of the byte after it.
        text: Its text, repaired.
        causes: The causes of repairs in it.
        holds_events: Whether it seems to contain events.
    """

    end: int
    text: bytes
    causes: frozenset[str]
    holds_events: bool


class Scanner:
    """Reads one value by the grammar of JSON, and repairs known mistakes of writers.

    Args:
        data: The text.
        start: Start of the value, or of the whitespace before it.
        may_grow: Whether more text follows `data`.
        wary: Whether to stop if an event seems to start inside the value.
    """

    def __init__(
        self, data: bytes | bytearray, start: int, may_grow: bool = False, wary: bool = False
    ) -> None:
        self._data = data
        self._start = start
        self._may_grow = may_grow
        self._wary = wary
        self._open = bytearray()  # the brackets that are open
        self._out: list[bytes] = []
        self._copied = start
        self._causes: set[str] = set()
        self._holds_events = False
        self._field = -1  # start of the next field of an event, computed when needed
        #: Length of the text up to the last whole member of the outermost value.
        self._whole = (0, start, start)

    def read(self) -> Value:
        """Read the value.

        Raises:
            UnreadableError: It is damaged beyond repair.
            IncompleteError: The text ends inside it.
        """
        at, opened = self._value(self._skip(self._start))
        while self._open:
            at, opened = self._member(at, opened)
        text = b"".join((*self._out, self._data[self._copied : at]))
        text = self._checked(text, at)
        return Value(at, text, frozenset(self._causes), self._holds_events)

    def whole_members(self) -> bytes:
        """Return an object of the complete members, after `read` raised an error."""
        parts, copied, end = self._whole
        return b"".join((*self._out[:parts], self._data[copied:end], b"}"))

    @property
    def whole_end(self) -> int:
        """Position of the byte after the last complete member."""
        return self._whole[2]

    def _member(self, at: int, opened: bool) -> tuple[int, bool]:
        """Read the next member, or the closing bracket; return the position after it, and whether it opened a bracket."""
        # At the end of a truncated text, a number may lack its last digits.
        if len(self._open) == 1 and (
            at < len(self._data) or self._data[at - 1] not in b"0123456789"
        ):
            self._whole = (len(self._out), self._copied, at)
        at = comma = self._skip(at)
        has_comma = self._data[at] == _COMMA
        if commas := COMMAS.match(self._data, at):
            at = self._skip(commas.end())
        is_end = (
            self._data[at] == self._open[-1] + 2
        )  # in ASCII the closing bracket is two after the opening one
        if has_comma and (is_end or opened):
            self._replace(comma, at, b"", "stray_commas")
        elif self._data.count(b",", comma, at) > 1:
            self._replace(comma, at, b",", "stray_commas")
        if is_end:
            self._open.pop()
            return at + 1, False
        if not (has_comma or opened):
            raise UnreadableError(at)
        if self._open[-1] == _OBJECT:
            if member := _MEMBER.match(self._data, at):
                return member.end(), False
            if self._data[at] != _QUOTE:
                raise UnreadableError(at)
            at = self._skip(self._string(at, _AFTER_KEY))
            if self._data[at] != _COLON:
                raise UnreadableError(at)
            at = self._skip(at + 1)
        return self._value(at)

    def _value(self, at: int) -> tuple[int, bool]:
        """Read a scalar or an opening bracket; return the position after it, and whether it is a bracket."""
        first = self._data[at]
        if first in (_OBJECT, _LIST):
            if self._open and SURE_START.match(self._data, at):
                if self._wary:
                    raise UnreadableError(at)
                self._holds_events = True
            self._open.append(first)
            return at + 1, True
        if first == _QUOTE:
            return self._string(at, _AFTER_VALUE[self._open[-1] if self._open else _LIST]), False
        if scalar := _PLAIN_SCALAR.match(self._data, at):
            return scalar.end(), False
        bare = _BARE.match(self._data, at)
        if bare is None:
            if not self._open or self._data[at] not in b",}]":
                raise UnreadableError(at)
            self._replace(at, at, b"null", "missing_values")
            return at, False
        word = bare[0].rstrip()
        end = at + len(word)
        if self._data[self._skip(end)] not in b",}]":
            raise UnreadableError(bare.end())
        cause = "not_a_number" if _NOT_A_NUMBER.fullmatch(word) else "bare_words"
        self._replace(at, end, b'"' + word.replace(b"\\", b"\\\\") + b'"', cause)
        return end, False

    def _string(self, at: int, after: re.Pattern[bytes]) -> int:
        """Read a string, and return the position after it. It ends at a quote whose next text matches `after`."""
        sound = _SOUND.match(self._data, at)
        if sound and self._ends(sound.end(), after):
            return sound.end()
        if self._may_grow and _UNENDED.match(self._data, at):
            raise IncompleteError
        parts = [b'"']
        escapes: list[int] = []  # positions in `parts`
        causes = set()
        place = at + 1
        while True:
            plain = _PLAIN.match(self._data, place)
            assert plain
            parts.append(plain[0])
            place = plain.end()
            if place >= len(self._data):
                raise IncompleteError
            found = self._data[place]
            if found == _QUOTE:
                if self._ends(place + 1, after):
                    break
                if after is _AFTER_KEY or place >= self._next_field(at):
                    raise UnreadableError(place)
                parts.append(b'\\"')
                causes.add("unescaped_quotes")
            elif found == _BACKSLASH:
                escape = _ESCAPE.match(self._data, place)
                if escape and not (escape[0] == b'\\"' and self._ends(escape.end(), after)):
                    escapes.append(len(parts))
                    parts.append(escape[0])
                    place = escape.end()
                    continue
                parts.append(b"\\\\")
                causes.add("backslashes")
            else:
                parts.append(b"\\u%04x" % found)
                causes.add("control_characters")
            place += 1
        if (
            "backslashes" in causes
        ):  # the writer does not escape any: this \n is a backslash and the name of a folder
            for escape_at in escapes:
                if parts[escape_at][1] not in b'\\"':
                    parts[escape_at] = b"\\" + parts[escape_at]
        self._replace(at, place, b"".join(parts), *causes)
        return place + 1

    def _ends(self, at: int, after: re.Pattern[bytes]) -> bool:
        """Whether the quote before a position ends a string."""
        if after.match(self._data, at):
            return True
        if _TOO_SHORT.match(self._data, at):
            raise IncompleteError
        return False

    def _next_field(self, at: int) -> int:
        if self._field < at:
            found = _NEXT_FIELD.search(self._data, at)
            self._field = found.start() if found else len(self._data)
        return self._field

    def _skip(self, at: int) -> int:
        """Return the position of the next byte that is not whitespace."""
        white = SPACE.match(self._data, at)
        if white is None or white.end() >= len(self._data):
            raise IncompleteError
        return white.end()

    def _replace(self, start: int, end: int, text: bytes, *causes: str) -> None:
        self._out += (bytes(self._data[self._copied : start]), text)
        self._copied = end
        self._causes.update(causes)

    def _checked(self, text: bytes, end: int) -> bytes:
        """Apply the repairs that do not depend on the position in the value, and check the result."""
        if is_strict(text):
            return text
        for cause, repair in LAST_REPAIRS.items():
            repaired = repair(text)
            if repaired != text:
                self._causes.add(cause)
                text = repaired
        if not is_json(text):
            raise UnreadableError(end)
        return text
