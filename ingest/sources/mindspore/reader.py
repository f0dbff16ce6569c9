"""The reader of MindSpore profiles, 1.8 to 2.2, on GPU and CPU: the text files of a folder `profiler`.

The files with a line per kernel, operator or step are read. The others are sums of them, or rounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tracewh.errors import RefusedError
from tracewh.files import File
from tracewh.ingest.sources.mindspore import minddata
from tracewh.ingest.sources.mindspore.names import EVENTS, LINES, members
from tracewh.ingest.sources.reader import Claim, Contents, Reading, TableReader
from tracewh.ingest.sources.source import Source

#: The kinds of files that make a trace.
READ = (*EVENTS, *minddata.KINDS)
_NAME = re.compile(
    rf"(?P<kind>{'|'.join(LINES)}|gpu_activity_data|profiler_info)_(?P<device>\d+)\.(txt|csv|json)"
)
#: What is known and not read: sums, drawings and settings.
_SUMS = re.compile(
    r"(cpu|gpu)_(op_(type|detail)_info|timeline_(display|summary))_\d+\.(csv|json)"
    r"|gpu_cluster_analyse_.*\.csv|dynamic_shape_info_\d+\.json"
    r"|step_trace_(raw_\d+_detail_time\.csv|point_info_\d+\.json)"
)


class MindSporeReader(TableReader):
    """Reads the text files of one device after the other; see `TableReader`."""

    name = "mindspore"

    def wants(self, name: str) -> bool:
        """See `Reader.wants`."""
        named = _NAME.fullmatch(name)
        return bool(minddata.NAMES.fullmatch(name) or (named and named["kind"] in EVENTS))

    def claim(self, names: Sequence[str]) -> Claim | None:
        """See `Reader.claim`. The files of MindData are among them."""
        if not any(self.wants(name) for name in names):
            return None
        kinds = (_NAME, _SUMS, minddata.NAMES, minddata.SUMS)
        known = [name for name in names if any(kind.fullmatch(name) for kind in kinds)]
        return Claim(tuple(known), is_whole=False)

    def recognise(self, file: File, start: bytes) -> bool:
        """See `Reader.recognise`."""
        if minddata.NAMES.fullmatch(file.name):
            return True
        return self.wants(file.name) and b";" in start.split(b"\n", 1)[0]

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """See `Reader.traces`: one per device, which is one process of the job."""
        found = [
            _NAME.fullmatch(name) or minddata.NAMES.fullmatch(name) for name in members(source)
        ]
        devices = sorted({each["device"] for each in found if each and each["kind"] in READ})
        if not devices:
            raise RefusedError("it has no events of an operator or kernel")
        return [replace(source, worker=f"device{device}", part=device) for device in devices]

    def read(self, source: Source, reading: Reading) -> Contents:
        """See `TableReader.read`."""
        from tracewh.ingest.sources.mindspore.tables import read_device

        return read_device(source, reading)

    def unfinished(self, source: Source) -> str:
        """See `Reader.unfinished`. The files are written when the profiler stops."""
        return ""
