"""A trace to ingest: where it lies, who recorded it, and its names in the warehouse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracewh.files import File

#: The reader of traces of the PyTorch profiler.
KINETO = "kineto"


@dataclass(frozen=True, slots=True)
class Source:
    """A file, or a folder of files, that may be a trace, with the names from its path. It is picklable.

    Attributes:
        path: The file; a `files.TraceFolder` if a folder is the trace.
        run: Name of the run.
        worker: Name of the worker.
        span: Name of the span.
        trace_name: File name without suffixes.
        reader: Name of its reader, which is also the value of `traces.source`.
        part: Which trace of the file it is, e.g. the number of a process; '' if the file is one trace, or was
            not looked into yet.
        recordings: Files that tracewh.record wrote beside the trace, in the same process.
        step_range: Regular expression for the names of ranges that are steps; None for those that the reader
            knows.
        local: A copy of the file on this machine, or what it was exported to, to be read instead; it exists until
            the end of the ingest.
        is_rank_named: Whether a rank in the name of the file is that of the trace. It is not if several processes in
            the file may be ranks.
        copies: Paths of other forms of the recording, such as the report that it was exported from.
        problem: Why it cannot be ingested, in one line; '' if it can be tried.
    """

    path: File
    run: str
    worker: str
    span: str
    trace_name: str
    reader: str = KINETO
    part: str = ""
    recordings: tuple[File, ...] = ()
    step_range: str | None = None
    local: Path | None = None
    is_rank_named: bool = True
    copies: tuple[str, ...] = ()
    problem: str = ""
