"""Make the traces of a run known as graph captures of another run.

Views look for the captured graphs of run R in R and in R/capture_traces. So a link is a copy of the traces under
this name: nothing else has to know of it, in a folder, in an object store, or after compaction.
"""

from __future__ import annotations

import os
import shutil

from tracewh.storage import layout
from tracewh.storage.layout import CAPTURES, PARQUET, replaying_run
from tracewh.storage.open_store import open_store
from tracewh.storage.store import Target


def link_captures(
    warehouse: str | os.PathLike[str], run: str, capture_run: str
) -> list[layout.TraceKeys]:
    """Copy the traces of a run to RUN/capture_traces, and replace copies that were made before.

    Args:
        warehouse: The warehouse: a folder, or a URL.
        run: The run that replays the graphs.
        capture_run: The run with the captures.

    Returns:
        Run, worker and span of each copy.

    Raises:
        IngestError: The warehouse cannot be written.
        OSError: A trace cannot be read.
    """
    store = open_store(warehouse)
    name = f"{replaying_run(run)}/{CAPTURES}"
    traces = list(store.traces(capture_run))
    known = store.known_traces({(name, trace.worker) for trace in traces}).generations
    copies = []
    with store.session() as session:
        for trace in traces:
            generation = known.get((name, trace.worker, trace.span), 0) + 1
            source = trace.origin.source_path
            target = Target(name, trace.worker, trace.span, source, generation)
            with trace.local_folder() as folder, session.staging() as staged:
                for file in sorted(folder.glob(f"*{PARQUET}")):
                    shutil.copyfile(file, staged / file.name)
                copies.append((name, trace.worker, store.commit(session, target, staged)))
    return copies
