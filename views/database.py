"""Write tracewh.duckdb, the database file with which other programs than Python query a warehouse.

<warehouse>/data/run=.../worker=.../span=.../kernels.parquet   written by ingest
<warehouse>/tracewh.duckdb                                     written here; holds no trace data
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tracewh.storage.remote import is_url
from tracewh.temporary import temporary
from tracewh.views.local_tables import Pattern
from tracewh.views.registry import installed
from tracewh.views.stored_macros import commit, open_database, stored_macros, write_macros
from tracewh.views.warehouse import (
    WarehouseError,
    column_comments,
    create,
    find,
    holds_traces,
)

DATABASE = "tracewh.duckdb"

#: The file that records what tracewh.duckdb was made from. It is separate, because a database that
#: another process has open for writing cannot be read.
FINGERPRINT = ".tracewh.duckdb.origin"
#: Text before the hash of tracewh.duckdb in this file.
_BYTES = "sha256 "


class UnwritableError(WarehouseError):
    """tracewh.duckdb cannot be written, such as on a disk that is read-only."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A new database with every object except tables, and a connection with an open transaction on it."""

    path: Path
    con: duckdb.DuckDBPyConnection


def ensure_database(
    path: str | os.PathLike[str], prepared: Callable[[], Prepared | None] = lambda: None
) -> bool:
    """Write tracewh.duckdb unless it exists and is up to date.

    A warehouse without traces gets none, nor does a warehouse in an object store, which no shell can
    read. The file is out of date if another version of tracewh or other SQL files made it, or if the
    warehouse has moved.

    Args:
        path: The warehouse.
        prepared: The function that `prepare_in_background` yields, if any.

    Returns:
        Whether it was written.
    """
    root = Path(os.path.realpath(path))
    if is_url(path) or _is_current(root) or not holds_traces(root):
        return False
    with _only_writer(root) as origin:
        if _is_current(root):  # another ingest has just written it
            return False
        _write(root, origin, prepared())
    return True


@contextlib.contextmanager
def database_to_read(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of tracewh.duckdb, which is up to date; of a temporary one where it cannot be written.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """
    root = find(path)
    try:
        ensure_database(root)
    except UnwritableError:
        with temporary() as folder:
            _create_views(root, _prepare(folder / DATABASE).con)
            yield folder / DATABASE
    else:
        yield root / DATABASE


@contextlib.contextmanager
def prepare_in_background(
    path: str | os.PathLike[str],
) -> Iterator[Callable[[], Prepared | None]]:
    """Prepare most of tracewh.duckdb in a thread, while traces are ingested.

    Creating the macros takes longer than the ingest of a small trace, and does not depend on traces.
    """
    with contextlib.ExitStack() as stack:
        made: Future[Prepared] | None = None
        if not is_url(path) and not _is_current(Path(os.path.realpath(path))):
            with contextlib.suppress(OSError):  # disk full: it is written in place later
                folder = stack.enter_context(temporary())
                pool = stack.enter_context(ThreadPoolExecutor(1))
                made = pool.submit(_prepare, Path(folder, DATABASE))

        def prepared() -> Prepared | None:
            with contextlib.suppress(OSError, duckdb.Error):
                return made.result() if made else None
            return None

        try:
            yield prepared
        finally:
            if found := prepared():
                found.con.close()


def write_database(path: str | os.PathLike[str]) -> Path:
    """Write tracewh.duckdb, or replace it, and return its path.

    A rename replaces the old file. Processes that have the old file open continue to read it, so readers
    need no lock and never see an incomplete file.

    Raises:
        WarehouseError: There is no warehouse, it holds no traces, or it cannot be written.
    """
    root = find(path)
    with _only_writer(root) as origin:
        _write(root, origin)
    return root / DATABASE


def database_problem(path: str | os.PathLike[str]) -> tuple[str, str, str] | None:
    """Return the problem of tracewh.duckdb as file, problem and repair command, or None."""
    root = Path(os.path.realpath(path))
    try:
        if not holds_traces(root):  # it is not needed, also if it is left over
            said = ""
        elif not (root / DATABASE).is_file():
            said = "it is missing"
        elif not _is_current(root):
            said = "it is incomplete, or was written by another version of tracewh or for another folder"
        elif _is_changed(root):
            said = "its contents differ from what was written"
        else:
            said = ""
            with duckdb.connect(root / DATABASE, read_only=True) as con:
                con.execute(
                    "SELECT sql FROM duckdb_views() UNION ALL "
                    "SELECT macro_definition FROM duckdb_functions()"
                ).fetchall()
    except (OSError, duckdb.Error) as error:
        said = f"it cannot be read ({str(error).partition(chr(10))[0]})"
    return (DATABASE, said, f"tracewh relink -w {shlex.quote(str(root))}") if said else None


def _is_current(root: Path) -> bool:
    with contextlib.suppress(OSError):
        said = _recorded(root)
        return said.partition(_BYTES)[0] == _fingerprint(root) and (root / DATABASE).is_file()
    return False


def _is_changed(root: Path) -> bool:
    """Whether tracewh.duckdb differs from what was written: DuckDB does not detect all damage."""
    _, known, digest = _recorded(root).partition(_BYTES)
    return bool(known) and digest.strip() != _digest(root / DATABASE)


def _recorded(root: Path) -> str:
    """Return what tracewh.duckdb was made from. Of a damaged file, this equals no fingerprint."""
    return (root / FINGERPRINT).read_text("utf-8", "replace")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _only_writer(root: Path) -> Iterator[int]:
    """Lock tracewh.duckdb for writing and yield the open fingerprint file."""
    try:
        origin = os.open(root / FINGERPRINT, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(origin, fcntl.LOCK_EX)
            yield origin
        finally:
            os.close(origin)
    except (OSError, duckdb.Error) as error:
        full = os.strerror(errno.ENOSPC)
        said = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        reason = f"{full.lower()}: free some, then `tracewh relink`" if full in str(error) else said
        if "\\" in str(root) and isinstance(error, duckdb.Error):
            reason = "DuckDB takes a backslash in a path for a slash; move or rename the warehouse"
        kind = UnwritableError if isinstance(error, OSError) else WarehouseError
        raise kind(f"cannot write {root / DATABASE}: {reason}") from None


def _write(root: Path, origin: int, prepared: Prepared | None = None) -> None:
    os.ftruncate(
        origin, 0
    )  # marks the database as unfinished: if the process dies, the next ingest starts again
    new, log = root / f".{DATABASE}.new", root / f".{DATABASE}.new.wal"
    _remove(new, log)
    try:
        if prepared and _created_views(root, prepared):
            shutil.copyfile(prepared.path, new)
        elif "?" in str(root):  # DuckDB would write the log of the database to another folder
            with temporary() as folder:
                _create_views(root, _prepare(folder / DATABASE).con)
                shutil.copyfile(folder / DATABASE, new)
        else:
            _create_views(root, _prepare(new).con)
        digest = _digest(new)
        os.replace(new, root / DATABASE)
    finally:
        _remove(new, log)
    os.pwrite(origin, f"{_fingerprint(root)}{_BYTES}{digest}\n".encode(), 0)


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _create_macros(database: Path) -> Path:
    """Create every object except tables in a new database."""
    with contextlib.suppress(FileNotFoundError):  # another version has just removed it
        if (stored := stored_macros()) is not None:
            return Path(shutil.copyfile(stored, database))
    write_macros(database)
    return database


def _prepare(database: Path) -> Prepared:
    """Create a database with every object, and open it for `_create_views`."""
    return Prepared(database, open_database(_create_macros(database)))


def _created_views(root: Path, prepared: Prepared) -> bool:
    """Create the views in a prepared database; False if that fails, as where the disk with it is full."""
    with contextlib.suppress(OSError, duckdb.Error):
        _create_views(root, prepared.con)
        return True
    return False


def _create_views(root: Path, con: duckdb.DuckDBPyConnection) -> None:
    """Create the tables as views over the files of a warehouse, and close the database."""
    with con:
        for table in installed().tables():
            create(con, installed(), [table.name], Pattern(root))
            con.execute(column_comments(table))
        commit(con)


def _fingerprint(root: Path) -> str:
    """Return a text of everything that the contents of tracewh.duckdb depend on."""
    empty = " ".join(Pattern(root).without_files())
    return f"{_origin()}path {root}\nempty {empty}\n"


def _origin() -> str:
    from importlib.metadata import version  # slow to import, and rarely needed

    return f"tracewh {version('tracewh')}\nsql {installed().hash}\n"
