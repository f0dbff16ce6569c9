"""Folders that have the traces of one rank, beside those of the other ranks of a job."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from tracewh.files import File
from tracewh.ingest.sources.readers import start_of
from tracewh.ingest.sources.search import LogFolder
from tracewh.ingest.sources.source import KINETO, Source
from tracewh.ingest.sources.trace_names import trace_name
from tracewh.storage.layout import CAPTURES

_NAME = re.compile(r"rank[-_]?(\d+)", re.IGNORECASE)
#: Number of traces of a run that are opened to see what rank they state.
MOST_OPENED = 4
_RANK = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}]*?"rank"\s*:\s*(\d+)')

#: The traces of each folder, by its number and name.
_Ranks: TypeAlias = dict[tuple[int, str], list[Source]]


def joined_ranks(folders: Iterable[tuple[LogFolder, Sequence[Source]]]) -> dict[File, Source]:
    """Make one run of the folders `rank_0`, `rank_1` and so on in a folder: each of them is a worker.

    The trace in the folder with the highest number has to say that it is of that rank, or the next one, if that
    one is still being written. So folders that are called after something else, such as the rank of a matrix, stay
    runs. So do all of them if one has traces of several processes that are of other ranks.

    Args:
        folders: Folders of log files, with the traces in each.

    Returns:
        The traces that have another run, worker and span now, by their files.
    """
    runs: dict[str, _Ranks] = defaultdict(lambda: defaultdict(list))
    for folder, traces in folders:
        *others, name = folder.run.split("/")
        named = _NAME.fullmatch(name)
        is_kineto = {trace.reader for trace in traces} == {KINETO}
        if named and is_kineto and folder.above and CAPTURES not in others:
            runs[folder.above][int(named[1]), name] += traces
    joined: dict[File, Source] = {}
    for run, ranks in runs.items():
        if _are_stated(ranks):
            for (_, name), traces in ranks.items():
                for trace, span in zip(traces, _spans(traces), strict=True):
                    joined[trace.path] = replace(trace, run=run, worker=name, span=span)
    return joined


def _are_stated(ranks: _Ranks) -> bool:
    """Whether the folders are those of ranks."""
    highest = sorted(ranks.items(), reverse=True)[:MOST_OPENED]
    stated = (
        _states(trace, number) for (number, _), traces in highest for trace in _by_worker(traces)
    )
    return next((each for each in stated if each is not None), False) and all(
        _states(trace, number) is not False
        for (number, _), traces in ranks.items()
        if len(newest := _by_worker(traces)) > 1
        for trace in newest
    )


def _by_worker(traces: Sequence[Source]) -> list[Source]:
    """The newest trace of each worker, or another file that is no trace."""
    return [*{trace.worker: trace for trace in traces}.values()]


def _states(trace: Source, rank: int) -> bool | None:
    """Whether a trace says before its events that it is of a rank; None if it cannot be read so far."""
    try:
        start = start_of(trace.path)
    except OSError:  # its ingest reports the error
        return None
    if found := _RANK.search(start):
        return int(found[1]) == rank
    return False if b'"traceEvents"' in start else None


def _spans(traces: Sequence[Source]) -> list[str]:
    """The spans of the traces of a rank, which may be of several processes, one after the other."""
    if len({trace.worker for trace in traces}) == 1:
        return [trace.span for trace in traces]
    stamps = [trace_name(trace.path.name).stamp for trace in traces]
    numbers = {stamp: str(n) for n, stamp in enumerate(sorted(filter(None, set(stamps))), 1)}
    return [
        re.sub(r"^\d+", numbers[stamp], trace.span) if stamp else trace.worker
        for trace, stamp in zip(traces, stamps, strict=True)
    ]
