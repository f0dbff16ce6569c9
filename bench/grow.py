"""Grow a real trace: repeat its events until the file has the given size.

    python bench/grow.py TRACE.json.gz grown.json.gz --megabytes 300

Every copy comes after the one before it in time, with correlation ids, external ids, Python ids,
flow ids, sequence numbers and step numbers of its own, so that it links and nests as the original
does. The layout of the file, spaces and all, stays what the profiler wrote. The output is streamed:
memory depends on the size of the input alone.
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# What differs between two copies. The sentinels -1 and 0 stay: only positive numbers are moved.
TIMES = ("ts", "external ts")
IDS = (
    "correlation",
    "External id",
    "external id",
    "Ev Idx",
    "Profiler Event Index",
    "Record function id",
    "Python id",
    "Python parent id",
    "Sequence number",
    "id",
    "wait_on_cuda_event_record_corr_id",
)
STEP = "ProfilerStep#"
SHIFTED = re.compile(rf'("(?:{"|".join(TIMES + IDS)})":\s*|{STEP})([1-9][0-9]*)')


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as text, split into its events.

    `head` runs up to the first event, `tail` from the end of the last. `once` are the events that
    describe the file (metadata, spans of the recording); `repeated` are all others.
    """

    head: str
    once: list[str]
    repeated: list[str]
    tail: str
    separator: str


def take_apart(text: str) -> Trace:
    """Split the text of a trace into its events, byte for byte."""
    opening = re.search(r'"traceEvents":\s*\[\s*', text)
    if opening is None:
        raise SystemExit("not a trace: no traceEvents")
    decoder = json.JSONDecoder(strict=False)
    once: list[str] = []
    repeated: list[str] = []
    separator = ",\n  "
    start = opening.end()
    while True:
        event, end = decoder.raw_decode(text, start)
        describes_file = event.get("ph") == "M" or event.get("pid") in ("Spans", "Traces", "")
        (once if describes_file else repeated).append(text[start:end])
        between = re.compile(r"\s*,\s*").match(text, end)
        if between is None:
            return Trace(text[: opening.end()], once, repeated, text[end:], separator)
        separator, start = between.group(), between.end()


def copies(trace: Trace) -> Iterator[str]:
    """Yield the repeated events endlessly, each copy shifted in time."""
    pieces = SHIFTED.split(trace.separator.join(trace.repeated))
    # Literal text, a key, a number, literal text, a key, a number, ...
    keys = [key.strip('":\n ') for key in pieces[1::3]]
    numbers = [int(number) for number in pieces[2::3]]
    keyed = list(zip(keys, numbers, strict=True))
    steps = [number for key, number in keyed if key == STEP]
    stride = {
        **dict.fromkeys(TIMES, period(trace)),
        **dict.fromkeys(IDS, max((number for key, number in keyed if key in IDS), default=0)),
        STEP: max(steps) - min(steps) + 1 if steps else 0,
    }
    moves = [stride[key] for key in keys]
    copy = 0
    while True:
        pieces[2::3] = [
            str(number + copy * move) for number, move in zip(numbers, moves, strict=True)
        ]
        yield "".join(pieces)
        copy += 1


def period(trace: Trace) -> int:
    """Return the time from the first start to the last end in whole microseconds, plus a millisecond."""
    spans = [
        (float(event["ts"]), float(event["ts"]) + float(event.get("dur") or 0))
        for event in (json.loads(text, strict=False) for text in trace.repeated)
    ]
    return int(max(end for _, end in spans) - min(start for start, _ in spans)) + 1000


def grow(source: Path, target: Path, size: int) -> int:
    """Write `target` with at least `size` bytes of JSON and return the number of copies."""
    with gzip.open(source, "rt") if source.suffix == ".gz" else source.open() as file:
        trace = take_apart(file.read())
    written = count = 0
    with gzip.open(target, "wb", 6) if target.suffix == ".gz" else target.open("wb") as out:
        out.write((trace.head + trace.separator.join(trace.once)).encode())
        for events in copies(trace):
            written += out.write((trace.separator + events).encode())
            count += 1
            if written >= size:
                break
        out.write(trace.tail.encode())
    return count


def main() -> None:
    """Parse the command line and grow the trace."""
    parser = argparse.ArgumentParser(description="Repeat a trace's events up to a size.")
    parser.add_argument("source", type=Path, help="the trace, .json or .json.gz")
    parser.add_argument("target", type=Path, help="the file to write, .json or .json.gz")
    parser.add_argument("--megabytes", type=float, required=True, help="least size of the JSON")
    arguments = parser.parse_args()
    count = grow(arguments.source, arguments.target, int(arguments.megabytes * 1e6))
    print(f"{arguments.target}: {count} copies, {arguments.target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
