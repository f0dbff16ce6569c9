"""Read a table of pipeline operations into the raw table, and refuse one that is not whole."""

from __future__ import annotations

from pathlib import Path

import duckdb

from tracewh.errors import RefusedError
from tracewh.ingest.sources.pipeline.columns import (
    PARQUET_START,
    parquet_columns,
    wanted_columns,
)
from tracewh.ingest.sources.pipeline.facts import read_facts
from tracewh.ingest.sources.reader import Contents, Reading
from tracewh.ingest.sources.source import Source
from tracewh.ingest.sources.text_tables import Damage, local_copy, read_rows
from tracewh.quoting import quote_file
from tracewh.sql_files import derive
from tracewh.storage.manifest import content_hash


def read_operations(source: Source, reading: Reading) -> Contents:
    """Read them; see `TableReader.read`."""
    con = reading.con
    facts = read_facts(source.path, source.trace_name)
    path = local_copy(source.path, reading.folder)
    with path.open("rb") as file:
        is_parquet = file.read(4) == PARQUET_START
    try:
        (_read_parquet if is_parquet else _read_csv)(con, path)
    except duckdb.InvalidInputException:
        raise RefusedError("its contents are damaged: copy it again") from None
    derive(con, "pipeline_operations")
    fault = con.execute("FROM operation_faults").fetchone()
    if fault:
        place, cause, remedy = fault
        where = f"row {place}: " if place else ""
        raise RefusedError(f"{where}{cause}; {remedy}")
    [(events,)] = con.execute("SELECT count(*) FROM raw_pipeline_operations").fetchall()
    reading.on_bytes(source.path.stat().st_size)
    reading.on_events(events)
    kind = "parquet" if is_parquet else "csv"
    return Contents(content_hash(source.path), events, f"pipeline-{kind}", facts)


def _read_parquet(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Create `given_operations` with the values of a Parquet file, and `place`, from 1."""
    names = _checked(parquet_columns(path))
    con.execute(
        f"CREATE TABLE given_operations AS SELECT r.file_row_number + 1 AS place, {names}"
        f" FROM read_parquet({quote_file(path)}, file_row_number = true,"
        " hive_partitioning = false) AS r"
    )


def _read_csv(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Create `given_operations` with the texts of a CSV file, and `place`, from 1."""
    damage = Damage()
    read_rows(con, path, "csv_operations", damage)
    if damage.named:
        raise RefusedError(f"{damage.named[0]}; write the table again")
    found = con.execute("SELECT json_keys(c.fields) FROM csv_operations AS c LIMIT 1").fetchone()
    _checked(found[0] if found else wanted_columns())
    fields = ", ".join(f"c.fields ->> '$.{name}' AS {name}" for name in wanted_columns())
    con.execute(
        f"CREATE TABLE given_operations AS SELECT c.place + 1 AS place, {fields}"
        " FROM csv_operations AS c"
    )


def _checked(names: list[str]) -> str:
    """The columns to select.

    Raises:
        RefusedError: One is missing.
    """
    wanted = wanted_columns()
    missing = [name for name in wanted if name not in names]
    if missing:
        word = "column" if len(missing) == 1 else "columns"
        raise RefusedError(
            f"the header has no {word} {', '.join(missing)}; a table of pipeline operations has "
            f"{', '.join(wanted)}"
        )
    return ", ".join(f"r.{name}" for name in wanted)
