"""Read the CSV output of Nsight Compute into the raw tables."""

from __future__ import annotations

import json
import shutil
import tempfile
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
    """Create `ncu_rows`, and return the page: 'details' or 'raw'.

    Raises:
        RefusedError: There is no header.
    """
    path = local_copy(source.path, folder)
    with path.open("rb") as file:
        has_returns = False
        for number, line in enumerate(file):
            if HEADER.match(line):
                skip = number
                break
            has_returns |= b"\r" in line
        else:
            raise RefusedError(
                "it has no table of Nsight Compute; record with: ncu --page raw --csv"
            )
        if has_returns:
            # DuckDB would take each carriage return of a progress bar for the end of a line.
            (folder / "table").mkdir()
            path = folder / "table" / path.name
            with path.open("wb") as copy:
                copy.write((b"\r\n" if line.endswith(b"\r\n") else b"\n") * skip + line)
                shutil.copyfileobj(file, copy)
    read_rows(con, path, "ncu_rows", damage, skip, ragged=True)
    return "details" if b'"Metric Name"' in line else "raw"
