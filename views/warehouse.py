"""A warehouse as one object in Python, and as tracewh.duckdb for everything else.

    <warehouse>/data/run=.../worker=.../span=.../kernels.parquet   written by ingest
    <warehouse>/tracewh.duckdb                                     written here; holds no trace data

Both have the same contents: a DuckDB view over the Parquet files of each table, the slices, every
macro, and the comments. `Warehouse` makes its own in memory, so it locks nothing and works where it
may not write.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import glob
import hashlib
import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from tracewh.views.registry import Registry, did_you_mean
from tracewh.views.spec import Spec
from tracewh.views.values import quoted

DATABASE = "tracewh.duckdb"

#: Says what tracewh.duckdb was made from. A file of its own, because a database that somebody else
#: has open for writing cannot be read.
FINGERPRINT = ".tracewh.duckdb.origin"

#: The variable that holds the folders of the traces that a query is about: were each table to look
#: for them itself, a trace that arrives between two looks would be in one table and not in another.
_PRESENT = "tracewh_present"

_registry = functools.cache(Registry.load)

#: SQL that asks what there is, so that everything has to be there.
_INTROSPECTION = re.compile(r"\b(show|information_schema|duckdb_\w+|pg_\w+)\b", re.IGNORECASE)


class WarehouseError(Exception):
    """A folder is no warehouse, or not one that can be read. The message is meant for a person."""


class Warehouse:
    """The tables and views of one warehouse, as methods that give DuckDB relations.

    A relation is a query that has not run yet: `.show()`, `.df()`, `.arrow()`, `.pl()` and
    `.fetchall()` run it, `.filter()`, `.order()` and the like refine it.

        warehouse.step_breakdown(run="resnet").show()    # a view, newest version
        warehouse.kernel_stats(version=1, group_by="launch").df()
        warehouse.host_events.filter("name = 'aten::mm'").arrow()
        warehouse.sql("SELECT name, total_us FROM kernel_stats() LIMIT 5").pl()

    Traces that are ingested while it is open show up in the next query; one that arrives while a
    query runs is in all of its tables or in none. It belongs to one thread.

    Args:
        path: Folder of the warehouse.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = find(path)
        self.registry = _registry()
        self._created: set[str] = set()
        self._con = duckdb.connect(config={"python_scan_all_frames": True})

    @property
    def tables(self) -> list[str]:
        """Names of the tables and of their slices; each is an attribute."""
        return [spec.name for spec in (*self.registry.tables(), *self.registry.slices())]

    @property
    def views(self) -> list[str]:
        """Names of the views; each is a method. `FROM views()` says more about them."""
        return [view.name for view in self.registry.newest()]

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB connection underneath, with every table, view and comment in it.

        Each mention of a table looks for traces anew: one that arrives while a query runs may be in
        one table and not yet in another.
        """
        self._prepare(None)
        self._con.execute(f"RESET VARIABLE {_PRESENT}")
        return self._con

    def sql(self, query: str, params: object = None) -> duckdb.DuckDBPyRelation:
        """Ask anything: a relation over the tables, the views and your own Python data frames.

        Args:
            query: One SELECT or FROM statement.
            params: Values for the ``?`` or ``$name`` placeholders of the query.
        """
        self._prepare(None if _INTROSPECTION.search(query) else query)
        self._con.execute(
            f"SET VARIABLE {_PRESENT} = (SELECT list(parse_dirpath(g.file) ORDER BY g.file)"
            f" FROM glob({_files(self.path, 'traces')}) AS g)"
        )
        return self._con.sql(query, params=params)

    def view(
        self, name: str, version: int | None = None, **arguments: Any
    ) -> duckdb.DuckDBPyRelation:
        """Ask a view by its name.

        Args:
            name: Name of the view.
            version: A version to pin; None for the newest.
            **arguments: The view's parameters. What is left out has the default of the header.

        Raises:
            ViewError: The name, the version or an argument is wrong.
        """
        return self.sql(self.registry.call(name, version, **arguments).sql)

    def close(self) -> None:
        """Let go of the files; relations made before cannot be used any more."""
        self._con.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Warehouse({str(self.path)!r})"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables, *self.views]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also keeps a copy that has no registry yet from looping
            raise AttributeError(name)
        if name in self.tables:
            return self.sql(f"FROM {name}")
        if name in self.views:
            return _method(self, self.registry.get(name))
        hint = did_you_mean(name, [*self.tables, *self.views])
        raise AttributeError(f"no table or view named {name!r}{hint}", name=name, obj=self)

    def _prepare(self, sql: str | None) -> None:
        """Create what a query names: creating all there is takes longer than most queries."""
        missing = [name for name in self.registry.needs(sql) if name not in self._created]
        _create(self._con, self.registry, missing, self.path, present=True)
        self._created.update(missing)


def find(path: str | os.PathLike[str]) -> Path:
    """The absolute path of a warehouse that holds at least one trace.

    Raises:
        WarehouseError: Says what is there instead, and what to do.
    """
    root = Path(os.path.abspath(path))
    if root.is_file():
        raise WarehouseError(f"{path} is a file; a warehouse is a folder with a data/ folder in it")
    if not (root / "data").is_dir():
        state = "is not a warehouse: it has no data/ folder" if root.is_dir() else "does not exist"
        raise WarehouseError(f"{path} {state}; `tracewh ingest LOGDIR -w {path}` makes a warehouse")
    if not holds_traces(root):
        raise WarehouseError(
            f"{path} holds no traces yet; `tracewh ingest LOGDIR -w {path}` brings some in"
        )
    return root


def holds_traces(root: Path) -> bool:
    """Whether at least one trace was ingested."""
    return any(root.glob("data/*/*/*/traces.parquet"))


def ensure_database(path: str | os.PathLike[str]) -> bool:
    """Make tracewh.duckdb unless it is there and current. A warehouse without traces gets none.

    It is out of date when another tracewh or another set of SQL files made it, or when the
    warehouse was moved since.

    Returns:
        Whether it was written.
    """
    root = Path(os.path.abspath(path))
    if _is_current(root) or not holds_traces(root):
        return False
    with _only_writer(root) as origin:
        if _is_current(root):  # another ingest has just written it
            return False
        _write(root, origin)
    return True


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
            said = "it was made by another tracewh or for another folder"
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
        return said == _fingerprint(root) and (root / DATABASE).is_file()
    return False


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


def _write(root: Path, origin: int) -> None:
    os.ftruncate(origin, 0)  # until it is written, in case we die: the next ingest begins anew
    new, log = root / f".{DATABASE}.new", root / f".{DATABASE}.new.wal"
    _remove(new, log)
    try:
        _fill(root, new)
        os.replace(new, root / DATABASE)
    finally:
        _remove(new, log)
    os.pwrite(origin, _fingerprint(root).encode(), 0)


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _fill(root: Path, database: Path) -> None:
    """Create every object in a new database."""
    registry = _registry()
    with duckdb.connect() as con:
        # Any DuckDB since 1.4.2 reads this format; the default of 2.0 is read by 2.0 only.
        con.execute(f"ATTACH {quoted(str(database))} AS tracewh (STORAGE_VERSION 'v1.4.0')")
        con.execute("USE tracewh")
        con.execute("BEGIN")  # one commit, and not one for every comment
        # Empty tables stand in for the views over Parquet files until all macros are bound:
        # binding against files takes a look at the disk for every mention of a table.
        registry.create(con, registry.needs())
        for table in registry.tables():
            con.execute(f"DROP TABLE {table.name}")
            _create(con, registry, [table.name], root)
            for column in table.columns:
                target = f"{table.name}.{column.name}"
                con.execute(f"COMMENT ON COLUMN {target} IS {quoted(column.meaning)}")
        con.execute("COMMIT")
        con.execute("USE memory")
        con.execute("DETACH tracewh")


def _create(
    con: duckdb.DuckDBPyConnection,
    registry: Registry,
    names: list[str],
    root: Path,
    present: bool = False,
) -> None:
    """Create objects, the tables among them as views over the Parquet files of a warehouse.

    With `present` they are over the traces that the variable names, where it is set.
    """
    tables = {table.name: table for table in registry.tables()}
    for name in names:
        if name not in tables:
            registry.create(con, [name])
            continue
        columns = ", ".join(f"t.{column.name}" for column in tables[name].columns)
        files = _files(root, name)
        if present:
            known = f"getvariable('{_PRESENT}')::VARCHAR[]"
            files = f"coalesce([t || '/{name}.parquet' FOR t IN {known}], [{files}])"
        try:
            con.execute(
                f"CREATE VIEW {name} AS SELECT {columns} FROM read_parquet({files}, "
                "hive_partitioning = true, "
                "hive_types = {'run': VARCHAR, 'worker': VARCHAR, 'span': VARCHAR}) AS t"
            )
        except duckdb.BinderException as error:
            raise WarehouseError(
                f"{root} was written by another version of tracewh ({name}: "
                f"{str(error).splitlines()[0]}); ingest its traces again with --force"
            ) from error
        con.execute(f"COMMENT ON VIEW {name} IS {quoted(tables[name].summary)}")


def _files(root: Path, table: str) -> str:
    """The files of a table, as a pattern in SQL."""
    return quoted(f"{glob.escape(str(root))}/data/*/*/*/{table}.parquet")


def _fingerprint(root: Path) -> str:
    """What the contents of tracewh.duckdb depend on."""
    from importlib.metadata import version  # slow to import, and rarely needed

    sql = hashlib.sha256("\0".join(spec.sql for spec in _registry().all()).encode()).hexdigest()
    return f"tracewh {version('tracewh')}\nsql {sql}\npath {root}\n"


def _method(warehouse: Warehouse, view: Spec) -> Callable[..., duckdb.DuckDBPyRelation]:
    """A view as a method, with a signature and a docstring for `help()` and completion."""

    def method(version: int | None = None, **arguments: Any) -> duckdb.DuckDBPyRelation:
        return warehouse.view(view.name, version, **arguments)

    lines = [f"    {param.name}: {param.meaning}" for param in view.params]
    method.__name__ = method.__qualname__ = view.name
    method.__doc__ = "\n".join([view.summary, "", view.doc, "", "Args:", *lines])
    params = [
        inspect.Parameter(
            param.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if param.required else _AsWritten(param.default),
            annotation=_AsWritten(param.type),
        )
        for param in view.params
    ]
    pin = inspect.Parameter("version", inspect.Parameter.KEYWORD_ONLY, default=None)
    method.__signature__ = inspect.Signature([*params, pin])  # type: ignore[attr-defined]
    return method


class _AsWritten(str):
    """SQL in a signature, shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
