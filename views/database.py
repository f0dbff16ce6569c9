"""tracewh.duckdb: a warehouse for everything that is not Python.

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
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import duckdb

from tracewh.quoting import quoted
from tracewh.storage.remote import is_url
from tracewh.temporary import temporary
from tracewh.views.local_tables import Pattern
from tracewh.views.registry import installed
from tracewh.views.warehouse import WarehouseError, create, find, holds_traces

DATABASE = "tracewh.duckdb"

#: Says what tracewh.duckdb was made from. A file of its own, because a database that somebody else
#: has open for writing cannot be read.
FINGERPRINT = ".tracewh.duckdb.origin"
#: What it says before the hash of the file.
_BYTES = "sha256 "


def ensure_database(
    path: str | os.PathLike[str], prepared: Callable[[], Path | None] = lambda: None
) -> bool:
    """Make tracewh.duckdb unless it is there and current.

    A warehouse without traces gets none, and neither does one in a store, which no shell can read.

    It is out of date when another tracewh or another set of SQL files made it, or when the
    warehouse was moved since.

    Args:
        path: The warehouse.
        prepared: What `preparing` gave, if anything.

    Returns:
        Whether it was written.
    """
    root = Path(os.path.abspath(path))
    if is_url(path) or _is_current(root) or not holds_traces(root):
        return False
    with _only_writer(root) as origin:
        if _is_current(root):  # another ingest has just written it
            return False
        _write(root, origin, prepared())
    return True


@contextlib.contextmanager
def preparing(path: str | os.PathLike[str]) -> Iterator[Callable[[], Path | None]]:
    """Make most of tracewh.duckdb aside, on a thread of its own, while the traces come in.

    Creating the macros takes longer than ingesting a small trace, and needs none.
    """
    with contextlib.ExitStack() as stack:
        made: Future[Path] | None = None
        if not is_url(path) and not _is_current(Path(os.path.abspath(path))):
            with contextlib.suppress(OSError):  # no room: it will be made in place
                folder = stack.enter_context(temporary())
                pool = stack.enter_context(ThreadPoolExecutor(1))
                made = pool.submit(_create_macros, Path(folder, DATABASE))

        def prepared() -> Path | None:
            with contextlib.suppress(OSError, duckdb.Error):
                return made.result() if made else None
            return None

        yield prepared


def write_database(path: str | os.PathLike[str]) -> Path:
    """Write tracewh.duckdb, whether or not there is one, and return its path.

    The new file takes the place of the old one in one rename. Whoever has the old one open keeps
    reading it; no reader's lock is needed, and nobody sees half a file.

    Raises:
        WarehouseError: There is no warehouse, it holds no traces, or it cannot be written.
    """
    root = find(path)
    with _only_writer(root) as origin:
        _write(root, origin)
    return root / DATABASE


#: What `tracewh relink` does after a warehouse was moved.
relink = write_database


def database_problem(path: str | os.PathLike[str]) -> tuple[str, str, str] | None:
    """What is wrong with tracewh.duckdb, as file, problem and the command that repairs it."""
    root = Path(os.path.abspath(path))
    try:
        if not (root / DATABASE).is_file():
            said = "it is missing" if holds_traces(root) else ""
        elif not _is_current(root):
            said = "it is not finished, or was made by another tracewh or for another folder"
        elif _is_changed(root):
            said = "its bytes are not those that were written"
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
        said = (root / FINGERPRINT).read_text("utf-8")
        return said.partition(_BYTES)[0] == _fingerprint(root) and (root / DATABASE).is_file()
    return False


def _is_changed(root: Path) -> bool:
    """Whether tracewh.duckdb is not what was written: DuckDB would not see all damage to it."""
    _, known, digest = (root / FINGERPRINT).read_text("utf-8").partition(_BYTES)
    return bool(known) and digest.strip() != _digest(root / DATABASE)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _only_writer(root: Path) -> Iterator[int]:
    """Be the only one that writes tracewh.duckdb; gives the open file that says what it is made from."""
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
        raise WarehouseError(f"cannot write {root / DATABASE}: {reason}") from None


def _write(root: Path, origin: int, prepared: Path | None = None) -> None:
    os.ftruncate(origin, 0)  # until it is written, in case we die: the next ingest begins anew
    new, log = root / f".{DATABASE}.new", root / f".{DATABASE}.new.wal"
    _remove(new, log)
    try:
        if prepared:
            shutil.copyfile(prepared, new)
        else:
            _create_macros(new)
        _create_views(root, new)
        digest = _digest(new)
        os.replace(new, root / DATABASE)
    finally:
        _remove(new, log)
    os.pwrite(origin, f"{_fingerprint(root)}{_BYTES}{digest}\n".encode(), 0)


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _create_macros(database: Path) -> Path:
    """Create every object in a new database, with empty tables for the views over Parquet files.

    Binding macros against files would take a look at the disk for every mention of a table. Even so
    it takes DuckDB a second, so what was made once is kept for the next warehouse.
    """
    kept = _kept()
    with contextlib.suppress(OSError):
        digest, made = (data := kept.read_bytes())[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(made).digest() == digest:
            database.write_bytes(made)
            return database
    with _attached(database) as con:
        installed().create(con, installed().needs())
    with contextlib.suppress(OSError):  # no room, or no home: it is made again then
        _keep(database.read_bytes(), kept)
    return database


_DIGEST = hashlib.sha256().digest_size


def _kept() -> Path:
    """The file that holds what was made, after a digest of it."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    made_of = hashlib.sha256(f"{_origin()}duckdb {duckdb.__version__}".encode()).hexdigest()
    return Path(folder, "tracewh", f"macros-{made_of[:16]}")


def _keep(made: bytes, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    new = kept.with_name(f"{kept.name}-{uuid.uuid4().hex}")
    try:
        new.write_bytes(hashlib.sha256(made).digest() + made)
        os.replace(new, kept)
    finally:  # what an older tracewh made, and what a full disk left of this
        _remove(*(path for path in kept.parent.glob("macros-*") if path != kept))


def _create_views(root: Path, database: Path) -> None:
    """Put the views over the files of a warehouse in the place of the tables."""
    with _attached(database) as con:
        for table in installed().tables():
            con.execute(f"DROP TABLE {table.name}")
            create(con, installed(), [table.name], Pattern(root))
            for column in table.columns:
                target = f"{table.name}.{column.name}"
                con.execute(f"COMMENT ON COLUMN {target} IS {quoted(column.meaning)}")


@contextlib.contextmanager
def _attached(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        # Any DuckDB since 1.4.2 reads this format; the default of 2.0 is read by 2.0 only.
        con.execute(f"ATTACH {quoted(str(database))} AS tracewh (STORAGE_VERSION 'v1.4.0')")
        con.execute("USE tracewh")
        con.execute("BEGIN")  # one commit, and not one for every comment
        yield con
        con.execute("COMMIT")
        con.execute("USE memory")
        con.execute("DETACH tracewh")


def _fingerprint(root: Path) -> str:
    """What the contents of tracewh.duckdb depend on."""
    return f"{_origin()}path {root}\n"


def _origin() -> str:
    from importlib.metadata import version  # slow to import, and rarely needed

    sql = hashlib.sha256("\0".join(spec.sql for spec in installed().all()).encode()).hexdigest()
    return f"tracewh {version('tracewh')}\nsql {sql}\n"
