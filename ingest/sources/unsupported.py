"""Files of profilers that tracewh knows and cannot read: what each is, and what to do.

JSON files are among those that Kineto's reader refuses: `tracewh.ingest.read.metadata.describe_file`.
"""

from __future__ import annotations

import re
import shlex
import sqlite3
from pathlib import Path

from tracewh.files import File
from tracewh.ingest.read.metadata import FLIGHT_RECORDER
from tracewh.ingest.sources.sqlite_files import SQLITE_START, table_names

_ROCPD = (
    "a rocpd database of rocprofv3, which tracewh cannot read yet; "
    "record with the PyTorch profiler: it uses rocprofiler too"
)
_ASCEND = (
    "a database of the Ascend profiler, which tracewh cannot read; "
    "export text: export_type=ExportType.Text"
)
_CLUSTER = (
    "sums over the ranks of a job, of cluster_analysis_output of the Ascend profiler; tracewh adds up the "
    "ranks itself: ingest their folders *_ascend_pt or *_ascend_ms"
)
#: The start of cluster_step_trace_time.csv, or of the JSON files, whose keys are lists of ranks.
_CLUSTER_START = re.compile(rb'\s*(Step,Type,Index,Computing,|\{\s*"\(\d+(, ?\d+)*,?\)"\s*:)')
_MINDSPORE_TIMELINE = "the timeline that MindSpore draws from its other files; ingest the folder with all of them instead"
#: Its first entries name the threads of scopes, steps and operators.
_MINDSPORE_TIMELINE_START = re.compile(
    rb'\s*\[\s*\{(?=[^{}]*"tid": ?10000[0-3]\b)(?=[^{}]*"cat": ?"__metadata")'
)
_SNAPSHOT = (
    "a CUDA memory snapshot of PyTorch, which tracewh cannot read yet; "
    "https://pytorch.org/memory_viz draws it"
)
_PERFETTO = (
    "a Perfetto trace (.pftrace), which tracewh cannot read; "
    "export it as JSON: prof.export_chrome_trace('trace.json.gz')"
)
_XPLANE = (
    "a profile of XLA, as JAX and TensorFlow write it, which tracewh cannot read; ingest the file *.trace.json.gz "
    "that JAX writes beside it, or convert it with the package xprof: docs/inputs.md says how"
)
_NCU_REPORT = (
    "a report of Nsight Compute, which only ncu reads; export its counters, and ingest them"
)
#: A packet of Perfetto begins with the byte of a line break, and so may a JSON file.
_JSON = re.compile(rb"\s*[\[{]\s*[\"\[\]{}\d]")
#: What a recording of the Ascend profiler holds besides the folder of its traces: raw data and settings. And the
#: sums over the recordings of a job.
_BESIDE_ASCEND = re.compile(
    r"_ascend_(pt|ms)/(?!ASCEND_PROFILER_OUTPUT(/|$))"
    r"|(^|/)cluster_(step_trace_time\.csv|communication(_matrix)?\.json)$"
)


def is_beside_trace(file: File) -> bool:
    """Whether a file that was found in a searched folder belongs to recordings, and is no trace."""
    return bool(_BESIDE_ASCEND.search(str(file).replace("\\", "/")))


def why_unsupported_name(name: str) -> str:
    """What a file is that tracewh knows by its name and cannot read, and what to do; '' for others."""
    if name.endswith((".ncu-rep", ".ncu-repz")):
        table = shlex.quote(f"{name.rpartition('.')[0]}.csv")
        return f"{_NCU_REPORT}: ncu --import {shlex.quote(name)} --page raw --csv > {table}"
    return _XPLANE if name.endswith(".xplane.pb") else ""


def why_unsupported(file: File, start: bytes) -> str:
    """What a file is that tracewh knows and cannot read, and what to do, in one line; '' for others.

    Args:
        file: The file.
        start: Its first bytes, decompressed.
    """
    if why := why_unsupported_name(file.name):
        return why
    if start.startswith(SQLITE_START):
        return _database(file)
    if _CLUSTER_START.match(start.removeprefix(b"\xef\xbb\xbf")):
        return _CLUSTER
    if _MINDSPORE_TIMELINE_START.match(start):
        return _MINDSPORE_TIMELINE
    if start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return _pickle(start)
    if start[:1] == b"\x0a" and not _JSON.match(start) and _is_perfetto(start):
        return _PERFETTO
    return ""


def _database(file: File) -> str:
    with file.open("rb") as raw:
        if raw.read(len(SQLITE_START)) != SQLITE_START:
            return "a compressed SQLite database; decompress it, and ingest the result"
    if not isinstance(file, Path):
        # Its tables cannot be listed in a store. Kineto's reader says that it must be on a disk.
        return ""
    try:
        names = table_names(file)
    except (OSError, sqlite3.Error):
        return "an SQLite database that cannot be opened; export or copy it again"
    if any(name.startswith("rocpd_") for name in names):
        return _ROCPD
    if "STRING_IDS" in names and names & {"TASK", "PYTORCH_API", "CANN_API"}:
        return _ASCEND
    seen = ", ".join(sorted(names)[:5]) or "none"
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"an SQLite database of no profiler that tracewh knows (tables: {seen}{more})"


def _pickle(start: bytes) -> str:
    """Pickles are not loaded: they may run code. The words are near the start of every real file."""
    if b"segments" in start or b"device_traces" in start:
        return _SNAPSHOT
    if b"pg_config" in start or (b"entries" in start and b"version" in start):
        return FLIGHT_RECORDER
    return "a Python pickle, which is no trace"


def _is_perfetto(start: bytes) -> bool:
    """Whether a file is packets of a Perfetto trace: field 1 of any length, one after the other."""
    at, packets = 0, 0
    while at < len(start) and packets < 4:
        if start[at] != 0x0A:
            return False
        size = shift = 0
        while True:
            at += 1
            if at >= len(start) or shift > 28:
                return packets > 0 and shift <= 28
            size |= (start[at] & 0x7F) << shift
            shift += 7
            if start[at] < 0x80:
                break
        at += 1 + size
        packets += 1
    return packets > 1 or at > len(start)
