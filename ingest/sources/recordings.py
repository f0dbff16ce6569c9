"""Files that `tracewh.record` wrote beside the traces of a process, and the traces that they belong to.

A recording belongs to all traces of the worker that its name begins with. If the folder has one worker only,
whatever it is called, the recordings of one process belong to it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tracewh.files import File
from tracewh.ingest.sources.source import KINETO, Source
from tracewh.record.record_file import SUFFIXES, VERSION

#: Bytes that the first line of a recording may have.
_MOST_BYTES = 1000
_NAME = re.compile(r"(?P<worker>.*?)(?:\.\d+)?\.(?:dataloader|cpu)\.jsonl")


def is_recording(name: str) -> bool:
    """Whether a file of this name is a recording."""
    return name.endswith(SUFFIXES)


def attach_recordings(
    traces: Sequence[Source], recordings: Iterable[File], run: str, is_named: bool
) -> list[Source]:
    """Give the traces of a folder their recordings.

    Args:
        traces: The traces of the folder.
        recordings: The recordings of the folder.
        run: Name of the run, for recordings that belong to no trace.
        is_named: Whether the user named a trace, or a recording. Then recordings of other workers are left alone.

    Returns:
        The traces, and a source with a problem for each recording that cannot be used.
    """
    by_worker: dict[str, list[File]] = defaultdict(list)
    found: list[Source] = []
    for file in recordings:
        worker = _worker(file)
        if why := _problem(file):
            found.append(Source(file, run, worker, "default", worker, problem=why))
        else:
            by_worker[worker].append(file)
    workers = {trace.worker for trace in traces if trace.reader == KINETO}
    others = by_worker.keys() - workers
    if len(workers) == len(others) == 1 and not by_worker.keys() & workers:
        by_worker = defaultdict(
            list, {worker: by_worker[other] for worker, other in zip(workers, others, strict=True)}
        )
        others = set()
    for worker in () if is_named and traces else others:
        why = (
            f"no trace beside it belongs to worker {worker!r}: rename it to WORKER.dataloader.jsonl or "
            "WORKER.cpu.jsonl, where WORKER is the file name of the trace up to the time stamp"
        )
        found += [
            Source(file, run, worker, "default", worker, problem=why) for file in by_worker[worker]
        ]
    return [
        replace(trace, recordings=tuple(by_worker[trace.worker]))
        if trace.reader == KINETO and trace.worker in by_worker
        else trace
        for trace in traces
    ] + found


def _worker(file: File) -> str:
    named = _NAME.fullmatch(file.name)
    return (named and named["worker"]) or file.name


def _problem(file: File) -> str:
    """Why a recording cannot be read; '' if it can."""
    try:
        with file.open("rb") as opened:
            start = opened.readline(_MOST_BYTES)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    try:
        header = json.loads(start)
        version = header["version"] if "tracewh" in header else None
    except (ValueError, KeyError, TypeError):
        version = None
    if not isinstance(version, int):
        return "it is not a recording of tracewh.record: its first line does not say so"
    if version != VERSION:
        return (
            f"it has version {version} of the format, and this tracewh reads version {VERSION}: use the same "
            "version of tracewh for recording and ingest"
        )
    return ""
