"""Find trace files, and the run, worker and span of each from its path and name.

The rules are those of the TensorBoard plugin. A run is a folder with trace files, named by its path below the
ingested folder. The worker is the file name up to the time stamp. The spans of a worker are numbered in the
order of their time stamps. Besides, a folder may hold the traces of one rank (rank_folders.py), and names may
be those of SGLang (trace_names.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from tracewh.errors import IngestError
from tracewh.files import File, printable
from tracewh.ingest.sources.files import STDIN, TraceFolder
from tracewh.ingest.sources.rank_folders import joined_ranks
from tracewh.ingest.sources.readers import claim, is_wanted, reader_named, recognise
from tracewh.ingest.sources.recordings import attach_recordings, is_recording
from tracewh.ingest.sources.search import LogFolder, Search
from tracewh.ingest.sources.source import KINETO, Source
from tracewh.ingest.sources.trace_names import SUFFIXES, is_copy, span_of, trace_name
from tracewh.ingest.sources.unsupported import why_unsupported_name
from tracewh.storage import layout

__all__ = ["Source", "discover"]


def discover(
    paths: Iterable[str | os.PathLike[str]],
    run: str | None = None,
    step_range: str | None = None,
) -> list[Source]:
    """Find all files of known profilers, in the order of run, worker and span.

    Args:
        paths: Files, run folders, or folders of runs. Folders are searched recursively. A path may be a URL
            in an object store; - is standard input.
        run: Name of the run. If the paths contain several runs, it is put in front of their names.
        step_range: Regular expression for the names of ranges that are steps, where a profiler records ranges.

    Raises:
        IngestError: A path does not exist or cannot be read, there is no trace file, the run cannot have this name, or
            `step_range` is not a regular expression.
    """
    if step_range is not None and (why := _why_no_expression(step_range)):
        raise IngestError(f"the step range {step_range!r} is no regular expression of RE2: {why}")
    search = Search(is_wanted, claim)
    found: dict[File, Source] = {}
    folders: list[tuple[LogFolder, list[Source]]] = []
    unsupported = ""
    named: set[File] = {STDIN}
    paths = list(paths)
    if not paths:
        raise IngestError("the list of paths is empty; name a trace file, or a folder of them")
    if not all(map(os.fspath, paths)):
        raise IngestError("a path is empty; name a trace file, or a folder of them")
    for given in paths:
        if os.fspath(given) == "-":
            found.setdefault(STDIN, Source(STDIN, "stdin", "stdin", "default", "stdin"))
            continue
        for folder in search.folders(given):
            if folder.is_named:
                named.update(folder.files)
            for name in folder.names:
                if why := why_unsupported_name(name):
                    unsupported = f"; {printable(name)} is {why}"
            recordings = _recordings(folder)
            files = [f for f in folder.files if f not in found and not is_recording(f.name)]
            traces = [source for file in files if (source := _source(file, folder))]
            traces = attach_recordings(traces, recordings, folder.run, folder.is_named)
            new = [source for source in traces if found.setdefault(source.path, source) is source]
            folders.append((folder, [source for source in new if not source.problem]))
    found |= joined_ranks(folders)
    if not found:
        names = ", ".join(f"*{suffix}" for suffix in SUFFIXES[:3])
        searched = ", ".join(map(str, paths))
        if search.links and not unsupported:
            unsupported = f"; {search.links[0]} is a link, which is not followed: name it"
        raise IngestError(f"no trace files ({names}) in {searched}{unsupported}")
    sources = _without_copies(found.values(), named)
    if step_range is not None:
        sources = [replace(source, step_range=step_range) for source in sources]
    if run is not None:
        several = len({source.run for source in sources}) > 1
        sources = [replace(s, run=f"{run}/{s.run}" if several and run else run) for s in sources]
    sources = check_names(sources, run)
    return sorted(sources, key=lambda s: (s.run, s.worker, s.span.rjust(9), str(s.path)))


def _why_no_expression(pattern: str) -> str:
    """Why DuckDB does not take a pattern, e.g. one that looks ahead; '' if it does."""
    import duckdb

    try:
        with duckdb.connect() as con:
            con.execute("SELECT regexp_full_match('', $1)", [pattern])
    except duckdb.InvalidInputException as error:
        return str(error).partition(": ")[2]
    return ""


def _without_copies(sources: Iterable[Source], named: Collection[File]) -> list[Source]:
    """Of recordings that are in several forms, such as a report and its export, keep the first: `Reader.form`."""
    forms: dict[object, list[tuple[int, Source]]] = {}
    for source in sources:
        form = reader_named(source.reader).form(source.path)
        is_alone = form is None or source.path in named
        folder = str(source.path).replace("\\", "/").rpartition("/")[0]
        key = source.path if is_alone else (folder, source.run, source.worker, source.reader)
        forms.setdefault(key, []).append((form or 0, source))
    kept = []
    for found in forms.values():
        first = min(found, key=lambda each: each[0])[1]
        copies = tuple(str(source.path) for _, source in found if source is not first)
        kept.append(replace(first, copies=copies))
    return kept


def check_names(sources: Iterable[Source], run: str | None = None) -> list[Source]:
    """Return the sources, with a problem where a name cannot be that of a folder of the warehouse.

    Args:
        sources: The sources.
        run: The name of the run that the user gave, if so.

    Raises:
        IngestError: It is the name of the run that the user gave.
    """
    checked = []
    for source in sources:
        problem = _name_problem(source)
        if problem and run is not None and layout.name_problem("run", source.run):
            raise IngestError(f"{source.path}: {problem}")
        checked.append(_with_problem(source, problem) if problem else source)
    return checked


def _name_problem(source: Source) -> str:
    if (path := str(source.path)) != printable(path):
        return "its path is not UTF-8; rename it"
    for key in layout.KEYS:
        if said := layout.name_problem(key, getattr(source, key)):
            return said if key != "run" else f"{said}; give it one with --run"
    return ""


def _with_problem(source: Source, problem: str) -> Source:
    """Return a source that will not be read, with names that can be looked for."""
    run, worker, span = (_short_name(key, getattr(source, key)) for key in layout.KEYS)
    return replace(source, run=run, worker=worker, span=span, problem=problem)


def _short_name(key: str, name: str) -> str:
    """Return the beginning of a name, as a folder can have it: a letter may take twelve bytes there."""
    short = printable(name)[:40] or "-"
    while layout.name_problem(key, short):
        short = short[:-1]
    return short


def _recordings(folder: LogFolder) -> list[File]:
    """The recordings in a folder, also if the user named a trace in it."""
    files = [file for file in folder.files if is_recording(file.name)]
    if folder.is_named and not files and isinstance(folder.files[0], Path):
        beside = folder.files[0].parent
        files = [beside / name for name in _recording_names(folder.names)]
    return files


@lru_cache(maxsize=8)  # of a folder whose files are named one by one, it is wanted for each
def _recording_names(names: tuple[str, ...]) -> list[str]:
    return sorted(filter(is_recording, names))


def _source(file: File, folder: LogFolder) -> Source | None:
    """The source of a file; None if it is of no known profiler."""
    if isinstance(file, TraceFolder):
        run, stem = reader_named(file.reader).names(folder.run, file)
        return Source(file, run, stem, "default", stem, file.reader, problem=file.problem)
    recognised = recognise(file, folder.is_named)
    if recognised is None:
        return None
    reader, problem = recognised
    if reader != KINETO:
        run, stem = reader_named(reader).names(folder.run, file)
        return Source(file, run, stem, "default", stem, reader, problem=problem)
    if not folder.is_named and is_copy(file.name, folder.names):
        return None
    worker, span = trace_name(file.name).worker, span_of(file.name, folder.names)
    return Source(file, folder.run, worker, span, _stem(file.name), problem=problem)


def _stem(name: str) -> str:
    return re.sub(r"(\.pt\.trace)?\.(json|raw)(\.gz|\.zst)?$", "", name)
