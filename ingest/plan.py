"""Plan an ingest: which files are new, and which span each gets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tracewh.debug import debugging
from tracewh.errors import RefusedError
from tracewh.ingest.error_messages import bug
from tracewh.ingest.result import file_size
from tracewh.ingest.sources.discover import Source, check_names
from tracewh.ingest.sources.files import Piped
from tracewh.ingest.sources.readers import reader_named
from tracewh.ingest.sources.source import KINETO
from tracewh.storage.manifest import content_hash
from tracewh.storage.store import Store, StoredTrace, Target, free_span

#: The largest file that is ingested together with others, and the most bytes and files in a batch, all as stored.
SMALL_BYTES, BATCH_BYTES, BATCH_TRACES = 1 << 20, 4 << 20, 64


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan for a file. It is picklable and contains all that another process needs.

    Attributes:
        source: The file, with the span that it should get.
        known: The stored trace with the same content; None if there is none.
        generation: In an object store, the generation of the attempts to write its trace: one more than
            the newest that exists.
    """

    source: Source
    known: StoredTrace | None
    generation: int = 1

    @property
    def target(self) -> Target:
        """The place of its trace in the warehouse."""
        source = self.source
        return Target(source.run, source.worker, source.span, _paths(source), self.generation)


def list_traces(
    store: Store, sources: Sequence[Source], force: bool, folder: Path | None
) -> list[Source]:
    """Replace each file that may hold several traces by one source per trace, in the order of the files.

    Args:
        store: The warehouse.
        sources: The files.
        force: Ingest files again that are in the warehouse already.
        folder: A folder for temporary files that exist until the end of the ingest; None on Spark.
    """
    found = []
    for source in sources:
        if source.reader == KINETO or source.problem:
            found.append(source)
            continue
        try:
            stored = () if force else _stored_traces(store, source)
            found += check_names(reader_named(source.reader).traces(source, stored, folder))
        except RefusedError as error:
            found.append(replace(source, problem=str(error)))
        except OSError as error:
            said = f"{error.strerror}: {error.filename or source.path}"
            found.append(replace(source, problem=said))
        except Exception as error:
            if debugging():
                raise
            found.append(replace(source, problem=str(bug(error))))
    return found


def _stored_traces(store: Store, source: Source) -> list[str]:
    """The workers of a run that were ingested from a file as it is now."""
    stat = source.path.stat()
    now = str(source.path), stat.st_size, stat.st_mtime_ns
    return [
        trace.worker
        for trace in store.traces(source.run)
        for origin in [trace.origin]
        if (origin.source_path, origin.source_bytes, origin.source_mtime_ns) == now
    ]


def make_plan(store: Store, sources: Sequence[Source], force: bool) -> list[Planned]:
    """Return a plan for each file, in the order of the files."""
    known = store.known_traces((source.run, source.worker) for source in sources)
    stored: dict[tuple[str, str], list[StoredTrace]] = defaultdict(list)
    taken: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for trace in known.traces:
        stored[trace.run, trace.worker].append(trace)
        taken[trace.run, trace.worker][trace.span] = trace.origin.source_path
    ingested = {path for source in sources for path in _paths(source)}
    moved = {worker: _of_other_files(traces, ingested) for worker, traces in stored.items()}
    plan = []
    for source in sources:
        worker = source.run, source.worker
        same = None if force else _same_content(source, stored[worker])
        is_new = force and not any(path in taken[worker].values() for path in _paths(source))
        if is_new and (old := _same_content(source, moved.get(worker, ()))):
            # The file was moved: it takes the place of its trace.
            moved[worker].remove(old)
            source = replace(source, copies=(*source.copies, old.origin.source_path))
        if same is None:
            span = free_span(source.span, _paths(source), taken[worker])
            source = replace(source, span=span)
            taken[worker][span] = str(source.path)
        newest = known.generations.get((*worker, source.span), 0)
        plan.append(Planned(source, same, newest + 1))
    return plan


def _of_other_files(traces: Sequence[StoredTrace], paths: Container[str]) -> list[StoredTrace]:
    """The traces of a worker that no file with one of these paths replaces, if no other trace is of their file.

    Several traces may be of standard input or of one named pipe.
    """
    count = Counter(trace.origin.source_path for trace in traces)
    found = (trace for trace in traces if "/" in trace.origin.source_path)
    return [
        t for t in found if t.origin.source_path not in paths and count[t.origin.source_path] == 1
    ]


def make_batches(plan: Sequence[Planned], at_once: int) -> list[list[Planned]]:
    """Divide a plan into batches of files to ingest together, in the order of the plan.

    Small Kineto traces are ingested together: DuckDB takes longer to plan the statements for such a trace than to
    run them. Each other file is a batch of its own.

    Args:
        plan: The plan.
        at_once: The number of batches that can be ingested at the same time.
    """
    sizes = [_small_size(each) for each in plan]
    small = sum(size is not None for size in sizes)
    most = min(BATCH_TRACES, -(-small // at_once))
    batches: list[list[Planned]] = []
    free_traces = free_bytes = 0
    for planned, size in zip(plan, sizes, strict=True):
        if size is None or not free_traces or size > free_bytes:
            batches.append([])
            free_traces, free_bytes = (0, 0) if size is None else (most, BATCH_BYTES)
        batches[-1].append(planned)
        free_traces, free_bytes = free_traces - 1, free_bytes - (size or 0)
    return batches


def _small_size(planned: Planned) -> int | None:
    """The size of a new file that is a small Kineto trace; None for any other."""
    source = planned.source
    is_plain = source.reader == KINETO and not source.recordings and not source.problem
    if planned.known is not None or not is_plain or isinstance(source.path, Piped):
        return None
    size = file_size(source)
    return size if 0 < size <= SMALL_BYTES else None


def _same_content(source: Source, stored: Iterable[StoredTrace]) -> StoredTrace | None:
    """The stored trace of the same run and worker with the same content; None if there is none.

    A file with the same path, size and modification time is not read.
    """
    if source.problem:
        return None
    try:
        stat = source.path.stat()
        alike = [trace for trace in stored if trace.origin.source_bytes == stat.st_size]
        for trace in alike if stat.st_mtime_ns else ():
            origin = trace.origin
            if (origin.source_path, origin.source_mtime_ns) == (str(source.path), stat.st_mtime_ns):
                return trace
        digest = content_hash(source.path) if alike else ""
    except OSError:  # its ingest reports the error
        return None
    return next((trace for trace in alike if trace.origin.content_hash == digest), None)


def _paths(source: Source) -> tuple[str, ...]:
    """The paths of a file and of its copies; none for a pipe, whose content is different each time."""
    return () if isinstance(source.path, Piped) else (str(source.path), *source.copies)
