"""Blocks whose rows a Warehouse caches between queries, because finding them takes longer than the rest.

A view that calls such a block often calls it several times, as do its notes and other views of the same traces. So
`BlockCache` writes the rows of the block into a table, once for each version of the traces, and runs the view in a
schema where a macro that reads the table stands before the block:

    cache_1.replayed_events(...)    # the macro: reads cache.replayed_events_1, filtered by its arguments
    cache_1.answer_1                # the view: FROM operator_stats_v1(run := 'serve')

DuckDB looks for what a view calls in the schema of the view first, also for what macros call in turn. Each time
that it plans the query, the macro asks whether the table is that of the traces as they are now, and calls the block
itself if not. So a relation that runs later never has rows of a replaced trace, and tables can be removed at
any time. Only relations of a Warehouse use these tables; tracewh.duckdb and Spark do not.

A statement that is executed at once needs no view: the schema is the first one of the search path meanwhile. The
macros ask a variable then, which has the names of the tables. The Python function that they ask otherwise is created
with the first relation that may run later, because DuckDB imports NumPy for a function, in 35 ms.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import duckdb

from tracewh.quoting import quote_literal
from tracewh.storage.layout import KEYS, TraceKeys
from tracewh.views.needed_traces import Wanted, is_among, passed
from tracewh.views.registry import Registry
from tracewh.views.spec import Spec

#: The blocks, each after those that it calls, and whether their rows depend on all the traces that are named.
#: Of the others, the rows of some traces are a part of the rows of more traces.
CACHED = {
    "replay_matches": False,
    "replayed_events": False,
    "replayed_costs": False,
    "serving_work": True,  # numbers the work of the traces
    "serving_steps_v1": False,
    "serving_advice": False,
    "unrecorded_work": False,
    "device_advice": False,
    "trace_quality_v1": False,
    "timeline_blocks": True,  # chooses one trace
}

#: Views that report one figure of many. DuckDB leaves out the blocks of the others, so none are cached for them.
PRUNED = ("trend_v1",)

#: Rows that all tables have together at most.
MOST_ROWS = 4_000_000
#: The most traces whose rows are cached in one table.
MOST_TRACES = 16
#: The most schemas that a new selection of traces leaves. A server would have one for each trace and filter.
MOST_SCHEMAS = 100

#: The macro that tells whether a table has the rows of the traces as they are now, by the name of the table.
_IS_CACHED = "cache.is_cached"
#: The variable with the names of those that have, and the function that finds out.
_CACHED_TABLES = "tracewh_cached_tables"
_FIND_OUT = "tracewh_is_cached"


@dataclass(slots=True)
class _Table:
    """The rows of a block for some traces; it has none before they are written and after they are removed."""

    name: str
    wanted: Wanted
    versions: Mapping[TraceKeys, str] | None = None
    rows: int = 0
    #: The versions of the traces that have too many rows.
    too_large: Mapping[TraceKeys, str] | None = None


@dataclass(slots=True)
class _Schema:
    """The macros that stand before the blocks for some traces, and the queries that call them."""

    name: str
    macros: set[str] = field(default_factory=set)
    queries: dict[str, str] = field(default_factory=dict)


class BlockCache:
    """The tables of the blocks, and the queries that read them.

    Args:
        con: The connection of the warehouse.
        registry: Its objects.
        versions: Returns the version of each trace of some runs, and of the captures of their graphs.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        registry: Registry,
        versions: Callable[[Collection[str] | None], Mapping[TraceKeys, str]],
    ) -> None:
        self._con = con
        self._registry = registry
        self._versions = versions
        self._tables: dict[tuple[str, Wanted], _Table] = {}  # the one that was used last is last
        self._schemas: dict[tuple[Wanted, ...], _Schema] = {}
        self._has_function = False
        #: The versions of the traces of the tables that a statement needs, as they were just looked up.
        self._now: dict[Wanted, Mapping[TraceKeys, str]] = {}

    def query(
        self,
        query: str,
        wanted: Iterable[Wanted],
        without: Collection[str],
        notes: Iterable[str] = (),
    ) -> str:
        """Return a query with the same rows that reads the tables, and write those that it needs.

        Args:
            query: Calls views or blocks for some traces, and no others.
            wanted: The traces.
            without: Blocks that have no rows for them, which are not cached.
            notes: Blocks that will be queried next for the same traces.

        Raises:
            duckdb.InterruptException: `interrupt` was called. What is not complete is written again next time.
        """
        schema = self._filled_schema(query, wanted, without, notes)
        if schema is None:
            return query
        self._create_function()
        if query not in schema.queries:
            name = f"{schema.name}.answer_{len(schema.queries)}"
            self._con.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
            schema.queries[query] = f"FROM {name}"
        return schema.queries[query]

    def execute(
        self,
        query: str,
        statement: str,
        wanted: Iterable[Wanted],
        without: Collection[str],
        notes: Iterable[str] = (),
    ) -> None:
        """Execute a statement so that its query reads the tables, and write those that it needs.

        What `query` returns is planned once more, for the view.

        Args:
            query: The query in the statement; see `query` for it and what follows.
            statement: The statement.
            wanted: The traces.
            without: Blocks that have no rows for them.
            notes: Blocks that will be queried next.
        """
        schema = self._filled_schema(query, wanted, without, notes)
        with self._before(schema):
            self._con.execute(statement)

    def _filled_schema(
        self, query: str, wanted: Iterable[Wanted], without: Collection[str], notes: Iterable[str]
    ) -> _Schema | None:
        """Write the tables that a query needs, and return the schema of the macros before them, if any."""
        blocks = self._to_cache(query, without, notes)
        if not blocks:
            return None
        sides = tuple(dict.fromkeys(wanted))
        schema = self._schema(sides)
        self._now.clear()
        for block in blocks:
            parts = sides if CACHED[block] else _apart(sides)
            tables = [self._filled(block, part, schema) for part in parts]
            if block not in schema.macros and all(table.versions for table in tables):
                self._name_tables()  # DuckDB plans what it creates: it would plan the block
                self._con.execute(_macro(self._registry.named(block), schema.name, tables))
                schema.macros.add(block)
        return schema if schema.macros else None

    @contextmanager
    def _before(self, schema: _Schema | None) -> Iterator[None]:
        """Let statements find the macros of a schema before the blocks."""
        if schema is None or not schema.macros:
            yield
            return
        self._name_tables()
        [(path,)] = self._con.execute("SELECT current_setting('search_path')").fetchall()
        path = path or "memory.main"
        self._con.execute(f"SET search_path = 'memory.{schema.name},{path}'")
        try:
            yield
        finally:
            self._con.execute(f"SET search_path = '{path}'")

    def _to_cache(self, query: str, without: Collection[str], notes: Iterable[str]) -> list[str]:
        """Return the blocks that are needed, except one that a single other one calls."""
        needed = self._registry.needs(" ".join([query, *(f"{note}()" for note in notes)]), without)
        if not set(PRUNED).isdisjoint(needed):
            return []
        cached = []
        for block in CACHED:
            callers = [name for name in needed if block in self._registry.calls(name)]
            if block in needed and not (len(callers) == 1 and callers[0] in CACHED):
                cached.append(block)
        return cached

    def clear(self) -> None:
        """Remove all tables, and the schemas if there are many; relations that were made before are then of no use."""
        for table in self._tables.values():
            self._remove(table)
        if len(self._schemas) > MOST_SCHEMAS:
            for schema in self._schemas.values():
                self._con.execute(f"DROP SCHEMA {schema.name} CASCADE")
            self._schemas.clear()
            self._tables.clear()

    def _schema(self, sides: tuple[Wanted, ...]) -> _Schema:
        if not self._schemas and not self._has_function:
            self._con.execute(f"""
                CREATE SCHEMA IF NOT EXISTS cache;
                CREATE OR REPLACE MACRO {_IS_CACHED}(name) AS
                    coalesce(list_contains(getvariable('{_CACHED_TABLES}'), name), FALSE)
            """)
        if sides not in self._schemas:
            name = f"cache_{len(self._schemas)}"
            self._con.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
            self._schemas[sides] = _Schema(name)
        return self._schemas[sides]

    def _create_function(self) -> None:
        """Let macros find out themselves whether a table has the rows of the traces as they are now."""
        if self._has_function:
            return
        me = weakref.ref(self)  # the connection keeps the function

        def is_cached(name: str) -> bool:
            cache = me()
            return cache is not None and cache._is_cached(name)

        self._con.create_function(_FIND_OUT, is_cached, ["VARCHAR"], "BOOLEAN", side_effects=True)
        self._con.execute(f"CREATE OR REPLACE MACRO {_IS_CACHED}(name) AS {_FIND_OUT}(name)")
        self._has_function = True

    def _is_cached(self, name: str) -> bool:
        """Whether a table has the rows of the traces as they are now. DuckDB calls it when it plans a query."""
        (table,) = (table for table in self._tables.values() if table.name == name)
        try:
            return table.versions is not None and table.versions == self._versions_now(table)
        except OSError:  # the query itself says it
            return False

    def _name_tables(self) -> None:
        """Name the tables for a statement that is executed now; versions of their traces were just looked up."""
        if self._has_function:
            return
        names = [
            table.name
            for table in self._tables.values()
            if table.versions is not None and table.versions == self._now.get(table.wanted)
        ]
        self._con.execute(f"SET VARIABLE {_CACHED_TABLES} = {names}::VARCHAR[]")

    def _versions_now(self, table: _Table) -> Mapping[TraceKeys, str]:
        run = table.wanted[0]
        return self._versions(None if run is None else [run])

    def _filled(self, block: str, wanted: Wanted, schema: _Schema) -> _Table:
        """Return the table of a block, filled if that is possible."""
        table = self._tables.pop((block, wanted), None)
        table = table or _Table(f"{block}_{len(self._tables)}", wanted)
        self._tables[block, wanted] = table
        if wanted not in self._now:
            self._now[wanted] = self._versions_now(table)
        now = self._now[wanted]
        if now in (table.versions, table.too_large):
            return table
        self._remove(table)
        if sum(is_among(keys, wanted) for keys in now) > MOST_TRACES:
            return table
        source = f"main.{block}({passed(wanted)}) LIMIT {MOST_ROWS + 1}"
        try:
            with self._before(schema):
                [(table.rows,)] = self._con.execute(
                    f"CREATE OR REPLACE TABLE cache.{table.name} AS FROM {source}"
                ).fetchall()
        except duckdb.InterruptException:
            raise
        except duckdb.Error:  # the query itself says it, in its own words
            return table
        if table.rows > MOST_ROWS:
            self._remove(table)
            table.too_large = now
            return table
        table.versions = now
        self._remove_oldest()
        return table

    def _remove_oldest(self) -> None:
        """Remove the tables that were not used for longest, until the rest is small enough."""
        rows = sum(table.rows for table in self._tables.values())
        for table in self._tables.values():
            if rows <= MOST_ROWS:
                return
            rows -= table.rows
            self._remove(table)

    def _remove(self, table: _Table) -> None:
        table.versions, table.rows = None, 0
        self._con.execute(f"DROP TABLE IF EXISTS cache.{table.name}")


def _macro(spec: Spec, schema: str, tables: Iterable[_Table]) -> str:
    """Return SQL that creates the macro before a block.

    Its arguments are names of one side, or of fewer traces. Further parameters of a view are filters.
    """

    def rows(table: _Table) -> str:
        cached = quote_literal(f"FROM cache.{table.name}")
        found = quote_literal(f"FROM main.{spec.object_name}({passed(table.wanted)})")
        is_cached = f"{_IS_CACHED}({quote_literal(table.name)})"
        asked = zip(KEYS, table.wanted, strict=True)
        is_asked = [
            f"{key} IS NOT DISTINCT FROM {quote_literal(name) if name is not None else 'NULL'}"
            for key, name in asked
        ]
        return f"""
            FROM query(CASE WHEN {is_cached} THEN {cached} ELSE {found} END)
            {"WHERE " + " AND ".join(is_asked) if CACHED[spec.object_name] else ""}
        """

    signature = spec.signature.replace(spec.object_name, f"{schema}.{spec.object_name}", 1)
    where = ["is_wanted(k.run, k.worker, k.span, run, worker, span)"]
    if CACHED[spec.object_name]:
        where = []
    where += [
        f"({param.name} IS NULL OR k.{param.name} = {param.name})"
        for param in spec.params
        if param.name not in KEYS
    ]
    return f"""
        {signature} SELECT k.* FROM ({" UNION ALL ".join(map(rows, tables))}) AS k
        WHERE {" AND ".join(where or ["TRUE"])}
    """


def _apart(wanted: Iterable[Wanted]) -> tuple[Wanted, ...]:
    """Return names that stand for the same traces or more, and none of them twice."""
    sides = tuple(dict.fromkeys(wanted))
    runs = [side[0] for side in sides]
    if None in runs and len(runs) > 1:
        return ((None,) * len(KEYS),)
    whole = ((side[0], None, None) if runs.count(side[0]) > 1 else side for side in sides)
    return tuple(dict.fromkeys(whole))
