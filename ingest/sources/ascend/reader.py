"""The reader of Ascend traces: the folder ASCEND_PROFILER_OUTPUT of torch_npu and MindSpore 2.3 or later.

trace_view.json is read as a Kineto trace is; sql/derive/ascend_*.sql writes its events in the words of Kineto and
adds what the CSV files say. Of all other files only the rank is read: some hold environments and paths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tracewh.files import File
from tracewh.ingest.sources.ascend.names import COMMUNICATION, TABLES, TRACE_VIEW, folders_of
from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.reader import Claim, Contents, Reading, TableReader
from tracewh.ingest.sources.source import Source

#: Either of them is a trace.
_EVENTS = {TRACE_VIEW, "kernel_details.csv"}
#: What users and msprof call a trace_view.json that lies elsewhere, and the names of kernel_details.csv.
_NAMES = re.compile(
    r"(.*trace_view.*|msprof_.*)\.json(\.gz|\.zst)?|kernel_details\w*\.csv(\.gz|\.zst)?"
)
#: Sums of the same events, which are not read.
_SUMS = {
    *("op_statistic.csv", "api_statistic.csv", "operator_details.csv", "step_trace_time.csv"),
    *("communication_matrix.json", "l2_cache.csv", "data_preprocess.csv", "npu_module_mem.csv"),
}
#: `<host>_<pid>_<stamp>_ascend_pt`, the folder of a recording.
_RECORDING = re.compile(r"(?P<worker>.+)_(?P<stamp>\d{8,})_ascend_(?:pt|ms)")
#: The start of a list of events whose times are texts.
_TEXT_TIMES = re.compile(rb'"ts"\s*:\s*"\d{10,}\.\d+"')


class AscendReader(TableReader):
    """Knows the text files of the Ascend profiler; see `Reader`."""

    name = "ascend"

    def wants(self, name: str) -> bool:
        """See `Reader.wants`."""
        return _NAMES.fullmatch(name) is not None

    def claim(self, names: Sequence[str]) -> Claim | None:
        """ASCEND_PROFILER_OUTPUT: the files of one rank. Its sums are not read."""
        members = [name for name in names if name in (TRACE_VIEW, *TABLES, COMMUNICATION)]
        is_output = len(members) > 1 or not _SUMS.isdisjoint(names)
        return Claim(tuple(members)) if is_output and not _EVENTS.isdisjoint(names) else None

    def names(self, run: str, file: File) -> tuple[str, str]:
        """See `Reader.names`. The folder of a recording, which there is one of per rank, is no run."""
        if isinstance(file, TraceFolder):
            run = run_of_job(run, file.path)
        return TableReader.names(self, run, file)

    def recognise(self, file: File, start: bytes) -> bool:
        """A list of events with times in texts, or the header of kernel_details.csv."""
        text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text[:1] == b"[":
            return bool(_TEXT_TIMES.search(text))
        header = text.split(b"\n", 1)[0]
        return all(
            word in header for word in (b"Accelerator Core", b"Start Time(us)", b"Duration(us)")
        )

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """One trace, named after the folder of its recording: host and process."""
        for path in folders_of(source):
            if named := _RECORDING.fullmatch(path.name):
                return [replace(source, worker=named["worker"], trace_name=path.name)]
        return [source]

    def read(self, source: Source, reading: Reading) -> Contents:
        """See `TableReader.read`."""
        from tracewh.ingest.sources.ascend.tables import read_recording

        return read_recording(source, reading)

    def unfinished(self, source: Source) -> str:
        """'': the files appear when they are complete."""
        return ""


def run_of_job(run: str, folder: Path | str) -> str:
    """The run of a folder of files, without the folder of the recording, which there is one of per rank.

    Args:
        run: The name of the run by the path.
        folder: The folder of the files.
    """
    above, _, last = run.rpartition("/")
    recording = Path(folder).parent
    if last != recording.name or not _RECORDING.fullmatch(last):
        return run
    return above or recording.parent.name or run
