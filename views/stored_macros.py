"""The file with all macros of this version, from which they are loaded instead of created one by one.

DuckDB parses and binds each macro that it creates, which takes 1 to 2 ms; a summary needs more than a hundred.
Loading all of them from a database file takes 30 ms, and copying them from it as long. So the first command that
needs many writes this file:

<cache folder of the user>/tracewh/macros-<hash of the SQL>-<hash of the file>.duckdb
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import uuid
from pathlib import Path

import duckdb

from tracewh.quoting import quote_literal
from tracewh.views import registry

#: The name of a file that is loaded, as a database of a connection.
ATTACHED = "tracewh_macros"

_HASH_LENGTH = 16


def stored_macros() -> Path | None:
    """Return the file, and write it if it is missing or damaged; None if that is impossible.

    It has no tables, so a query never reads an empty one by mistake.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tracewh")
    parts = [registry.installed().hash]
    with contextlib.suppress(OSError, duckdb.Error):  # no home folder, or its disk is full
        # Some macros are made by the code. The version of tracewh takes 10 ms to find.
        parts += [Path(registry.__file__).read_text("utf-8"), f"duckdb {duckdb.__version__}"]
        made_of = _hash("\0".join(parts).encode())
        for found in folder.glob(f"macros-{made_of}-*.duckdb"):
            if found.stem.endswith(_hash(found.read_bytes())):
                return found
            found.unlink()  # damaged
        return _written(folder, made_of)
    return None


def write_macros(database: Path) -> None:
    """Create every object except tables in a new database.

    They are created over empty tables. Over files, DuckDB would access the disk for every use of a table.
    """
    objects = registry.installed()
    with open_database(database) as con:
        objects.create(con, objects.needs())
        for table in objects.tables():
            con.execute(f"DROP TABLE {table.name}")
        commit(con)


def open_database(database: Path) -> duckdb.DuckDBPyConnection:
    """Open or create a database, and begin a transaction: one commit instead of one per comment."""
    con = duckdb.connect()
    # Any DuckDB since 1.4.2 reads this format; the default of 2.0 is read by 2.0 only. It does not keep what a
    # macro says of its CTEs, MATERIALIZED or not: DuckDB decides then.
    con.execute(f"ATTACH {quote_literal(str(database))} AS tracewh (STORAGE_VERSION 'v1.4.0')")
    con.execute("USE tracewh; BEGIN")
    return con


def commit(con: duckdb.DuckDBPyConnection) -> None:
    """Commit what was done since `open_database`, and close the file."""
    con.execute("COMMIT; USE memory; DETACH tracewh")


def attach(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Let queries of a connection find the stored macros after those of its own, and return their names.

    They call each other, and tables, slices and macros of the connection, by the same rule.
    """
    if (path := stored_macros()) is None:
        return []
    try:
        con.execute(f"ATTACH {quote_literal(str(path))} AS {ATTACHED} (READ_ONLY)")
    except duckdb.Error:  # another version has just removed it, or it cannot be locked
        return []
    con.execute(f"SET search_path = 'memory.main,{ATTACHED}.main'")
    return registry.installed().macros()


def copy(con: duckdb.DuckDBPyConnection) -> None:
    """Create in a connection, where none of them may be, the macros and slices that `attach` lets it find.

    DuckDB copies them as they are, in 30 ms. Parsing and binding each of them takes 1 to 2 s.
    """
    con.execute(f"COPY FROM DATABASE {ATTACHED} TO memory (SCHEMA)")


def detach(con: duckdb.DuckDBPyConnection) -> None:
    """Undo `attach`."""
    con.execute(f"SET search_path = 'memory.main'; DETACH {ATTACHED}")


def _written(folder: Path, made_of: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"macros-{made_of}-{uuid.uuid4().hex}"
    try:
        write_macros(new)
        made = folder / f"macros-{made_of}-{_hash(new.read_bytes())}.duckdb"
        os.replace(new, made)
    finally:
        new.unlink(missing_ok=True)
        new.with_name(f"{new.name}.wal").unlink(missing_ok=True)
    for other in folder.glob("macros-*"):  # of older versions; another process may write the same
        if not other.name.startswith(f"macros-{made_of}-"):
            other.unlink(missing_ok=True)
    return made


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_HASH_LENGTH]
