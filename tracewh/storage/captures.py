"""Make the traces of a run known as graph captures of another run.

Views look for the captured graphs of run R in R and in R/capture_traces. So a link is a copy of the traces under
this name: nothing else has to know of it, in a folder, in an object store, or after compaction.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tracewh.storage import layout
from tracewh.storage.checks import require_sound
from tracewh.storage.layout import CAPTURES, MANIFEST, PARQUET, replaying_run
from tracewh.storage.manifest import Origin
from tracewh.storage.open_store import open_store
from tracewh.storage.store import StoredTrace, Target, next_free


def link_captures(
    warehouse: str | os.PathLike[str], run: str, capture_run: str
) -> list[layout.TraceKeys]:
    """Copy the traces of a run to RUN/capture_traces, and replace copies of them that were made before.

    Args:
        warehouse: The warehouse: a folder, or a URL.
        run: The run that replays the graphs.
        capture_run: The run with the captures.

    Returns:
        Run, worker and span of each copy.

    Raises:
        IngestError: The warehouse cannot be written, or a trace is damaged.
        OSError: A trace cannot be read.
    """
    store = open_store(warehouse)
    name = f"{replaying_run(run)}/{CAPTURES}"
    traces = list(store.traces(capture_run))
    known = store.known_traces({(name, trace.worker) for trace in traces})
    spans = _spans(traces, known.traces)
    copies = []
    with store.session() as session:
        for trace, span in zip(traces, spans, strict=True):
            generation = known.generations.get((name, trace.worker, span), 0) + 1
            source = trace.origin.source_path
            target = Target(name, trace.worker, span, (source,), generation, is_fixed=True)
            with trace.local_folder() as folder, session.staging() as staged:
                for file in sorted(folder.iterdir()):
                    if file.suffix == PARQUET or file.name == MANIFEST:
                        shutil.copyfile(file, staged / file.name)
                require_sound(store, trace, staged)
                copies.append((name, trace.worker, store.commit(session, target, staged)))
    return copies


def _spans(traces: Sequence[StoredTrace], copies: Iterable[StoredTrace]) -> list[str]:
    """The span of each copy: that of the copy that it replaces, otherwise its own or the next free number.

    A trace replaces the copy with the same source and content, otherwise a copy of the same file, which was then
    ingested again. Traces from standard input all have the same source, so each of them is a trace of its own.
    """
    old: dict[str, dict[str, Origin]] = defaultdict(dict)
    taken: dict[str, set[str]] = defaultdict(set)
    for copy in copies:
        old[copy.worker][copy.span] = copy.origin
        taken[copy.worker].add(copy.span)
    spans: dict[int, str] = {}
    for is_same in (_is_same, _is_same_file):
        for number, trace in enumerate(traces):
            same = (s for s, origin in old[trace.worker].items() if is_same(origin, trace.origin))
            if number not in spans and (span := next(same, None)):
                spans[number] = span
                del old[trace.worker][span]
    for number, trace in enumerate(traces):
        if number not in spans:
            spans[number] = next_free(trace.span, taken[trace.worker])
            taken[trace.worker].add(spans[number])
    return [spans[number] for number in range(len(traces))]


def _is_same(one: Origin, other: Origin) -> bool:
    return (one.source_path, one.content_hash) == (other.source_path, other.content_hash)


def _is_same_file(one: Origin, other: Origin) -> bool:
    return one.source_path == other.source_path and "/" in one.source_path
