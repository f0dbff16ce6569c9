"""Find the list of events in a trace file, and parse the other top-level keys."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from tracewh.ingest.read.buffers import BLANKS, TextBuffer
from tracewh.ingest.read.json_check import is_strict
from tracewh.ingest.read.json_repair import IncompleteError, Scanner, UnreadableError

#: The most bytes to read before the events, or after them. No trace has more.
MOST_BYTES = 64 << 20

#: What to say of a flight recorder dump, JSON or pickle.
FLIGHT_RECORDER = (
    "a flight recorder dump of PyTorch, which tracewh cannot read yet; "
    "torchfrtrace of PyTorch compares the dumps of all ranks"
)

_KEY = b'"traceEvents"'
_LIST = re.compile(rb"[\x00-\x20]*:[\x00-\x20]*\[")
_UNDECIDED = re.compile(rb"[\x00-\x20]*:?[\x00-\x20]*\Z")
_FIRST_PHASE = re.compile(rb'\s*\[\s*\{\s*"ph"\s*:')
#: The most keys named traceEvents to check. Metadata may contain some at deeper levels.
_TRIES = 16


def find_events(text: TextBuffer, before: bytes = b"") -> int | None:
    """Find the top-level traceEvents. Return the position after its `[` in the buffer, or None.

    Args:
        text: The text; more of it is read as needed.
        before: The file up to the start of the buffer.
    """
    sought = tries = 0
    while True:
        while (key := text.buffer.find(_KEY, sought)) >= 0 and tries < _TRIES:
            after = key + len(_KEY)
            if _UNDECIDED.match(text.buffer, after):
                break  # decided when more text is read
            if found := _LIST.match(text.buffer, after):
                # The word may also be at a deeper level or in a string. Only after the top-level key is this
                # text a valid object.
                tries += 1
                value = parse_object(before + text.buffer[: found.end()] + b"]}", Counter())
                if value is not None and value.get("traceEvents") == []:
                    return found.end()
            sought = key + 1
        else:
            sought = max(sought, len(text.buffer) - len(_KEY))
        if len(text.buffer) > MOST_BYTES or not text.grow():
            return None


def is_list_of_events(text: TextBuffer) -> bool:
    """Whether the file is a list, without an object around it, whose first element is an event."""
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
        return "ph" in (parse_object(first.text, Counter()) or {})


_EXPORT_AGAIN = "export the report again with --type sqlite"
_OTHER_EXPORT = f"if nsys wrote it, {_EXPORT_AGAIN}"
#: First bytes of files that stand for a trace or contain one, and what to do.
_STARTS = {
    b"version https://git-lfs": "a pointer of Git LFS; fetch the file itself: git lfs pull",
    b"\x1f\x8b": "compressed twice, the first time with gzip; decompress it once",
    b"\x28\xb5\x2f\xfd": "compressed twice, the first time with zstd; decompress it once",
    b"BZh": "compressed with bzip2; decompress it first: bunzip2",
    b"\xfd7zXZ\0": "compressed with xz; decompress it first: unxz",
    b"\x04\x22\x4d\x18": "compressed with lz4; decompress it first: unlz4",
    b"PK\3\4": "a ZIP archive; unpack it, and ingest the folder",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it, and ingest the folder",
    b"ARROW1": f"an Arrow file; {_OTHER_EXPORT}",
    b"\x89HDF": f"an HDF5 file; {_OTHER_EXPORT}",
}


#: A header of three columns or more.
_CSV = re.compile(rb'"?[A-Za-z_][^\n{}\[\]<>]*,[^\n{}\[\]<>]*,')
#: Kineto's reader gets those that no other reader recognises, and what comes through a pipe.
_ONLY_SOME_TABLES = "which is read only if a profiler wrote it or if it has the columns of pipeline_operations, and not from a pipe"


def describe_file(text: bytes) -> str:
    """Describe a file that is not a trace, for an error message, by its first bytes."""
    start = b"".join(text[:200].split())[:2]
    if not start:
        return "the file is empty"
    if text.startswith(b"SQLite format 3\0"):
        return (
            "an SQLite database, which cannot be read from a pipe or a store: name a file on a disk"
        )
    for magic, said in _STARTS.items():
        if text.startswith(magic):
            return said
    if text[257:262] == b"ustar":
        return "a tar archive; unpack it, and ingest the folder"
    if start[:1] == b"<":
        return "a web page or XML, perhaps the error of a download; download the trace again"
    if start in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
        return "not UTF-8 text, perhaps UTF-16; save it as UTF-8"
    if start == b"[[":
        return "a PyTorch memory timeline (a list of lists)"
    if start == b"[{":
        return "a list of objects that does not begin with an event (one with ph)"
    if text.startswith(b"PAR1"):
        return f"a Parquet file, {_ONLY_SOME_TABLES}; if nsys wrote it, ingest its folder"
    if _CSV.match(text):
        return f"a CSV table, {_ONLY_SOME_TABLES}"
    if start[:1] != b"{":
        return "not a JSON object"
    if b'"rocprofiler-sdk-tool"' in text:
        return "a rocprofv3 trace; export the PyTorch profiler's own trace"
    if b'"nodes"' in text and b'"schema"' in text:
        return "a PyTorch execution trace (it has nodes, not traceEvents)"
    if b'"pg_config"' in text and b'"entries"' in text:
        return FLIGHT_RECORDER
    if b'"header"' in text and (b'"coll_perf"' in text or b'"p2p_perf"' in text):
        return "a log of the NCCL inspector, which tracewh cannot read yet"
    if b'"globalPid"' in text or b'"globalTid"' in text:
        return f"a JSON export of Nsight Systems; {_EXPORT_AGAIN}"
    if any(_LIST.match(text, key.end()) for key in re.finditer(_KEY, text)):
        return (
            "its traceEvents are not at the top of the JSON object, or what stands before them is damaged or is nested "
            "too deeply"
        )
    return "a JSON object without traceEvents"


def parse_metadata(text: bytes, reasons: Counter[str]) -> dict[str, Any]:
    """Parse the top-level keys of a file.

    Args:
        text: The file without its events.
        reasons: Counts what is repaired, and the damaged parts that are skipped.
    """
    value = parse_object(text, reasons)
    if value is None:
        scanner = Scanner(text, 0)
        try:
            end = scanner.read().end
        except IncompleteError:
            reasons["truncated_bytes"] += len(text[scanner.whole_end :].strip(BLANKS + b","))
            value = parse_object(scanner.whole_members(), reasons)
        except UnreadableError:
            reasons["unreadable_metadata"] += 1
            value = parse_object(scanner.whole_members(), reasons)
        else:
            if after := len(text[end:].strip(BLANKS)):
                reasons["bytes_after_the_end"] += after
            value = parse_object(text[:end], reasons)
    if value is None:
        reasons["unreadable_metadata"] = 1
    return {key: found for key, found in (value or {}).items() if key != "traceEvents"}


def parse_object(text: bytes, reasons: Counter[str]) -> dict[str, Any] | None:
    """Parse a JSON object, repaired if necessary.

    Integers of up to 4,300 digits are kept. Longer ones, and other numbers that are too large for a double, become
    text.

    Returns:
        The object; None if it cannot be repaired, is nested too deeply for Python's parser, or is not an object.
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
        found = json.loads(text, parse_float=_finite, parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _integer(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:  # Python converts no more digits
        return text


def _finite(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text
