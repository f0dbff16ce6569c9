"""Read the CSV output of Nsight Compute into the raw tables."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb

from tracewh.errors import RefusedError
from tracewh.ingest.sources.ncu.header import HEADER
from tracewh.ingest.sources.reader import Contents, Reading
from tracewh.ingest.sources.source import Source
from tracewh.ingest.sources.text_tables import Damage, local_copy, read_rows
from tracewh.quoting import quote_literal
from tracewh.sql_files import derive
from tracewh.storage.manifest import content_hash


def process_ids(source: Source, folder: Path) -> list[str]:
    """The processes that a file has kernels of."""
    with (
        tempfile.TemporaryDirectory(dir=folder) as scratch,
        duckdb.connect(config={"threads": 1}) as con,
    ):
        _read(con, source, Path(scratch), Damage())
        rows = con.execute(
            "SELECT DISTINCT r.fields ->> '$.\"Process ID\"' AS pid FROM ncu_rows AS r"
            " WHERE try_cast(r.fields ->> '$.ID' AS BIGINT) IS NOT NULL"
            " AND r.fields ->> '$.\"Process ID\"' IS NOT NULL ORDER BY try_cast(pid AS BIGINT)"
        ).fetchall()
    return [pid for (pid,) in rows]


def read_launches(source: Source, reading: Reading) -> Contents:
    """Read them; see `TableReader.read`."""
    con, damage = reading.con, Damage()
    page = _read(con, source, reading.folder, damage)
    process = quote_literal(source.part) if source.part else "NULL::VARCHAR"
    con.execute(f"CREATE MACRO ncu_process() AS {process}")
    derive(con, "ncu_macros")
    derive(con, "ncu")
    [(events,)] = con.execute("SELECT count(*) FROM raw_device").fetchall()
    if not events:
        why = damage.named[0] if damage.named else "it has no kernels"
        raise RefusedError(
            f"{why}; export it again with: ncu --import FILE.ncu-rep --page raw --csv"
        )
    reading.on_bytes(source.path.stat().st_size)
    reading.on_events(events)
    devices = con.execute(
        "SELECT d.properties FROM ncu_devices AS d ORDER BY d.device_id"
    ).fetchall()
    metadata: dict[str, object] = {"deviceProperties": [json.loads(text) for (text,) in devices]}
    if damage.named:
        metadata["damagedRows"] = damage.named
    reasons = {"no_times": 1, **({"damaged_rows": damage.rows} if damage.rows else {})}
    return Contents(
        content_hash(source.path), events, f"ncu-{page}", metadata, reasons, damage.rows
    )


def _read(con: duckdb.DuckDBPyConnection, source: Source, folder: Path, damage: Damage) -> str:
    """Create `ncu_rows`, and return the page of the first table: 'details' or 'raw'.

    Raises:
        RefusedError: There is no header.
    """
    path = local_copy(source.path, folder)
    has_returns, headers = False, []
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if HEADER.match(line):
                headers.append((number, line))
            has_returns |= b"\r" in line
    if not headers:
        raise RefusedError("it has no table of Nsight Compute; record with: ncu --page raw --csv")
    paths = [path]
    if has_returns or headers[0][0] > 0 or len(headers) > 1:
        paths = _tables(path, [number for number, _ in headers], folder)
    for table, (each, (skip, _)) in enumerate(zip(paths, headers, strict=True)):
        read_rows(con, each, f"ncu_rows_{table}", damage, skip, ragged=True)
    tables = " UNION ALL ".join(
        f"SELECT {table} AS number, r.place, r.fields FROM ncu_rows_{table} AS r"
        for table in range(len(headers))
    )
    con.execute(f"CREATE VIEW ncu_rows AS {tables}")
    return "details" if b'"Metric Name"' in headers[0][1] else "raw"


def _tables(path: Path, starts: Sequence[int], folder: Path) -> list[Path]:
    """Copy each table to a file of its own, in which the lines have the same numbers.

    DuckDB reads one table per file. It refuses a file in which not all lines end alike, as those of a progress bar,
    and takes a quote before the table for the start of a text that has a line break.
    """
    copies = [folder / f"table{table}" / path.name for table in range(len(starts))]
    ends = [*starts[1:], None]
    with path.open("rb") as file:
        lines = enumerate(file)
        for copied, start, end in zip(copies, starts, ends, strict=True):
            copied.parent.mkdir()
            with copied.open("wb") as copy:
                for number, line in lines:
                    if number == start:
                        copy.write(b"\n" * start)
                    if number >= start:
                        copy.write(line.replace(b"\r\n", b"\n").replace(b"\r", b" "))
                    if number + 1 == end:
                        break
    return copies
