"""What stands around the events of a trace: where they begin, and the other top-level keys."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from tracewh.ingest.read.buffers import BLANKS, TextBuffer
from tracewh.ingest.read.json_check import is_strict
from tracewh.ingest.read.json_repair import IncompleteError, Scanner, UnreadableError

WHITESPACE = b" \t\r\n"

#: No trace has more than this before its events, or after them.
MOST_BYTES = 64 << 20

_KEY = b'"traceEvents"'
_LIST = re.compile(rb"[\x00-\x20]*:[\x00-\x20]*\[")
_UNDECIDED = re.compile(rb"[\x00-\x20]*:?[\x00-\x20]*\Z")
_FIRST_PHASE = re.compile(rb'\s*\[\s*\{\s*"ph"\s*:')
#: So many keys of that name may stand deeper in the metadata.
_TRIES = 16


def find_events(text: TextBuffer, before: bytes = b"") -> int | None:
    """The byte of the buffer after the `[` of a top-level traceEvents, or None.

    Args:
        text: Read on as far as it takes.
        before: The file up to there.
    """
    sought = tries = 0
    while True:
        while (key := text.buffer.find(_KEY, sought)) >= 0 and tries < _TRIES:
            after = key + len(_KEY)
            if _UNDECIDED.match(text.buffer, after):
                break  # what is read next shows what follows
            if found := _LIST.match(text.buffer, after):
                # The word may also stand deeper or in a text: only the key makes this whole.
                tries += 1
                value = parsed(before + text.buffer[: found.end()] + b"]}", Counter())
                if value is not None and value.get("traceEvents") == []:
                    return found.end()
            sought = key + 1
        else:
            sought = max(sought, len(text.buffer) - len(_KEY))
        if len(text.buffer) > MOST_BYTES or not text.grow():
            return None


def is_list_of_events(text: TextBuffer) -> bool:
    """Whether the file is a bare list whose first element is an event."""
    while True:
        size = len(text.buffer)
        try:
            first = Scanner(text.buffer, text.buffer.index(b"[") + 1, may_grow=True).read()
        except (IncompleteError, UnreadableError) as error:
            text.grow(size)
            if size < len(text.buffer) <= MOST_BYTES:
                continue
            is_damaged = isinstance(error, UnreadableError)
            return is_damaged and _FIRST_PHASE.match(text.buffer) is not None
        return "ph" in (parsed(first.text, Counter()) or {})


def what_it_is(text: bytes) -> str:
    """The name of a similar file that a log folder may contain, recognized by its first bytes."""
    start = b"".join(text[:200].split())[:2]
    if not start:
        return "the file is empty"
    if start in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
        return "not UTF-8 text, perhaps UTF-16; save it as UTF-8"
    if start == b"[[":
        return "a PyTorch memory timeline (a list of lists)"
    if start == b"[{":
        return "a list of objects that does not begin with an event (one with ph)"
    if start[:1] != b"{":
        return "not a JSON object"
    if b'"rocprofiler-sdk-tool"' in text:
        return "a rocprofv3 trace; export the PyTorch profiler's own trace"
    if b'"nodes"' in text and b'"schema"' in text:
        return "a PyTorch execution trace (it has nodes, not traceEvents)"
    return "a JSON object without traceEvents"


def metadata(text: bytes, reasons: Counter[str]) -> dict[str, Any]:
    """The top-level keys of a file, whose events were taken out of `text`.

    What is damaged is left out, and the reasons say so.
    """
    value = parsed(text, reasons)
    if value is None:
        scanner = Scanner(text, 0)
        try:
            end = scanner.read().end
        except IncompleteError:
            reasons["truncated_bytes"] += len(text[scanner.whole_end :].strip(BLANKS + b","))
            value = parsed(scanner.whole_members(), reasons)
        except UnreadableError:
            reasons["unreadable_metadata"] += 1
            value = parsed(scanner.whole_members(), reasons)
        else:
            reasons["bytes_after_the_end"] += len(text[end:].strip(BLANKS))
            value = parsed(text[:end], reasons)
    return {key: found for key, found in (value or {}).items() if key != "traceEvents"}


def parsed(text: bytes, reasons: Counter[str]) -> dict[str, Any] | None:
    """A whole object, repaired where it must be; None where it is none, or beyond repair.

    Numbers beyond 64 bits are kept; those beyond a double are their text.
    """
    text = text.strip(BLANKS)
    if not is_strict(text):
        try:
            value = Scanner(text, 0).read()
        except (IncompleteError, UnreadableError):
            return None
        if value.end != len(text):
            return None
        reasons.update(value.causes)
        text = value.text
    try:
        found = json.loads(text, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _finite(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text
