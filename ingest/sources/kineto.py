"""The reader of Kineto traces: JSON files of the PyTorch profiler.

`tracewh.ingest.ingest_trace` reads them: their events are parsed while the file is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tracewh.errors import RefusedError
from tracewh.files import File
from tracewh.ingest.sources.reader import Claim, Reader
from tracewh.ingest.sources.source import KINETO, Source
from tracewh.ingest.sources.trace_names import SUFFIXES


class KinetoReader(Reader):
    """Knows Kineto traces; see `Reader`. The default: a file that no other reader recognises is one of these."""

    name = KINETO

    def wants(self, name: str) -> bool:
        """See `Reader.wants`."""
        return name.endswith(SUFFIXES)

    def claim(self, names: Sequence[str]) -> Claim | None:
        """None: each file is a trace."""
        return None

    def recognise(self, file: File, start: bytes) -> bool:
        """True: what no other reader recognises is read as a Kineto trace, or refused with a reason."""
        return True

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """The file is one trace."""
        return [source]

    def unfinished(self, source: Source) -> str:
        """See `Reader.unfinished`."""
        from tracewh.ingest.read import TraceReader  # loads Arrow

        reader = TraceReader(source.path)
        try:
            for _ in reader.blocks():
                pass
        except RefusedError as error:
            return str(error)
        except OSError:  # its ingest will report why, and be tried again
            return ""
        damage = {"truncated_bytes", "damaged_compression"} & reader.reasons.keys()
        return "" if reader.ended and not damage else "it is still being written, or was cut off"
