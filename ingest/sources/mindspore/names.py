"""The files of a MindSpore profile that are read."""

from __future__ import annotations

from collections.abc import Sequence

from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.source import Source

#: The files with events.
EVENTS = ("cpu_op_execute_timestamp", "gpu_op_execute_timestamp", "activity_execute_timestamp")
#: The other files that are read, as lines.
LINES = (*EVENTS, "cpu_framework", "gpu_framework", "step_trace_profiling", "start_time")


def members(source: Source) -> Sequence[str]:
    """The names of the files of a trace."""
    path = source.path
    return path.members if isinstance(path, TraceFolder) else (path.name,)
