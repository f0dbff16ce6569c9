"""`Warehouse`: query the tables and views of a warehouse from Python.

A Warehouse is an in-memory DuckDB database with the same objects as tracewh.duckdb: a DuckDB view over the
Parquet files of each table, the slices, all macros and the comments. It takes no locks and needs no write
permission.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shlex
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import duckdb

from tracewh.files import printable
from tracewh.quoting import quote_file, quote_literal
from tracewh.storage.layout import (
    KEYS,
    TRACE_FOLDERS,
    TraceKeys,
    place_problem,
    replaying_run,
    tilde_problem,
)
from tracewh.storage.remote import is_url
from tracewh.temporary import Temporary
from tracewh.views import names
from tracewh.views.block_cache import BlockCache
from tracewh.views.data_frames import sql_with, variables_of_caller
from tracewh.views.empty_blocks import RARE, empty_macro
from tracewh.views.listing import Listing
from tracewh.views.local_tables import LocalTables, Pattern
from tracewh.views.needed_traces import Wanted, needed_traces, passed, wanted_traces
from tracewh.views.partial_queries import partial_sql
from tracewh.views.read_only import check_reads_only, without_end
from tracewh.views.registry import ArgumentError, Call, Registry, did_you_mean, installed
from tracewh.views.spec import Spec
from tracewh.views.sql_mistakes import check_named_arguments, explained
from tracewh.views.stored_macros import attach, copy, detach

#: Matches SQL that lists the catalog, for which all objects must exist.
_INTROSPECTION = re.compile(r"\b(show|information_schema|duckdb_\w+|pg_\w+)\b", re.IGNORECASE)


#: The room that draws pictures, and its functions that are methods of a warehouse. It is above this one and
#: needs more than queries do, so it is loaded by its name, at the first picture.
_PICTURES, _DRAWN = "tracewh.notebook", ("chart", "report")

_Versions = dict[TraceKeys, str]

#: The optimizer takes longer than all the others together where a view is made of many blocks, and what it
#: improves here is too small to measure.
SLOW_OPTIMIZER = "projection_pullup"

#: Creating more objects than this takes longer than loading all macros.
MOST_CREATED = 20

#: The environment variable with the memory limit of every warehouse that is opened, in MB.
MEMORY_VARIABLE = "TRACEWH_MEMORY_LIMIT"
LEAST_MEMORY_MB = 100
#: More than a machine has. DuckDB does not read the sizes back that it writes in PiB.
MOST_MEMORY_MB = 10**8


class WarehouseError(Exception):
    """A folder is not a warehouse, or it cannot be read. The message is meant for the user."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The view that a relation is the result of, its arguments and its SQL."""

    warehouse: Warehouse
    view: Spec
    arguments: dict[str, Any]
    sql: str


_ORIGINS: weakref.WeakKeyDictionary[duckdb.DuckDBPyRelation, Origin] = weakref.WeakKeyDictionary()


def origin(relation: duckdb.DuckDBPyRelation) -> Origin | None:
    """Return the view that a relation is the result of; None for any other relation."""
    return _ORIGINS.get(relation)


#: The relations whose rows are stored, and need not be found again.
_STORED: weakref.WeakSet[duckdb.DuckDBPyRelation] = weakref.WeakSet()


def is_stored(relation: duckdb.DuckDBPyRelation) -> bool:
    """Whether the rows of a relation are stored: reading them twice costs little."""
    return relation in _STORED


class Warehouse:
    """A warehouse: its tables are attributes, its views are methods, and both return DuckDB relations.

    A relation is a query that has not run yet: `.show()`, `.df()`, `.to_arrow_table()`, `.pl()` and
    `.fetchall()` run it; `.filter()`, `.order()` and similar methods refine it. `.arrow()` gives the rows in
    batches: until they are read, no other query can run.

        warehouse.step_breakdown(run="resnet").show()    # a view, newest version
        warehouse.kernel_stats(version=1, group_by="launch").df()
        warehouse.host_events.filter("name = 'aten::mm'").to_arrow_table()
        warehouse.sql("SELECT name, total_us FROM kernel_stats() LIMIT 5").pl()

    Jupyter draws the result of a view as a table, and that of `timeline` as a timeline. The methods `report`
    and `chart` return pictures (tracewh/notebook):

        warehouse.report("resnet").save("report.html")
        warehouse.chart("step_breakdown", "resnet")

    What several views need and takes long to find is found when such a relation is made, and cached for the next ones
    of the same traces (views/block_cache.py): the captured calls of graphs, the work of serving steps, the blocks of a
    timeline, what the rules of `recommendations` measure, and the rows of `trace_quality`. A trace that is replaced has
    its new rows.

    A query sees the traces that exist when it starts. A trace that is ingested while a query runs is in all of
    its tables or in none. For a warehouse in an object store, queries see the traces that existed when it was
    opened. Use a Warehouse from one thread only.

    Args:
        path: Folder of the warehouse, or its URL in an object store; or a `Listing` of either, for some
            of its traces (tracewh/views/listing.py).
        spill_in: Folder for temporary files; None for the system's.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """

    def __init__(
        self, path: str | os.PathLike[str] | Listing, *, spill_in: Path | None = None
    ) -> None:
        self._files: LocalTables | Listing
        if isinstance(path, Listing):
            self._files = path
        else:
            with _as_warehouse_error():
                self._files = Listing.of(path) if is_url(path) else LocalTables(find(path))
        self._all = self._files  # `select_traces` replaces a listing by a part of it
        self.path = self._files.path
        self.registry = installed()
        memory_mb = _memory_limit()
        self._created: set[str] = set()
        #: Tables whose columns have their comments.
        self._described: set[str] = set()
        #: Macros that are found where none is created, and whether they may be loaded.
        self._loaded: set[str] = set()
        self._may_load = True
        self._creating = threading.Lock()
        # By block and traces: the versions of the traces that were read, and the notes on them.
        self._notes: dict[tuple[str, str], tuple[_Versions, list[tuple[TraceKeys, str]]]] = {}
        # Nothing is added again: a relation that was made for a trace with graphs may run later.
        self._without = dict(RARE)
        # By default DuckDB spills into the current folder, and two databases may not share a folder.
        spill = Temporary(spill_in)
        self._temporary = spill.path
        self._remove = weakref.finalize(self, spill.close)
        self._con = duckdb.connect(config={"temp_directory": str(spill.path / "spill")})
        plan_without(self._con, SLOW_OPTIMIZER)
        sort_asof_joins(self._con)
        self._selected: Callable[[TraceKeys], bool] | None = None
        self._stored: duckdb.DuckDBPyConnection | None = None
        self._block_cache = BlockCache(self._con, self.registry, self._selected_versions)
        if memory_mb is not None:
            self.limit_memory(memory_mb)
        if "IPython" in sys.modules:
            import_module(_PICTURES).draw_relations()

    @property
    def tables(self) -> list[str]:
        """Names of the tables and of their slices; each is an attribute."""
        return [spec.name for spec in (*self.registry.tables(), *self.registry.slices())]

    @property
    def views(self) -> list[str]:
        """Names of the views; each is a method. `FROM views()` describes them."""
        return [view.name for view in self.registry.newest()]

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The underlying DuckDB connection, with every table, view and comment.

        Each use of a table lists the traces again: a trace that arrives while a query runs may be in one
        table and not yet in another.
        """
        self._prepare(None, with_merged=False)
        if isinstance(self._files, LocalTables):
            self._files.clear_variables(self._con)
        with contextlib.suppress(duckdb.InvalidInputException):  # `confine` locked the settings
            # A magic of Jupyter calls it, and the data frames are those of the notebook.
            self._con.execute("SET python_scan_all_frames = true")
        return self._con

    def sql(self, query: str, params: object = None) -> duckdb.DuckDBPyRelation:
        """Run any query over the tables, the views and your own Python data frames.

        Args:
            query: One SELECT or FROM statement.
            params: Values for the ``?`` or ``$name`` placeholders of the query.

        Raises:
            ArgumentError: An argument of a view is passed with ``=`` instead of ``:=``.
            StatementError: There is no statement.
        """
        check_named_arguments(query, self.registry)
        return self._query(query, params, variables=variables_of_caller(query))

    def check_reads_only(self, query: str) -> bool:
        """Refuse a query that is not one read-only statement, and return whether it is an EXPLAIN.

        Raises:
            StatementError: The message says what is wrong, and is meant for a person.
        """
        return check_reads_only(query, self._con)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query over the tables and views; DuckDB plans what `sql` returns once more.

        Args:
            query: One SELECT or FROM statement.
        """
        query = without_end(query)
        self._prepare(None if _INTROSPECTION.search(query) else query)
        return self._con.execute(query).fetchall()

    def view(
        self, name: str, /, version: int | None = None, **arguments: Any
    ) -> duckdb.DuckDBPyRelation:
        """Run a view by its name.

        Args:
            name: Name of the view.
            version: The version; None for the newest.
            **arguments: The view's parameters. Omitted ones have the default of the header. Names of
                runs, workers and spans may be shortened (tracewh/views/names.py).

        Raises:
            ViewError: The name, the version, or the name or the type of an argument is wrong. If the view does not take
                the value of an argument, such as an unknown `group_by`, the relation raises a
                duckdb.InvalidInputException when it runs.
        """
        view, whole, query = self._called(name, version, arguments)
        found = self._query(
            query,
            None,
            needed_traces(view, whole),
            names.named_runs(whole),
            wanted_traces(whole),
            view.notes,
        )
        _ORIGINS[found] = Origin(self, view, whole, query)
        return found

    @contextlib.contextmanager
    def held_view(
        self, name: str, /, version: int | None = None, **arguments: Any
    ) -> Iterator[duckdb.DuckDBPyRelation]:
        """Run a view once, and yield its rows as long as the context lasts.

        DuckDB plans what `view` returns when it is made, each time it is refined, and when it is read. For a
        view of a hundred blocks that takes longer than finding its rows in a small trace. Hold one at a time.

        Args:
            name: Name of the view.
            version: The version; None for the newest.
            **arguments: See `view`.
        """
        view, whole, query = self._called(name, version, arguments)
        self._prepare(query, True, needed_traces(view, whole), names.named_runs(whole))
        with self._held(query, "held_rows", wanted_traces(whole), view.notes) as rows:
            yield rows

    @contextlib.contextmanager
    def held(
        self, query: str, name: str, trace: TraceKeys | None = None
    ) -> Iterator[duckdb.DuckDBPyRelation]:
        """Run a query once, and yield its rows as long as the context lasts; see `held_view`.

        Args:
            query: The query.
            name: Name of the temporary table in which other queries find the rows.
            trace: The only trace of which it calls views, if so. What several views need is then cached.
        """
        self._prepare(query, runs=None if trace is None else [trace[0]])
        with self._held(query, name, [] if trace is None else [trace]) as rows:
            yield rows

    @contextlib.contextmanager
    def _held(
        self, query: str, name: str, wanted: list[Wanted], notes: Iterable[str] = ()
    ) -> Iterator[duckdb.DuckDBPyRelation]:
        create = f"CREATE OR REPLACE TEMP TABLE {name} AS {query}"
        if wanted:
            self._block_cache.execute(query, create, wanted, self._empty_blocks(), notes)
        else:
            self._con.execute(create)
        try:
            found = self._con.table(name)
            _STORED.add(found)
            yield found
        finally:
            self._con.execute(f"DROP TABLE IF EXISTS {name}")

    def _called(
        self, name: str, version: int | None, arguments: Mapping[str, Any]
    ) -> tuple[Spec, dict[str, Any], str]:
        """Return a view, its arguments with full names, and the SQL that calls it."""
        view = self.registry.get(name, version)
        whole = self.resolve(self.registry.call(name, version, **arguments).values)
        return view, whole, self.registry.call(name, version, **whole).sql

    def _empty_blocks(self) -> list[str]:
        return [block for blocks in self._without for block in blocks]

    def partial_rows(self, call: Call) -> duckdb.DuckDBPyRelation:
        """Run the partial queries of a view on the traces that are open (tracewh/views/partial_queries.py).

        Args:
            call: A call of the view.
        """
        return self._query(partial_sql(call), None, cached=[(None, None, None)])

    def notes(self, view: Spec, arguments: Mapping[str, Any]) -> list[tuple[TraceKeys, str]]:
        """What the rows of a view leave out, and why, by trace, for example device time without an operator.

        Args:
            view: The view.
            arguments: Its arguments, with full names.
        """
        found: list[tuple[TraceKeys, str]] = []
        for wanted in wanted_traces(arguments):
            traces = passed(wanted)
            runs = None if wanted[0] is None else [wanted[0]]
            for block in view.notes:
                versions = self.versions(runs)
                known = self._notes.get((block, traces))
                if known is None or known[0] != versions:
                    query = f"SELECT run, worker, span, message FROM {block}({traces}) ORDER BY ALL"
                    self._prepare(query, runs=runs)
                    with self._held(query, "held_notes", [wanted]) as held:
                        rows = held.fetchall()
                    known = versions, [((r, w, s), message) for r, w, s, message in rows]
                    self._notes[block, traces] = known
                found += known[1]
        return found

    def names(self) -> list[TraceKeys]:
        """Run, worker and span of each trace; no file is opened."""
        return self._all.names()

    def versions(self, runs: Collection[str] | None = None) -> dict[TraceKeys, str]:
        """Return the version of each trace, which changes when it is replaced; no file is opened.

        Args:
            runs: Only traces of these runs, and of the captures of their graphs; None for all.
        """
        if runs is None:
            return self._all.versions()
        owners = {replaying_run(run) for run in runs}
        return self._all.versions(lambda run: replaying_run(run) in owners)

    def events(self, traces: Collection[TraceKeys]) -> dict[TraceKeys, int]:
        """Return the number of events of traces; only their files are opened."""
        query = "SELECT run, worker, span, coalesce(events, 0) FROM traces"
        selected, others = self._selected, set(self.names()).difference(traces)
        if selected is not None:
            others = set(filter(selected, others))
        # Not without others: a new selection removes what is cached.
        with self.only(frozenset(traces)) if others else contextlib.nullcontext():
            return {(run, w, span): events for run, w, span, events in self.sql(query).fetchall()}

    def _selected_versions(self, runs: Collection[str] | None) -> dict[TraceKeys, str]:
        """Return the versions of the traces whose files are open."""
        versions = self.versions(runs)
        if self._selected is None:
            return versions
        return {keys: version for keys, version in versions.items() if self._selected(keys)}

    def select_runs(self, runs: Collection[str]) -> None:
        """Open only the files of some runs, until the next `select_traces`."""
        self.select(lambda keys: keys[0] in runs)

    def select_traces(self, view: Spec | None, arguments: Mapping[str, Any]) -> None:
        """Open only the files of the traces that a view needs, until the next call.

        Damaged files of other traces then cause no error. If no trace has the names, all are kept.

        Args:
            view: The view; None for any query of the runs.
            arguments: Its arguments; if they name no trace, all are kept.
        """
        wanted = needed_traces(view, arguments)
        if wanted is not None and not any(map(wanted, self.names())):
            wanted = None
        self.select(wanted)

    @contextlib.contextmanager
    def only(self, traces: frozenset[TraceKeys]) -> Iterator[None]:
        """Open only the files of some traces, as long as the context lasts."""
        selected = self._selected
        self.select(traces)
        try:
            yield
        finally:
            self.select(selected)

    def select(self, wanted: Callable[[TraceKeys], bool] | frozenset[TraceKeys] | None) -> None:
        """Open only the files of the traces that match a filter, or of some traces, until the next call; None for all."""
        self._block_cache.clear()
        self._notes.clear()
        named = wanted if isinstance(wanted, frozenset) else None
        wanted = wanted.__contains__ if isinstance(wanted, frozenset) else wanted
        self._selected = wanted
        if isinstance(self._all, LocalTables):
            self._all.select(wanted, named)
            return
        some = (
            self._all.only(t for t in self._all.traces if wanted(t.keys)) if wanted else self._all
        )
        if some != self._files:
            self._files = some
            self._created -= {table.name for table in self.registry.tables()}

    def resolve(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a view with full names of runs, workers and spans.

        Raises:
            ViewError: A name is unknown, or several names match it.
        """
        if not names.name_arguments(arguments):
            return dict(arguments)
        return names.resolve(arguments, self._all.names(names.named_runs(arguments)))

    def limit_memory(self, memory_mb: int) -> None:
        """Let queries use no more memory than this, and spill the rest to disk.

        Without this, the limit is that of the environment variable TRACEWH_MEMORY_LIMIT, or DuckDB's own: 80 % of
        the memory of the machine or of its container.

        Args:
            memory_mb: The limit in MB, at least 100. Python and its libraries need about 300 MB besides.
        """
        if memory_mb < LEAST_MEMORY_MB:
            raise WarehouseError(
                f"the memory limit must be at least {LEAST_MEMORY_MB} MB, not {memory_mb}"
            )
        self._con.execute(f"SET memory_limit = '{min(memory_mb, MOST_MEMORY_MB)}MB'")

    def part(self, parts: int) -> Warehouse:
        """Open the warehouse once more, for another thread, with a part of the cores and of the memory.

        Close it before this one: its temporary files are among those of this one.

        Args:
            parts: The number of parts.
        """
        path = self._all if isinstance(self._all, Listing) else self.path
        part = Warehouse(path, spill_in=self._temporary)
        threads, memory = self.limits()
        part._con.execute(f"SET threads = {max(threads // parts, 1)}")
        part._con.execute(f"SET memory_limit = '{memory // parts}B'")
        return part

    def most_parts(self, least_mb: int) -> int:
        """Return the number of parts that have a core and this much memory each; at least 1."""
        threads, memory = self.limits()
        return max(min(threads, memory // (least_mb * 10**6)), 1)

    def temporary_folder(self) -> Path:
        """Return a new folder that is removed when the warehouse is closed."""
        return Path(tempfile.mkdtemp(dir=self._temporary))

    def read_temporary(self, query: str) -> duckdb.DuckDBPyRelation:
        """Run a query over files in a temporary folder of this warehouse, which `confine` does not restrict."""
        if self._stored is None:
            self._stored = duckdb.connect(config=self.limits_of_another())
        found = self._stored.sql(query)
        _STORED.add(found)
        return found

    def share_memory(self, processes: int, least_mb: int) -> None:
        """Let this be one of several processes that together keep to the limit of one.

        Args:
            processes: Their number.
            least_mb: A limit in MB that each may have, however many there are.
        """
        _, limit = self.limits()
        shared = max(limit // processes, least_mb * 10**6)
        if shared < limit:
            self._con.execute(f"SET memory_limit = '{shared}B'")

    def limits(self) -> tuple[int, int]:
        """Return the number of threads and the memory limit in bytes."""
        [limits] = self._con.execute(
            "SELECT current_setting('threads'), parse_formatted_bytes(current_setting('memory_limit'))"
        ).fetchall()
        return limits

    def limits_of_another(self) -> dict[str, str | bool | int | float | list[str]]:
        """Return the settings of a database with the same limits, which spills to a folder of its own."""
        _, memory = self.limits()
        folder = self.temporary_folder() / "spill"
        return {"temp_directory": str(folder), "memory_limit": f"{memory}B"}

    def confine(self, memory_mb: int | None = None, query: str | None = None) -> None:
        """Restrict queries to the files of the warehouse, and lock the settings.

        Queries can then not read Python variables either.

        Args:
            memory_mb: Memory limit of queries, which may spill four times as much to disk; None for
                DuckDB's own limits.
            query: The only query that will run; None if there may be several.
        """
        if query is None or len(self.registry.needs(query)) > MOST_CREATED:
            self._load()
        if memory_mb is not None:
            self.limit_memory(memory_mb)
            spilled_mb = 4 * min(memory_mb, MOST_MEMORY_MB)
            self._con.execute(f"SET max_temp_directory_size = '{spilled_mb}MB'")
        if isinstance(self.path, Path):  # Arrow reads the files of an object store
            data = self.path / "data"
            # To DuckDB, a file is where the links in its path lead to.
            folders = [data, *map(Path, map(os.path.realpath, _links(data)))]
            # The tables read them with their special characters escaped.
            allowed = [f"{quote_literal(str(each))}, {quote_file(each)}" for each in folders]
            self._con.execute(f"SET allowed_directories = [{', '.join(allowed)}]")
        self._con.execute("SET enable_external_access = false")
        self._con.execute("SET lock_configuration = true")

    def files(self, table: str) -> list[str]:
        """Return the Parquet files of a table, as paths or URLs for Spark and Polars: those of the traces that are open.

        pyarrow.dataset takes a list of paths, and none of URLs. Do not use a glob in an object store: it also finds
        files of failed ingests and replaced traces.

        Args:
            table: Name of a table, not of a slice.

        Raises:
            WarehouseError: There is no such table.
        """
        known = [spec.name for spec in self.registry.tables()]
        if table in self.tables and table not in known:
            raise WarehouseError(
                f"{table} is a slice, which has no files of its own; the tables with files are"
                f" {', '.join(known)}"
            )
        if table not in known:
            raise WarehouseError(f"no table named {table!r}{did_you_mean(table, known)}")
        if isinstance(self._files, Listing):
            return self._files.files(table)
        listing, selected = Listing.of(self.path), self._selected
        if selected is not None:
            listing = listing.only(trace for trace in listing.traces if selected(trace.keys))
        return listing.files(table)

    def interrupt(self) -> None:
        """Interrupt the query that runs on another thread; it raises an error.

        Waits while views are being created: an interrupted creation could not be repeated.
        """
        with self._creating:
            self._con.interrupt()

    def abandon(self) -> None:
        """Remove temporary files before the process is killed."""
        self._remove()

    def close(self) -> None:
        """Close the warehouse; its relations cannot be used any more."""
        self._con.close()
        if self._stored is not None:
            self._stored.close()
        self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Warehouse({str(self.path)!r})"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables, *self.views, *_DRAWN]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also prevents endless recursion in a copy without a registry
            raise AttributeError(name)
        if name in self.tables:
            return self.sql(f"FROM {name}")
        if name in self.views:
            return _method(self, self.registry.get(name))
        if name in _DRAWN:
            return partial(getattr(import_module(_PICTURES), name), self)
        hint = did_you_mean(name, [*self.tables, *self.views])
        raise AttributeError(f"no table or view named {name!r}{hint}", name=name, obj=self)

    def _query(
        self,
        query: str,
        params: object,
        first: Callable[[TraceKeys], bool] | None = None,
        runs: Collection[str] | None = None,
        cached: list[Wanted] | None = None,
        notes: Iterable[str] = (),
        variables: dict[str, object] | None = None,
    ) -> duckdb.DuckDBPyRelation:
        query = without_end(query)
        self._prepare(None if _INTROSPECTION.search(query) else query, True, first, runs)
        if cached:
            query = self._block_cache.query(query, cached, self._empty_blocks(), notes)
        try:
            try:
                return sql_with(variables or {}, self._con, query, params)
            except duckdb.CatalogException:  # create all, so that DuckDB can suggest a name
                self._prepare(None, first=first)
                return sql_with(variables or {}, self._con, query, params)
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise explained(error, query, self.registry) from None

    def _prepare(
        self,
        sql: str | None,
        with_merged: bool = True,
        first: Callable[[TraceKeys], bool] | None = None,
        runs: Collection[str] | None = None,
    ) -> None:
        """List the traces and create only the objects that a query names: all would take too long.

        DuckDB binds each object that it creates, and opens each file of the tables in it, so the tables
        show one trace instead of thousands while objects are created.
        """
        needed = set(self.registry.needs(sql))
        given: list[str] = []
        asked = needed  # later without what only empty blocks call
        for blocks, query in [*self._without.items()]:
            if asked.isdisjoint(blocks):
                given += blocks
            elif not self._has_rare(query, sql, runs):
                given += blocks
                asked = set(self.registry.needs(sql, given))
            else:
                del self._without[blocks]
                self.registry.drop(self._con, self._created.intersection(blocks))
                self._created.difference_update(blocks)
        missing = [name for name in self.registry.needs(sql, given) if name not in self._created]
        if sql is None:  # it may list the catalog
            if len(missing) > MOST_CREATED:
                self._load()
            self._unload()
            missing = [name for name in self.registry.needs() if name not in self._created]
        elif len(missing) > MOST_CREATED:
            self._load()
        missing = [name for name in missing if name not in self._loaded]
        self._create_empty(name for name in given if name in needed and name not in self._created)
        if isinstance(self._files, LocalTables):
            changed = self._files.refresh(with_merged, needed) & self._created
            if first:
                self._files.put_first(first)
            self._files.set_variables(self._con, most=1)
            self._created -= changed
            self._create([*sorted(changed), *missing])
            self._files.set_variables(self._con)
        else:
            self._create(missing)
        if sql is None:
            self._describe()

    def _load(self) -> None:
        """Load all macros at once, unless that was done or cannot be."""
        if self._may_load:
            with self._creating:
                self._loaded.update(attach(self._con))
            self._may_load = False

    def _unload(self) -> None:
        """Create all macros that are loaded, and unload them. Slices, which are copied with them, are created again."""
        if self._loaded:
            copied = self._loaded.union(spec.name for spec in self.registry.slices())
            with self._creating:
                self.registry.drop(self._con, self._created & copied)
                self._created -= copied
                with contextlib.suppress(duckdb.Error):  # something else has one of their names
                    copy(self._con)
                    self._created |= self._loaded
                detach(self._con)
                self._loaded.clear()

    def _has_rare(self, query: str, sql: str | None, runs: Collection[str] | None) -> bool:
        """Whether a query finds something of some runs, or of the runs that these are captures of; of any run for None."""
        if sql is None:
            return True
        owners = {*(runs or ()), *map(replaying_run, runs or ())}
        of_runs = f" AND run IN ({', '.join(map(quote_literal, owners))})" if runs else ""
        query = f"SELECT 1 {query}{of_runs} LIMIT 1"
        self._prepare(query)
        return self._con.execute(query).fetchone() is not None

    def _create_empty(self, names: Iterable[str]) -> None:
        """Create blocks without rows."""
        for name in names:
            self._con.execute(empty_macro(self.registry.named(name)))
            self._created.add(name)

    def _create(self, names: Iterable[str]) -> None:
        """Create objects. If a damaged file causes an error, the next query creates all of them again."""
        with self._creating:
            names = list(names)
            self._described.difference_update(names)
            create(self._con, self.registry, names, self._files)
            self._created.update(names)

    def _describe(self) -> None:
        """Give columns of tables their comments, for a query that may list the catalog: all take 100 ms."""
        missing = [table for table in self.registry.tables() if table.name not in self._described]
        with self._creating:
            for table in missing:
                with contextlib.suppress(duckdb.Error):  # a temporary table has its name
                    self._con.execute(column_comments(table))
                    self._described.add(table.name)


def _memory_limit() -> int | None:
    """Return the memory limit of the environment; None if there is none."""
    text = os.environ.get(MEMORY_VARIABLE)
    if not text:
        return None
    # Python converts no text of thousands of digits.
    memory_mb = int(text.lstrip("0")[:18] or 0) if text.isdecimal() else 0
    if memory_mb < LEAST_MEMORY_MB:
        raise WarehouseError(
            f"{MEMORY_VARIABLE} is a whole number of MB of at least {LEAST_MEMORY_MB}, not {text!r}"
        )
    return memory_mb


def plan_without(con: duckdb.DuckDBPyConnection, optimizer: str) -> None:
    """Switch one of DuckDB's optimizers off, if this version of DuckDB has it."""
    with contextlib.suppress(duckdb.Error):  # asking for what it has would take 10 ms
        con.execute(f"SET disabled_optimizers = {quote_literal(optimizer)}")


def sort_asof_joins(con: duckdb.DuckDBPyConnection) -> None:
    """Keep DuckDB from comparing each row with each in an ASOF join that it expects to be small.

    It expects 64 rows or less for relations that it knows nothing of, also where they have millions of rows.
    """
    with contextlib.suppress(duckdb.Error):  # this version of DuckDB does not know the setting
        con.execute("SET asof_loop_join_threshold = 0")


def find(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path, without links, of a warehouse that holds at least one trace.

    Raises:
        WarehouseError: There is none. The message says what the path is instead, and what to do.
    """
    if is_url(path):
        raise WarehouseError(
            f"{path}: a warehouse in a store has no tracewh.duckdb; query it with `tracewh query` or from "
            "Python"
        )
    if not os.fspath(path):
        raise WarehouseError("the path of the warehouse is empty; name a folder")
    if problem := tilde_problem(os.fspath(path)):
        raise WarehouseError(f"{path}: {problem}")
    root = Path(os.path.realpath(path))
    where = f"-w {shlex.quote(str(path))}"
    if str(root) != printable(str(root)):
        raise WarehouseError(f"{printable(str(root))}: the path of a warehouse must be UTF-8")
    if problem := place_problem(str(root)):
        raise WarehouseError(f"{root}: {problem}")
    if root.is_file():
        raise WarehouseError(f"{path} is a file; a warehouse is a folder with a data/ folder in it")
    if not (root / "data").is_dir():
        state = "is not a warehouse: it has no data/ folder" if root.is_dir() else "does not exist"
        raise WarehouseError(
            f"{path} {state}; create a warehouse with `tracewh ingest LOGDIR {where}`"
        )
    if not holds_traces(root):
        if any(root.glob(f"data/{TRACE_FOLDERS}/_manifest.*.json")):
            raise WarehouseError(
                f"{path} was copied from an object store; convert it with `tracewh relink {where}`"
            )
        if any(root.glob(f"data/{TRACE_FOLDERS}/*")):
            raise WarehouseError(
                f"each trace of {path} is damaged; `tracewh check {where}` says how to repair them"
            )
        with _as_warehouse_error():
            # A glob passes over folders that may not be read.
            for _ in os.walk(root / "data", onerror=_raise):
                pass
        raise WarehouseError(
            f"{path} holds no traces; ingest some with `tracewh ingest LOGDIR {where}`"
        )
    return root


def _raise(error: OSError) -> None:
    raise error


def listed(path: str | os.PathLike[str]) -> Listing:
    """List the traces of a warehouse, in a folder or in an object store.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """
    with _as_warehouse_error():
        return Listing.of(path if is_url(path) else find(path))


def _links(folder: Path | str, levels: int = len(KEYS)) -> Iterator[str]:
    """Yield the folders of runs, workers and traces that are links, as to another disk."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield entry.path
            if levels > 1:
                yield from _links(entry.path, levels - 1)


def holds_traces(root: Path) -> bool:
    """Whether at least one trace was ingested."""
    return any(root.glob(f"data/{TRACE_FOLDERS}/traces.parquet"))


def create(
    con: duckdb.DuckDBPyConnection,
    registry: Registry,
    objects: list[str],
    files: Pattern | LocalTables | Listing,
) -> None:
    """Create objects; tables become views over the Parquet files of a warehouse.

    For a listing without traces the tables are empty.
    """
    is_empty = isinstance(files, Listing) and not files.traces
    tables = {} if is_empty else {table.name: table for table in registry.tables()}
    for name in tables.keys() & objects:
        try:
            with _as_warehouse_error():
                files.create_view(con, tables[name])
        except duckdb.BinderException as error:
            said = _newer_layout(files) or (
                f"{files.path} was written by another version of tracewh ({name}: "
                f"{str(error).splitlines()[0]}); ingest its traces again with --force"
            )
            raise WarehouseError(said) from error
        con.execute(f"COMMENT ON VIEW {name} IS {quote_literal(tables[name].summary)}")
    registry.create(con, [name for name in objects if name not in tables])


def _newer_layout(files: Pattern | LocalTables | Listing) -> str:
    """Say that a newer version of tracewh wrote a trace; '' if none did."""
    from tracewh.storage.manifest import newer_layout  # it loads pyarrow

    if isinstance(files, Listing) and files.location:
        keys = [trace.files["traces"].key for trace in files.traces if "traces" in trace.files]
        found = (newer_layout(key, files.location.filesystem) for key in keys)
    else:
        root = Path(files.path)
        found = (newer_layout(path) for path in root.glob(f"data/{TRACE_FOLDERS}/traces.parquet"))
    return next((f"{files.path}: a trace {said}" for said in found if said), "")


def column_comments(table: Spec) -> str:
    """Return the statements that give the columns of a table their meanings as comments."""
    return "; ".join(
        f"COMMENT ON COLUMN {table.name}.{column.name} IS {quote_literal(column.meaning)}"
        for column in table.columns
    )


@contextlib.contextmanager
def _as_warehouse_error() -> Iterator[None]:
    """Convert an OSError of a file or an object store to a WarehouseError."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise WarehouseError(f"{error.filename}: {error.strerror}") from None


def _method(warehouse: Warehouse, view: Spec) -> Callable[..., duckdb.DuckDBPyRelation]:
    """Return a view as a method, with a signature and a docstring for `help()` and completion."""

    def method(
        *values: object, version: int | None = None, **arguments: Any
    ) -> duckdb.DuckDBPyRelation:
        if values:
            example = f"{view.params[0].name}={values[0]!r}" if view.params else "version=1"
            raise ArgumentError(f"{view.name} takes arguments by name, e.g. {example}")
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
