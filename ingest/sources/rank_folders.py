"""Folders that have the traces of one rank, beside those of the other ranks of a job."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tracewh.files import File
from tracewh.ingest.sources.readers import start_of
from tracewh.ingest.sources.search import LogFolder
from tracewh.ingest.sources.source import KINETO, Source
from tracewh.storage.layout import CAPTURES

_NAME = re.compile(r"rank[-_]?(\d+)", re.IGNORECASE)
_RANK = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}]*?"rank"\s*:\s*(\d+)')


def joined_ranks(folders: Iterable[tuple[LogFolder, Sequence[Source]]]) -> dict[File, Source]:
    """Make one run of the folders `rank_0`, `rank_1` and so on in a folder: each of them is a worker.

    Each has to have the traces of one worker only, and the trace in the one with the highest number has to
    say that it is of that rank. So folders that are called after something else, such as the rank of a matrix,
    stay runs.

    Args:
        folders: Folders of log files, with the traces in each.

    Returns:
        The traces that have another run and worker now, by their files.
    """
    runs: dict[str, dict[tuple[int, str], list[Source]]] = defaultdict(lambda: defaultdict(list))
    for folder, traces in folders:
        *others, name = folder.run.split("/")
        named = _NAME.fullmatch(name)
        if named and traces and folder.above and CAPTURES not in others:
            runs[folder.above][int(named[1]), name] += traces
    joined: dict[File, Source] = {}
    for run, ranks in runs.items():
        last, _ = highest = max(ranks)
        if all(map(_is_of_one_worker, ranks.values())) and _rank_of(ranks[highest][0]) == last:
            joined |= {
                trace.path: replace(trace, run=run, worker=name)
                for (_, name), traces in ranks.items()
                for trace in traces
            }
    return joined


def _is_of_one_worker(traces: Sequence[Source]) -> bool:
    return (
        len({(trace.worker, trace.reader) for trace in traces}) == 1 and traces[0].reader == KINETO
    )


def _rank_of(trace: Source) -> int | None:
    """The rank that a trace states before its events."""
    try:
        found = _RANK.search(start_of(trace.path))
    except OSError:  # its ingest reports the error
        return None
    return int(found[1]) if found else None
