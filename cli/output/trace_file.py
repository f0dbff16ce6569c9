"""Write a trace of the warehouse as JSON for Perfetto or chrome://tracing."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from tracewh.cli.diagnostics.errors import CliError

if TYPE_CHECKING:
    import pyarrow


def write_trace(
    sink: IO[bytes], folder: Path, name: str, critical: pyarrow.Table | None = None
) -> tuple[int, int]:
    """Write a trace, and return the number of its events and of the ends of critical arrows.

    Args:
        sink: The file to write to.
        folder: Folder with the Parquet files of the trace.
        name: Run, worker and span of the trace, for an error message.
        critical: Critical paths to mark, as for `ingest.reconstruct.arrows`.

    Raises:
        CliError: A file of the trace is missing.
    """
    import pyarrow
    import pyarrow.compute

    from tracewh.ingest.reconstruct import arrows, batches, head
    from tracewh.schema import later_tables, tables

    for table in tables().keys() - later_tables():
        if not (folder / f"{table}.parquet").exists():
            raise CliError(
                f"{name} has no {table}.parquet: it is damaged, or another version of"
                " tracewh wrote it; ingest it again with --force"
            )
    keys = head(folder)
    parts = [batches(folder, critical)]
    if critical is not None:
        parts.append(arrows(folder, critical))
    counts = [0, 0]
    sink.write((keys[:-1] + ("," if keys != "{}" else "") + '"traceEvents":[').encode())
    for number, part in enumerate(parts):
        for batch in part:
            sink.write(b",\n" if any(counts) else b"\n")
            lines = pyarrow.ListArray.from_arrays([0, len(batch)], batch)
            sink.write(pyarrow.compute.binary_join(lines, ",\n")[0].as_buffer())
            counts[number] += len(batch)
    sink.write(b"\n]}\n")
    return counts[0], counts[1]


def gzipped(file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Compress what is written to a file. The same trace gives the same bytes."""
    from isal import igzip

    # No name and no time in the header.
    return cast("IO[bytes]", igzip.IGzipFile("", "wb", 1, file, 0))  # type: ignore[no-untyped-call]
