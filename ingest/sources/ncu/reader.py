"""The reader of Nsight Compute: what `ncu --csv` prints, of the details page or the raw page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tracewh.files import File
from tracewh.ingest.sources.files import Piped
from tracewh.ingest.sources.ncu.header import CONNECTED, HEADER
from tracewh.ingest.sources.reader import Claim, Contents, Reading, TableReader
from tracewh.ingest.sources.source import Source


class NcuReader(TableReader):
    """Reads CSV output of Nsight Compute; see `TableReader`."""

    name = "ncu"

    def wants(self, name: str) -> bool:
        """See `Reader.wants`."""
        return name.endswith((".csv", ".csv.gz", ".csv.zst"))

    def claim(self, names: Sequence[str]) -> Claim | None:
        """None: each file is a trace."""
        return None

    def recognise(self, file: File, start: bytes) -> bool:
        """See `Reader.recognise`."""
        return CONNECTED in start or bool(HEADER.search(start))

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """See `Reader.traces`: one per process."""
        if stored or isinstance(source.path, Piped) or folder is None:
            return [replace(source, worker=worker) for worker in stored] or [source]
        from tracewh.ingest.sources.ncu.tables import process_ids

        found = process_ids(source, folder)
        if len(found) < 2:
            return [source]
        return [
            replace(source, worker=f"{source.worker}_pid{pid}", part=pid, is_rank_named=False)
            for pid in found
        ]

    def read(self, source: Source, reading: Reading) -> Contents:
        """See `TableReader.read`."""
        from tracewh.ingest.sources.ncu.tables import read_launches

        return read_launches(source, reading)

    def unfinished(self, source: Source) -> str:
        """See `Reader.unfinished`. ncu prints the table when the program has ended."""
        return ""
