"""The files of a recording of the Ascend profiler that are read, and where they are."""

from __future__ import annotations

from pathlib import Path

from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.source import Source

TRACE_VIEW = "trace_view.json"
#: The CSV files, and the tables that their rows are read into.
TABLES = {
    "kernel_details.csv": "kernel_details",
    "operator_memory.csv": "operator_memory",
    "memory_record.csv": "memory_record",
}
COMMUNICATION = "communication.json"


def folders_of(source: Source) -> list[Path]:
    """The folder of the files, and the folder of the recording above it."""
    at = Path(str(source.path))
    folder = at if isinstance(source.path, TraceFolder) else at.parent
    return [folder, folder.parent]
