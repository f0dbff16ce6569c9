"""The reader of tables of pipeline operations: Parquet or CSV, with a row per operation of a job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tracewh.files import File
from tracewh.ingest.sources.pipeline.columns import is_operations
from tracewh.ingest.sources.reader import Claim, Contents, Reading, TableReader
from tracewh.ingest.sources.source import Source


class PipelineReader(TableReader):
    """Reads tables of pipeline operations; see `TableReader`."""

    name = "pipeline"

    def wants(self, name: str) -> bool:
        """See `Reader.wants`."""
        return name.endswith((".parquet", ".csv", ".csv.gz", ".csv.zst"))

    def claim(self, names: Sequence[str]) -> Claim | None:
        """None: each file is a trace, that of a whole job."""
        return None

    def recognise(self, file: File, start: bytes) -> bool:
        """See `Reader.recognise`."""
        return is_operations(file, start)

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """The file is one trace."""
        return [source]

    def read(self, source: Source, reading: Reading) -> Contents:
        """See `TableReader.read`."""
        from tracewh.ingest.sources.pipeline.tables import read_operations

        return read_operations(source, reading)

    def unfinished(self, source: Source) -> str:
        """See `Reader.unfinished`. The footer of Parquet comes last, and a file without one is not recognised."""
        return ""
