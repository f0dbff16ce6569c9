"""The worker of a Kineto trace, and which of its recordings it is, from the name of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

#: The suffixes of trace files.
SUFFIXES = (".json", ".json.gz", ".json.zst", ".raw.gz")
_SUFFIXES = r"(?:(?:\.pt)?\.trace)?\.(?:json|raw)(?:\.gz|\.zst)?"
#: `worker0.1623143089861.pt.trace.json.gz`, as `tensorboard_trace_handler` names it: worker, stamp, suffixes.
_PLAIN = re.compile(rf"(?P<worker>.*?)(?:\.(?P<stamp>\d+))?{_SUFFIXES}")
#: `1763000000.12-TP-0-EP-1-DECODE.trace.json.gz`, as SGLang does: prefix, stamp, ranks, stage, suffixes.
_SGLANG = re.compile(
    r"(?:(?P<prefix>.+)-)?(?P<stamp>\d+(?:\.\d+)?)-(?P<worker>TP-\d+(?:-(?:DP|PP|EP)-\d+)*)"
    rf"(?:-(?P<stage>[A-Za-z_]+))?{_SUFFIXES}"
)
#: What SGLang puts together from the files of the ranks.
_MERGED = re.compile(rf"merged-(?P<stamp>\d+(?:\.\d+)?){_SUFFIXES}")


@dataclass(frozen=True, slots=True)
class TraceName:
    """What the name of a file says.

    Attributes:
        worker: The worker.
        stamp: When it was recorded, as the name has it; None if it does not say.
        label: What else the name says of the recording, e.g. its stage; often ''.
    """

    worker: str
    stamp: str | None = None
    label: str = ""


def trace_name(name: str) -> TraceName:
    """Read the name of a file."""
    if found := _SGLANG.fullmatch(name):
        label = "-".join(part for part in (found["prefix"], found["stage"]) if part)
        return TraceName(found["worker"], found["stamp"], label)
    if found := _PLAIN.fullmatch(name):
        return TraceName(found["worker"] or name, found["stamp"])
    return TraceName(name)


def span_of(name: str, names: tuple[str, ...]) -> str:
    """The span of a file: its number among the recordings of the worker, and its label; or 'default'.

    Args:
        name: The name of the file.
        names: The names of all files in its folder.
    """
    read = trace_name(name)
    number = _numbers(names).get((read.worker, read.stamp))
    return "default" if number is None else "-".join(filter(None, (str(number), read.label)))


@lru_cache(maxsize=8)  # of a folder whose files are named one by one, it is wanted for each
def _numbers(names: tuple[str, ...]) -> Mapping[tuple[str, str | None], int]:
    """Number the stamps of each worker of a folder as text, from 1."""
    stamps: dict[str, set[str]] = {}
    for read in (trace_name(name) for name in names if name.endswith(SUFFIXES)):
        if read.stamp is not None:
            stamps.setdefault(read.worker, set()).add(read.stamp)
    return {
        (worker, stamp): number
        for worker, found in stamps.items()
        for number, stamp in enumerate(sorted(found), 1)
    }


def is_copy(name: str, names: Iterable[str]) -> bool:
    """Whether a file has the events of others in its folder: SGLang merged them, or JAX wrote them for Perfetto."""
    if name == "perfetto_trace.json.gz":
        return any(other.endswith(".trace.json.gz") for other in names)
    merged = _MERGED.fullmatch(name)
    return merged is not None and any(
        (found := _SGLANG.fullmatch(other)) and found["stamp"] == merged["stamp"] for other in names
    )
