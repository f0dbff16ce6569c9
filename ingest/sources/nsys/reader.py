"""The reader of Nsight Systems exports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.errors import RefusedError
from tracewh.files import File
from tracewh.ingest.sources.files import ON_A_DISK, Piped, TraceFolder
from tracewh.ingest.sources.reader import Claim, Contents, Reading, TableReader
from tracewh.ingest.sources.source import Source
from tracewh.ingest.sources.sqlite_files import SQLITE_START, missing_bytes, table_names

if TYPE_CHECKING:
    from tracewh.ingest.sources.nsys.exports import Export

#: What Nsight Systems records to; only its own program can read it.
REPORT = ".nsys-rep"
_OLD_REPORTS = (".qdrep", ".qdstrm")


class NsysReader(TableReader):
    """Reads SQLite files, folders of Parquet files and, where nsys is installed, its reports; see `TableReader`."""

    name = "nsys"

    def wants(self, name: str) -> bool:
        """See `Reader.wants`."""
        return name.endswith((".sqlite", REPORT))

    def claim(self, names: Sequence[str]) -> Claim | None:
        """See `Reader.claim`. The folders of `nsys export -t parquetdir` hold nothing but Parquet files."""
        if "StringIds.parquet" not in names:
            return None
        return Claim(tuple(name for name in names if name.endswith(".parquet")))

    def names(self, run: str, file: File) -> tuple[str, str]:
        """See `Reader.names`. A folder of Parquet files is named after the report."""
        run, worker = TableReader.names(self, run, file)
        return run, worker.removesuffix("_pqtdir") if isinstance(file, TraceFolder) else worker

    def form(self, file: File) -> int:
        """See `Reader.form`. nsys writes its exports beside the report, and `nsys stats` leaves one there, too.

        The form that takes the least time is the first.
        """
        if isinstance(file, TraceFolder):
            return 0
        return 2 if file.name.endswith(REPORT) else 1

    def recognise(self, file: File, start: bytes) -> bool:
        """See `Reader.recognise`."""
        if file.name.endswith((REPORT, *_OLD_REPORTS)):
            return True
        if not start.startswith(SQLITE_START):
            return False
        if not isinstance(file, Path):
            return file.name.endswith(".sqlite")
        return _is_export(file)

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """See `Reader.traces`: one per process with CUDA calls, device work or NVTX ranges."""
        from tracewh.ingest.sources.nsys.schema import DEVICE_WORK, MAIN, OTHER

        path = source.path
        is_report = path.name.endswith((REPORT, *_OLD_REPORTS))
        if stored and (is_report or not isinstance(path, Path | TraceFolder)):
            # Listing would need an export or a copy, which takes as long as an ingest.
            return [replace(source, worker=worker) for worker in stored]
        if is_report:
            from tracewh.ingest.sources.nsys.export_report import exported

            source = replace(source, local=exported(path, folder))
        elif not isinstance(path, Path | TraceFolder | Piped) and folder is not None:
            source = replace(source, local=_copied(path, folder))
        export = self._export(source)
        working: set[int] = set().union(*(export.processes(table) for table in DEVICE_WORK))
        keys = working.union(*(export.processes(table) for table in MAIN))
        keys = keys or set().union(*(export.processes(table) for table in OTHER))
        if not keys:
            raise RefusedError(
                "an Nsight Systems export without CUDA calls, kernels and NVTX ranges; "
                "record with: nsys profile --trace=cuda,nvtx,osrt"
            )
        if len(keys) == 1:
            return [replace(source, part=str(*keys))]
        return [
            replace(
                source,
                worker=f"{source.worker}_pid{key & 0xFFFFFF}",
                part=str(key),
                is_rank_named=len(working) < 2,
            )
            for key in sorted(keys)
        ]

    def read(self, source: Source, reading: Reading) -> Contents:
        """See `TableReader.read`."""
        from tracewh.ingest.sources.nsys.tables import read_process

        return read_process(source, self._export, reading)

    def unfinished(self, source: Source) -> str:
        """See `Reader.unfinished`."""
        path = source.path
        if not isinstance(path, Path) or path.name.endswith(REPORT):
            return ""
        if missing_bytes(path) or Path(f"{path}-journal").exists():
            return "it is still being written, or was cut off"
        return ""

    def _export(self, source: Source) -> Export:
        from tracewh.ingest.sources.nsys.exports import ParquetExport, SqliteExport

        path = source.local or source.path
        if isinstance(path, TraceFolder):
            return ParquetExport(path)
        if isinstance(path, Piped):
            raise RefusedError("an SQLite database cannot be read from a pipe: name the file")
        if not isinstance(path, Path):
            raise RefusedError(ON_A_DISK)
        return SqliteExport(path)


def _copied(file: File, folder: Path) -> Path:
    """Copy a file of an object store into a folder."""
    import shutil
    import uuid

    copy = folder / f"{uuid.uuid4().hex}.sqlite"
    with file.open("rb") as read, copy.open("wb") as write:
        shutil.copyfileobj(read, write, 1 << 20)
    return copy


def _is_export(path: Path) -> bool:
    """Whether an SQLite file has the tables of every export; also if it is cut off, so that its ingest says so."""
    import sqlite3

    try:
        names = table_names(path)
    except (sqlite3.Error, OSError):
        return path.name.endswith(".sqlite")
    return "StringIds" in names and bool(names & {"META_DATA_EXPORT", "EXPORT_META_DATA"})
